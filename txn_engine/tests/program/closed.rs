//! Standard output that is closed or takes nothing: said before anything is done, by every command.

use predicates::prelude::*;

use crate::{Folder, PAYMENTS, Server, assert_one_line, one_line, stdout_of, txn_engine_after};

/// What prints on standard output; `ADDRESS` is that of a server.
const PRINTING: [&str; 13] = [
    "payments.csv",
    "--strict payments.csv --dump session",
    "payments.csv --load nowhere",
    "async payments.csv --dump session",
    "stress-table records.jsonl",
    "generate --rows 10",
    "serve --addr 127.0.0.1:0 --dump session",
    "load --addr ADDRESS --clients 1 --duration 0.1",
    "load --addr ADDRESS --clients 1 --duration 0.1 --json",
    "clients --as tasks --clients 10",
    "--help",
    "--version",
    "async --help",
];

#[test]
fn every_command_that_prints_is_tried() {
    let help = stdout_of(&mut Folder::new().txn_engine("--help"));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let words: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(words.len() >= 7, "{help}");
    for word in words.into_iter().filter(|word| *word != "stress-test") {
        assert!(PRINTING.iter().any(|typed| typed.starts_with(word)), "{word}");
    }
}

#[test]
fn a_closed_or_full_standard_output_is_one_line_and_nothing_is_done() {
    let server = Server::start("--mode tokio");
    let folder = Folder::with("payments.csv", PAYMENTS);
    folder.txn_engine("stress-test 10 --record records.jsonl").assert().success();
    for typed in PRINTING {
        let typed = typed.replace("ADDRESS", &server.address.to_string());
        let mut command = txn_engine_after("exec >&-", &typed);
        command.current_dir(folder.path(""));
        assert_one_line(command, &["cannot write to standard output", "closed"]);
    }
    assert!(!folder.path("session").exists(), "a run that is said to have failed has dumped");
    assert_eq!(server.connect().stats()["accepted"], 0, "a load whose outcome is lost was sent");
    server.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_one_line_in_every_command() {
    let server = Server::start("--mode tokio");
    let folder = Folder::with("payments.csv", PAYMENTS);
    folder.txn_engine("stress-test 10 --record records.jsonl").assert().success();
    for typed in PRINTING.iter().filter(|typed| !typed.contains("nowhere")) {
        let typed = typed.replace("ADDRESS", &server.address.to_string());
        let mut command = txn_engine_after("exec >/dev/full", &typed);
        command.current_dir(folder.path(""));
        assert_one_line(command, &["cannot write to standard output", "No space left"]);
    }
    server.stop();
}

#[test]
fn what_prints_on_stderr_only_runs_without_standard_output() {
    for typed in ["stress-test 10", "async stress-test 10"] {
        let (code, _, said) = crate::run(txn_engine_after("exec >&-", typed));
        assert_eq!((code, said.lines().count()), (Some(0), 3), "{said}");
    }
    // What is typed wrongly is said there, too.
    let (code, _, said) = crate::run(txn_engine_after("exec >&-", "--warp"));
    assert!(code == Some(2) && said.contains("--warp") && !said.contains("standard output"), "{said}");
}

#[test]
fn standard_input_and_stderr_may_be_closed() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    for closed in ["exec <&-", "exec 2>&-", "exec <&- 2>&-"] {
        let mut command = txn_engine_after(closed, "payments.csv --dump session");
        command.current_dir(folder.path(""));
        assert_eq!(crate::run(command), (Some(0), crate::ACCOUNTS.to_owned(), String::new()), "{closed}");
    }
    folder.txn_engine("- --dump other").assert().code(2).stderr(one_line().and(predicates::str::contains("empty")));
}
