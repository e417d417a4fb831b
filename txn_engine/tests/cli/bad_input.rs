//! Input that cannot be read ends the run; rows that cannot be applied are listed and counted.

use std::fs;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};

use txn_engine::Setup;
use txn_engine::oracle::process;

use crate::{Folder, HEADER, one_line};

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
    // A xorshift generator: bytes of every value, line feeds included.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let garbage: Vec<u8> = (0..200_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .collect();
    let folder = Folder::with("noise", &garbage);
    folder.txn_engine("noise").assert().code(2).stdout(is_empty()).stderr(one_line().and(contains("noise")));

    // Below a valid header it is nothing but rejected rows.
    let text = [HEADER.as_bytes(), &garbage].concat();
    let right = process(&text).expect("the header is valid");
    folder.write("noise.csv", text);
    folder.txn_engine("noise.csv").assert().success().stdout(right.accounts_csv).stderr(contains("line 2: "));
}

#[test]
fn a_quote_that_is_never_closed_is_no_amount() {
    // In the amount, before it, in a field that nobody needs, and on the last line, which has no line break.
    for open in ["deposit,2,1,\"5", "\"deposit,2,1,5", "deposit,2,1,5,\"note", "deposit,2,1,5,a,\"b\",\"c\","] {
        let closed = open.ends_with("\",");
        for (text, line) in
            [(format!("{HEADER}{open}\ndeposit,1,2,7\n"), 2), (format!("{HEADER}deposit,1,2,7\n{open}"), 3)]
        {
            let folder = Folder::with("open.csv", text);
            for (engine, _) in Setup::NAMED {
                let run = folder.txn_engine(&format!("--engine {engine} --strict open.csv")).assert();
                if closed {
                    run.success().stdout(contains("2,5.0000"));
                } else {
                    let said = contains(format!("line {line}: a quote is not closed")).and(contains("1 OpenQuote"));
                    run.code(1).stdout(contains("1,7.0000").and(contains("\n2,").not())).stderr(said);
                }
            }
        }
    }
}

#[test]
fn row_errors_are_counted_and_the_first_twenty_printed_and_leave_the_exit_code_alone_unless_strict_is_asked_for() {
    let folder = Folder::with("repeated.csv", HEADER.to_owned() + &"deposit,1,1,1\n".repeat(31));
    let named = Setup::NAMED.map(|(engine, _)| format!("--engine {engine}"));
    for engine in named.iter().map(String::as_str).chain(["", "async"]) {
        for (strict, code) in [("", 0), ("--strict", 1)] {
            let assert = folder.txn_engine(&format!("{engine} {strict} repeated.csv")).assert().code(code);
            let assert = assert.stdout("client,available,held,total,locked\n1,1.0000,0.0000,1.0000,false\n");
            let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
            let listed: Vec<&str> = stderr.lines().filter(|line| line.starts_with("line ")).collect();
            assert_eq!(listed.len(), 20, "{engine}: {stderr}");
            for (number, line) in (3..).zip(listed) {
                assert!(line.starts_with(&format!("line {number}: ")), "{engine}: {stderr}");
            }
            assert!(stderr.contains("30 RepeatedTx"), "{engine}: {stderr}");
        }
    }
}
