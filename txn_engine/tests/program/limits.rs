//! A server that is short of something turns connections away in words, and serves again when there is room.

use std::path::Path;
use std::process::Command;

use crate::client::Client;
use crate::{ACCOUNTS, Folder, MODES, PAYMENTS, Server, assert_one_line, run, txn_engine, txn_engine_after, wait_for};

/// Opens connections that each send a row; those that were served stay open.
struct Crowd {
    served: Vec<Client>,
    reasons: Vec<String>,
}

impl Crowd {
    fn at(server: &Server, size: usize) -> Self {
        let mut crowd = Crowd { served: Vec::new(), reasons: Vec::new() };
        for number in 0..size {
            let mut client = server.connect();
            let answer = client.try_ask(&format!("deposit,{number},{number},1"));
            let answer = answer.expect("these limits are foreseen, so nobody is left without a word");
            if let Some(reason) = answer.strip_prefix("busy: ") {
                // Words, and then the end.
                assert!(!matches!(client.try_answer(), Ok(Some(_))), "{reason}");
                crowd.reasons.push(reason.to_owned());
            } else {
                assert_eq!(answer, "ok");
                crowd.served.push(client);
            }
        }
        crowd
    }

    /// The served are served on, and when some of them leave others find room.
    fn makes_room_in(mut self, server: Server) {
        let count = self.served.len();
        for (number, client) in self.served.iter_mut().enumerate() {
            assert_eq!(client.ask(&format!("deposit,60000,{},1", 60_000 + number)), "ok");
        }
        for place in 0..count / 2 {
            drop(self.served.remove(place));
            self.served.insert(place, admitted(&server, &format!("resolve,60000,{place}")));
        }
        for (number, client) in self.served.iter_mut().enumerate() {
            assert_eq!(client.ask(&format!("deposit,60001,{},1", 61_000 + number)), "ok");
        }
        drop(self.served);
        let refused = admitted(&server, "deposit,60002,62000,1").stats()["refused"].as_u64();
        assert!(refused >= Some(self.reasons.len() as u64), "{refused:?}");
        server.stop();
    }
}

/// A connection that has sent this row and is served, as soon as the server has noticed that there is room.
fn admitted(server: &Server, row: &str) -> Client {
    let mut admitted = None;
    wait_for("room for a connection", || {
        let mut client = server.connect();
        let answer = client.try_ask(row).filter(|answer| !answer.starts_with("busy: "));
        admitted = answer.map(|_| client);
        admitted.is_some()
    });
    admitted.expect("it was waited for")
}

#[test]
fn beyond_the_file_descriptors_they_are_refused_in_words() {
    for mode in MODES {
        // Sixty-four of them are no connections.
        for (files, size, room) in [(80, 40, 16), (67, 8, 3)] {
            let few_files = txn_engine_after(&format!("ulimit -n {files}"), &Server::typed(mode));
            let server = Server::start_command(Folder::new(), few_files);
            let crowd = Crowd::at(&server, size);
            assert_eq!(crowd.served.len(), room);
            let right = "no more files can be opened (ulimit -n)";
            assert!(crowd.reasons.iter().all(|reason| reason == right), "{:?}", crowd.reasons);
            crowd.makes_room_in(server);
        }
    }
}

/// The descriptor that the next file of the server will have.
fn first_free_file(server: &Server) -> usize {
    let folder = format!("/proc/{}/fd", server.running.pid());
    (0..10_000).find(|file| !Path::new(&folder).join(file.to_string()).is_symlink()).expect("few are open")
}

/// Changes a limit of a running program, which does not know of it.
#[cfg(target_os = "linux")]
fn limit(server: &Server, limit: &str) {
    let status = Command::new("prlimit").args(["--pid", &server.running.pid().to_string(), limit]).status();
    assert!(status.is_ok_and(|status| status.success()), "prlimit, of util-linux, sets {limit}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_shortage_of_file_descriptors_that_was_not_foreseen_passes() {
    for server in Server::in_every_mode("") {
        let mut crowd = Crowd::at(&server, 5);
        limit(&server, &format!("--nofile={}", first_free_file(&server)));
        let mut waiting = server.connect();
        waiting.send("deposit,100,100,1\n");
        // It cannot be accepted; meanwhile the others are served.
        for tx in 101..150 {
            assert_eq!(crowd.served[0].ask(&format!("deposit,100,{tx},1")), "ok");
        }
        assert_eq!(crowd.served[0].ask("withdrawal,100,100,1"), "ok", "the row of the one that waits was not applied");
        assert_eq!(crowd.served[1].ask("deposit,100,150,1"), "ok");
        drop(crowd.served.pop());
        assert!(waiting.answer().is_some_and(|answer| answer.starts_with("RepeatedTx")));
        crowd.makes_room_in(server);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_room_for_another_thread_connections_are_refused_in_words() {
    /// A stack as Rust makes it, and what else a thread takes.
    const THREAD_KIB: u64 = 2048 + 32;
    /// Much less than a thread, and more than everything else needs.
    const REST_KIB: u64 = 1024;
    let server = Server::start("--mode threads");
    // What the first thread needs besides is there then.
    server.connect().ask("resolve,1,1");
    let bytes = (server.running.status("VmSize:") + 8 * THREAD_KIB + REST_KIB) << 10;
    limit(&server, &format!("--as={bytes}"));
    let crowd = Crowd::at(&server, 30);
    assert!((6..=10).contains(&crowd.served.len()), "{}", crowd.served.len());
    for reason in &crowd.reasons {
        assert!(reason.starts_with("no thread can be started: "), "{reason}");
    }
    crowd.makes_room_in(server);
}

#[test]
fn connections_leave_nothing_behind() {
    for server in Server::in_every_mode("") {
        let mut asker = server.connect();
        assert_eq!(asker.ask("deposit,1,1,1"), "ok");
        let (files, threads) = (server.files(), server.running.status("Threads:"));
        for round in 0..5 {
            let mut clients: Vec<_> = (0..30).map(|_| server.connect()).collect();
            for (number, client) in clients.iter_mut().enumerate() {
                assert_eq!(client.ask(&format!("deposit,1,{},1", 100 + round * 30 + number)), "ok");
                client.send("deposit,");
            }
            drop(clients);
        }
        Server::wait_until_open(&mut asker, 0);
        // A socket is closed, and a thread ended, just after its connection is no longer counted.
        wait_for("files and threads to go", || server.files() <= files && server.running.status("Threads:") <= threads);
        assert_eq!(asker.stats()["connections"], 151);
        server.stop();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_no_thread_can_be_started_engines_do_without_or_say_so() {
    let folder = Folder::with("payments.csv", PAYMENTS);
    let without_threads = |typed: &str| {
        let mut command = txn_engine(typed);
        // No address space has room for such a stack.
        command.current_dir(folder.path("")).env("RUST_MIN_STACK", "1000000000000000000");
        command
    };
    for engine in ["best_all_cores", "best_one_core", "sync"] {
        let done = run(without_threads(&format!("--engine {engine} payments.csv")));
        assert_eq!(done, (Some(0), ACCOUNTS.to_owned(), String::new()), "{engine}");
    }
    // What tokio says comes first.
    let (code, printed, said) = run(without_threads("async payments.csv"));
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.starts_with("txn_engine: a worker thread died: ")), "{said}");
    for mode in MODES {
        let serve = without_threads(&format!("serve --addr 127.0.0.1:0 {mode}"));
        assert_one_line(serve, &["cannot start a thread: "]);
    }
}
