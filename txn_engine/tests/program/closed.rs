//! Standard output and stderr that are closed or take nothing: said before anything is done, by every command, or of no consequence.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Stdio;

use predicates::prelude::*;
use socket2::{Domain, Socket, Type};
use txn_engine::session::Session;

use crate::client::Client;
use crate::{Folder, PAYMENTS, REPEATED, Running, Server, assert_one_line, nobody, one_line, run, stdout_of};
use crate::{txn_engine, txn_engine_after, wait_for};

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

#[test]
fn a_reader_that_hangs_up_changes_no_verdict_and_ends_no_server() {
    let folder = Folder::with("repeated.csv", REPEATED);
    let mut strict = txn_engine("--strict repeated.csv");
    strict.current_dir(folder.path("")).stdout(nobody());
    let (code, _, said) = run(strict);
    assert!(code == Some(1) && said.ends_with("\n1 rows rejected: 1 RepeatedTx\n"), "{code:?}: {said}");

    // Sixty-four files are no connections: of five clients two are refused.
    let server = Server::start_command(Folder::new(), txn_engine_after("ulimit -n 67", &Server::typed("")));
    let typed = "--json --clients 5 --rate 100 --duration 0.2 --warm-up 0";
    let mut load = txn_engine(&format!("load --addr {} {typed}", server.address));
    load.stdout(nobody());
    assert_eq!(run(load).0, Some(1));

    // Keeps the port for the server that cannot say where it listens, and does not listen itself.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are file descriptors");
    socket.set_reuse_address(true).expect("it is a TCP socket");
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("there are ports");
    let address = socket.local_addr().expect("it is bound").as_socket().expect("it is an address of the internet");
    let mut serve = txn_engine(&format!("serve --addr {address}"));
    serve.stdout(nobody());
    let _serving = Running::start(serve);
    let mut stream = None;
    wait_for("the server to listen", || {
        stream = TcpStream::connect(address).ok();
        stream.is_some()
    });
    assert_eq!(Client::of(stream.expect("it was waited for")).ask("deposit,1,1,5"), "ok");
}

#[cfg(target_os = "linux")]
#[test]
fn a_stderr_that_takes_nothing_costs_no_session_no_accounts_and_no_record() {
    fn full() -> Stdio {
        File::options().write(true).open("/dev/full").expect("Linux has /dev/full").into()
    }
    for (stderr, codes) in [(full as fn() -> Stdio, [2, 2, 2]), (nobody, [0, 1, 0])] {
        let folder = Folder::with("repeated.csv", REPEATED);
        let outcome = |typed: &str| {
            let mut command = txn_engine(typed);
            command.current_dir(folder.path("")).stderr(stderr());
            let (code, printed, _) = run(command);
            (code.expect("it ends by itself"), printed)
        };
        let accounts = "client,available,held,total,locked\n1,1.0000,0.0000,1.0000,false\n";
        for (strict, code) in ["", "--strict"].into_iter().zip(codes) {
            let done = outcome(&format!("{strict} repeated.csv --dump session{strict}"));
            assert_eq!(done, (code, accounts.to_owned()));
            let session = Session::read(&folder.path(&format!("session{strict}"))).expect("it is whole");
            assert_eq!(session.accounts.len(), 1);
        }
        assert_eq!(outcome("stress-test 10 --record records.jsonl").0, codes[2]);
        let records = fs::read_to_string(folder.path("records.jsonl")).expect("there is a record");
        assert_eq!(records.lines().count(), 1);
    }
}
