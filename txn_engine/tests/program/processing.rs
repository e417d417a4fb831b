//! One file in, accounts out: how a file, an engine and an output are named, and what happens when the output ends early.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};

use txn_engine::Setup;

use crate::rows::clients;
use crate::{ACCOUNTS, Folder, PAYMENTS};

#[test]
fn a_file_or_standard_input_gives_its_accounts_sorted_by_client_and_nothing_on_stderr_in_every_engine() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    let named = Setup::NAMED.map(|(engine, _)| format!("--engine {engine} "));
    for engine in named.iter().map(String::as_str).chain(["", "async ", "--strict "]) {
        folder.txn_engine(&format!("{engine}payments.csv")).assert().success().stdout(ACCOUNTS).stderr(is_empty());
        let mut typed = folder.txn_engine(&format!("{engine}-"));
        typed.write_stdin(PAYMENTS).assert().success().stdout(ACCOUNTS).stderr(is_empty());
    }
}

#[test]
fn options_without_a_file_ask_for_one() {
    for typed in ["--strict", "async"] {
        Folder::new().txn_engine(typed).assert().code(2).stdout(is_empty()).stderr(contains("<FILE>"));
    }
}

#[test]
fn help_shows_examples_and_exit_codes() {
    Folder::new().txn_engine("--help").assert().success().stdout(contains("Examples").and(contains("Exit codes")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_ends_the_run_with_one_line() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    for typed in ["payments.csv", "generate --rows 1000"] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has /dev/full");
        let (code, _, said) = folder.spawn(typed, full).outcome();
        assert_eq!(code, Some(2), "{typed}: {said}");
        assert!(said.lines().count() == 1 && said.contains("No space left"), "{typed}: {said}");
    }
}

#[test]
fn a_reader_that_hangs_up_after_one_line_ends_the_run_quietly() {
    let folder = Folder::with("clients.csv", clients(0..60_000));
    for typed in ["clients.csv", "async clients.csv", "generate --rows 1000000"] {
        let mut child = folder.spawn(typed, Stdio::piped());
        let mut first_line = String::new();
        let mut reader = BufReader::with_capacity(64, child.0.stdout.take().expect("it was piped"));
        reader.read_line(&mut first_line).expect("there is a first line");
        drop(reader);
        assert!(first_line.contains("client"), "{typed}: {first_line}");
        let (code, _, said) = child.outcome();
        assert_eq!((code, said.as_str()), (Some(0), ""), "{typed}");
    }
}
