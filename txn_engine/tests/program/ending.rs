//! How a server ends, and how the next one goes on; what is typed wrongly.

use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use txn_engine::amount::Amount;
use txn_engine::serve::{self, Mode, Options};
use txn_engine::session::Session;
use txn_engine::usage;
use txn_engine_oracle::Oracle;

use crate::client::Client;
use crate::hostile::deaf;
use crate::rows::{Dialogue, HEADER, deposits, outcome};
use crate::{Folder, MODES, Server, assert_one_line, run, txn_engine, txn_engine_after, wait_for};

#[test]
fn whole_lines_that_arrived_before_a_signal_are_answered_and_dumped() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut dialogues: Vec<_> = (0..6).map(|number| Dialogue::draw(&mut rng, number, 80)).collect();
    // One that is longer than what is read at once.
    dialogues.push(Dialogue::draw(&mut rng, 99, 400));
    let accounts = outcome(&dialogues).0;
    let signals = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().take(if after_nohup() { 2 } else { 3 });
    for (mode, signal) in MODES.into_iter().flat_map(|mode| signals.clone().map(move |signal| (mode, signal))) {
        let server = Server::start(mode);
        let mut clients: Vec<_> = dialogues.iter().map(|_| server.connect()).collect();
        for client in &mut clients {
            assert_eq!(client.ask(HEADER.trim_end()), "ok");
        }
        // The server stands still while they send, so that it has read nothing of it when it is told to end.
        server.signal(Signal::SIGSTOP);
        for (client, dialogue) in clients.iter_mut().zip(&dialogues) {
            client.send(dialogue.text());
            client.send("deposit,98,98,5");
            client.wait_until_arrived();
        }
        server.signal(signal);
        server.signal(Signal::SIGCONT);
        for (client, dialogue) in clients.iter_mut().zip(&dialogues) {
            let mut answers = client.rest();
            let last = answers.pop().unwrap_or_default();
            assert!(last.starts_with("unfinished: "), "{last}");
            assert_eq!(answers, dialogue.answers);
        }
        assert_eq!(server.ends_well().accounts(), accounts);
        assert!(std::net::TcpStream::connect(clients[0].stream.peer_addr().expect("it was connected")).is_err());
    }
}

#[test]
fn the_next_server_goes_on_where_the_last_one_ended() {
    let days = [
        (
            "deposit,1,1,5\ndeposit,2,2,7\nwithdrawal,1,3,1\ndispute,2,2,\nwithdrawal,1,9,9\n",
            "ok ok ok ok InsufficientFunds",
        ),
        ("deposit,1,1,5\nwithdrawal,1,4,4\ndispute,2,2,\nchargeback,2,2,\n", "RepeatedTx ok AlreadyDisputed ok"),
        ("withdrawal,1,9,0.0001\ndeposit,2,5,1\ndeposit,1,9,2\n", "InsufficientFunds AccountLocked ok"),
    ];
    for mode in MODES {
        let mut oracle = Oracle::default();
        let mut folder = Folder::new();
        let mut load = "";
        for (rows, names) in days {
            let server = Server::start_in(folder, &format!("{mode} {load}"));
            let mut client = server.connect();
            client.send(rows);
            let answers = client.end();
            let said: Vec<_> = answers.iter().map(|answer| answer.split(':').next().unwrap_or_default()).collect();
            assert_eq!(said.join(" "), names, "{rows}");
            oracle.feed(format!("{HEADER}{rows}").as_bytes()).expect("the header is valid");
            folder = server.stop().folder;
            load = "--load session";
        }
        let ended = Server::start_in(folder, &format!("{mode} {load}")).stop();
        assert_eq!(ended.accounts().into_bytes(), oracle.finish().accounts_csv);
    }
}

#[test]
fn a_client_that_takes_no_answers_delays_the_end_by_the_grace_only() {
    for server in Server::in_every_mode("--grace 0.3") {
        let mut honest = server.connect();
        assert_eq!(honest.ask("deposit,1,1,5"), "ok");
        let deaf = deaf(&server);
        honest.send("deposit,1,2,5\n");
        honest.wait_until_arrived();
        let begun = Instant::now();
        server.signal(Signal::SIGTERM);
        assert_eq!(honest.rest(), ["ok"]);
        let ended = server.ends_well();
        let time = begun.elapsed();
        // Below the grace that it has by itself; and it did wait, or the client was not as deaf as it should be.
        assert!((Duration::from_millis(290)..Duration::from_secs(4)).contains(&time), "{time:?}");
        assert_eq!(ended.accounts(), "client,available,held,total,locked\n1,10.0000,0.0000,10.0000,false\n");
        drop(deaf);
    }
}

#[test]
fn in_the_dump_of_a_server_that_cuts_off_at_once_accounts_and_transactions_agree() {
    for server in Server::in_every_mode("--grace 0") {
        let session = thread::scope(|scope| {
            for number in 0..8 {
                let mut client = server.connect();
                let mut answers = client.stream.try_clone().expect("there are file descriptors");
                // Until it is cut off, by an end or an error.
                scope.spawn(move || io::copy(&mut answers, &mut io::sink()));
                scope.spawn(move || {
                    // Where the system starves the connection aside for seconds, the dump must not grow until its writing outlasts all patience.
                    let starts = (u32::from(number) * 100_000_000..).step_by(1000).take(1000);
                    let mut pieces = starts.map(|start| deposits(number, start..start + 1000));
                    pieces.all(|piece| client.stream.write_all(piece.as_bytes()).is_ok())
                });
            }
            let mut aside = server.connect();
            wait_for("the load to be under way", || aside.stats()["accepted"].as_u64() > Some(20_000));
            server.stop().session()
        });
        assert!(session.accounts.len() > 1);
        for (client, account) in session.accounts {
            let own = session.transactions.iter().filter(|(_, tx)| tx.client == client);
            let sum = own.map(|(_, tx)| tx.signed().0).sum();
            assert_eq!(account.total(), Amount(sum), "client {client}");
        }
    }
}

#[test]
fn a_server_of_a_program_ends_its_connections_when_it_is_dropped_or_drained_however_long_that_may_take() {
    for mode in [Mode::Threads, Mode::Pool, Mode::Tokio, Mode::TokioCurrent] {
        let options = Options { mode, address: "127.0.0.1:0".to_owned(), pool: 2, idle: Duration::ZERO };
        for is_drained in [false, true] {
            let server = serve::Server::start(&options, Session::default()).expect("there are ports");
            let mut client = Client::connect(server.address);
            assert_eq!(client.ask("deposit,1,1,5"), "ok");
            if is_drained {
                assert_eq!(server.drain(Duration::MAX).accounts.len(), 1);
            } else {
                drop(server);
            }
            assert_eq!(client.answer(), None, "{mode:?}");
        }
    }
}

#[test]
fn a_second_signal_ends_a_server_that_waits() {
    for (mode, signal) in MODES.into_iter().zip([Signal::SIGTERM, Signal::SIGINT].into_iter().cycle()) {
        let mut server = Server::start(&format!("{mode} --grace 600"));
        let deaf = deaf(&server);
        server.signal(signal);
        let mut line = String::new();
        server.stderr.read_line(&mut line).expect("what it says is text");
        assert!(line.contains("finishing 1 connections") && line.contains("again"), "{line}");
        server.signal(signal);
        let ended = server.wait();
        assert_eq!(ended.status.signal(), Some(signal as i32), "{}", ended.status);
        assert!(!ended.folder.path("session/session.json").exists(), "half a session is worse than none");
        drop(deaf);
    }
}

/// Whether these tests, and what they start, ignore the end of a terminal.
fn after_nohup() -> bool {
    usage::of_this_process().is_some_and(|process| process.ignored & 1 == 1)
}

#[test]
fn a_terminal_that_is_closed_ends_a_server_well_though_its_signal_comes_twice_and_nobody_reads_what_it_says() {
    if after_nohup() {
        eprintln!("skipped: started by nohup");
        return;
    }
    let mut server = Server::start_command(Folder::new(), txn_engine_after("exec 2>/dev/full", &Server::typed("")));
    let mut client = server.connect();
    assert_eq!(client.ask("deposit,1,1,5"), "ok");
    drop(server.stdout.take());
    let deaf = deaf(&server);
    server.signal(Signal::SIGHUP);
    // It has stopped to listen, and waits for the deaf one.
    assert_eq!(client.answer(), None);
    server.signal(Signal::SIGHUP);
    drop(deaf);
    assert_eq!(server.ends_well().accounts(), "client,available,held,total,locked\n1,5.0000,0.0000,5.0000,false\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_was_started_by_nohup_outlives_its_terminal() {
    let server = Server::start_command(Folder::new(), txn_engine_after("trap '' HUP", &Server::typed("")));
    let mut client = server.connect();
    assert_eq!(client.ask("deposit,1,1,5"), "ok");
    server.signal(Signal::SIGHUP);
    assert_eq!(client.ask("deposit,1,2,5"), "ok");
    assert_eq!(server.connect().ask("deposit,1,3,5"), "ok");
    assert_eq!(server.stop().accounts(), "client,available,held,total,locked\n1,15.0000,0.0000,15.0000,false\n");
}

#[test]
fn a_server_with_nothing_to_wait_for_ends_at_once() {
    // Waiting for the grace would be waiting for too long.
    for server in Server::in_every_mode("--grace 600") {
        let mut silent = server.connect();
        assert_eq!(silent.ask("deposit,1,1,5"), "ok");
        let ended = server.stop();
        assert_eq!(silent.answer(), None);
        assert!(ended.stderr.contains("finishing 1 connections"), "{}", ended.stderr);
    }
    for server in Server::in_every_mode("--grace 600") {
        assert_eq!(server.stop().stderr, "");
    }
}

#[test]
fn a_server_ends_with_its_standard_input_if_that_was_asked_for() {
    let mut command = txn_engine("serve --addr 127.0.0.1:0 --until-stdin-closes --dump session");
    command.stdin(Stdio::piped());
    let mut server = Server::start_command(Folder::new(), command);
    let mut client = server.connect();
    assert_eq!(client.ask("deposit,1,1,5"), "ok");
    drop(server.running.0.stdin.take());
    let ended = server.ends_well();
    assert_eq!(ended.stderr, "");
    assert_eq!(client.answer(), None);
    assert_eq!(ended.accounts().lines().count(), 2);
}

#[test]
fn a_dump_that_fails_is_said_and_the_accounts_are_printed_if_anybody_reads_the_output() {
    for is_read in [true, false] {
        let mut server = Server::start("--mode tokio");
        let mut client = server.connect();
        assert_eq!(client.ask("deposit,1,1,5"), "ok");
        client.ends();
        let session = server.folder.path("session");
        fs::remove_dir(&session).expect("the server has made a folder, and nothing in it");
        fs::write(&session, "a file").expect("a file can be written");
        if !is_read {
            // As a script does that has read where the server listens.
            drop(server.stdout.take());
        }
        server.signal(Signal::SIGTERM);
        let ended = server.wait();
        assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
        assert!(ended.stderr.lines().count() == 1 && ended.stderr.contains("session"), "{}", ended.stderr);
        let accounts = "client,available,held,total,locked\n1,5.0000,0.0000,5.0000,false\n";
        assert_eq!(ended.stdout, if is_read { accounts } else { "" });
    }
}

#[test]
fn an_address_that_is_taken_is_one_clear_line() {
    let first = Server::start("--mode tokio");
    for mode in MODES {
        let second = txn_engine(&format!("serve {mode} --addr {}", first.address));
        assert_one_line(second, &[&first.address.to_string(), "in use", "--addr"]);
    }
    // The first one has not noticed.
    assert_eq!(Client::connect(first.address).ask("deposit,1,1,5"), "ok");
    first.stop();
}

#[test]
fn what_cannot_be_meant_is_one_clear_error() {
    let seconds = "not a number of seconds from 0 to 1000000";
    for (typed, values, clear) in [
        ("serve --mode", "fibers", "possible values: threads, pool, tokio, tokio_current, null"),
        ("serve --addr", "nowhere 127.0.0.1 localhost localhost:99999 [::1", "a host and a port, as localhost:8820"),
        ("serve --pool", "x", "--pool"),
        // A duration holds 1e19 seconds, an instant that lies so far ahead does not.
        ("serve --grace", "x -1 nan inf 1e19", seconds),
        ("serve --idle", "x", seconds),
        ("load --patience", "1e19", seconds),
        ("load --duration 1 --warm-up", "x 1e19", seconds),
        ("load --duration", "-1", seconds),
        ("load --rate", "0 -5 nan inf 1e300", "not a number above 0"),
        ("load --arrivals", "sometimes", "possible values: poisson, constant"),
        ("load --clients", "-1 0 1000000000000", "not a whole number from 1 to 1000000"),
        ("load --first-tx", "4294967296", "--first-tx"),
        ("load --addr", "nowhere localhost:99999", "localhost:8820"),
        ("clients --as threads --clients", "0", "not a whole number from 1 to 1000000"),
        ("clients --as tasks --clients 1000000 --rows", "1000000000000000", "rows in all"),
        ("clients --rows", "1", "--as"),
        ("clients --as", "fibers", "possible values: threads, tasks"),
        ("serve --mode null --dump", "session", "leave out --load and --dump"),
        ("serve --mode null --load", "session", "leave out --load and --dump"),
        ("serve --dump", "Cargo.toml", "Cargo.toml"),
        ("serve --load", "nowhere", "nowhere"),
        ("payments.csv --engine", "warp", "possible values: sync, async, best_one_core, best_all_cores"),
        ("generate --rows 1 --shape", "round", "possible values: original, accepted, hot, uniform"),
    ] {
        for value in values.split(' ') {
            let (code, _, said) = run(txn_engine(&format!("{typed}={value}")));
            assert_eq!(code, Some(2), "{said}");
            let errors = said.lines().filter(|line| line.starts_with("error: ") || line.starts_with("txn_engine: "));
            assert_eq!(errors.count(), 1, "{said}");
            assert!(said.contains(clear) && !said.contains("panicked"), "{said}");
        }
    }
}
