//! Input that cannot be read ends the run; rows that cannot be applied are listed and counted.

use std::fs;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use txn_engine::Setup;
use txn_engine_oracle::process;

use crate::rows::HEADER;
use crate::{Folder, REPEATED, one_line, run, txn_engine};

#[test]
fn what_cannot_be_read_ends_the_run_with_one_line_that_names_it_and_what_is_wrong() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).expect("a folder can be made");
    for (name, text, wrong) in [
        ("empty", "", "header"),
        ("break", "\n", "header"),
        ("blank", " \r\n\n", "header"),
        ("three", "type,client,amount\ndeposit,1,5\n", "tx"),
        ("twice", "type,client,tx,amount,Client\ndeposit,1,1,5,1\n", "client"),
        ("quote", "type,client,tx,\"amount\ndeposit,1,1,5\n", "not closed"),
        ("return", "type,client,tx,amount,note\rdeposit,1,1,5,rent\r", "carriage return"),
    ] {
        folder.write(name, text);
        let run = folder.txn_engine(name).assert().code(2).stdout(is_empty());
        run.stderr(one_line().and(contains(name)).and(contains(wrong)));
    }
    for name in ["nowhere.csv", "folder"] {
        for engine in ["", "async ", "--engine best_one_core ", "--engine sync "] {
            let run = folder.txn_engine(&format!("{engine}{name}")).assert().code(2).stdout(is_empty());
            run.stderr(one_line().and(contains(name)));
        }
    }
}

#[test]
fn a_header_alone_gives_no_accounts_and_is_fine() {
    for text in [HEADER, HEADER.trim_end(), "\u{feff} TX ,note,\"Type\",AMOUNT,client\r\n\r\n"] {
        let folder = Folder::with("header.csv", text);
        let run = folder.txn_engine("--strict header.csv").assert().success();
        run.stdout("client,available,held,total,locked\n").stderr(is_empty());
    }
}

#[test]
fn binary_garbage_ends_the_run_with_one_line() {
    let mut garbage = vec![0; 200_000];
    ChaCha8Rng::seed_from_u64(5).fill_bytes(&mut garbage);
    let folder = Folder::with("noise", &garbage);
    folder.txn_engine("noise").assert().code(2).stdout(is_empty()).stderr(one_line().and(contains("noise")));

    // Below a valid header it is nothing but rejected rows.
    let text = [HEADER.as_bytes(), &garbage].concat();
    let right = process(&text).expect("the header is valid");
    folder.write("noise.csv", text);
    folder.txn_engine("noise.csv").assert().success().stdout(right.accounts_csv).stderr(contains("line 2: "));
}

#[test]
fn row_errors_are_counted_and_the_first_twenty_printed_and_leave_the_exit_code_alone_unless_strict_is_asked_for() {
    let folder = Folder::with("repeated.csv", HEADER.to_owned() + &"deposit,1,1,1\n".repeat(31));
    let named = Setup::NAMED.map(|(engine, _)| format!("--engine {engine}"));
    for engine in named.iter().map(String::as_str).chain(["", "async"]) {
        for (strict, code) in [("", 0), ("--strict", 1)] {
            let assert = folder.txn_engine(&format!("{engine} {strict} repeated.csv")).assert().code(code);
            let assert = assert.stdout("client,available,held,total,locked\n1,1.0000,0.0000,1.0000,false\n");
            let listed = (3..23).map(|line| format!("line {line}: the transaction id was used before\n"));
            assert.stderr(listed.collect::<String>() + "30 rows rejected: 30 RepeatedTx\n");
        }
    }
}

#[test]
fn ten_million_blank_lines_ahead_of_the_header_are_passed_over_and_counted() {
    const BLANK: usize = 10 << 20;
    let folder = Folder::with("blank.csv", "\n".repeat(BLANK) + REPEATED);
    let mut command = txn_engine("blank.csv");
    command.current_dir(folder.path(""));
    // In time: to move what follows for each of them would take minutes.
    let (code, accounts, said) = run(command);
    assert_eq!((code, accounts.lines().last()), (Some(0), Some("1,1.0000,0.0000,1.0000,false")));
    assert!(said.starts_with(&format!("line {}: the transaction id was used before\n", BLANK + 3)), "{said}");
}
