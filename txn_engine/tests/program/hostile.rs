//! Clients that send nonsense, break off, or do not listen hurt nobody else.

use std::io::{self, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use socket2::{Domain, SockRef, Socket, Type};

use crate::client::Client;
use crate::rows::{accounts_after, deposits, rejected};
use crate::{Server, wait_for};

const UNFINISHED: &str = "unfinished: the last line has no line break and was not applied";
/// Of the server's memory, while somebody sends it far more than this.
const LITTLE_KIB: u64 = 4 << 10;

/// Somebody who wants to be served the whole time.
struct Honest {
    client: Client,
    rows: String,
}

impl Honest {
    fn at(server: &Server) -> Self {
        let mut honest = Honest { client: server.connect(), rows: String::new() };
        honest.is_served();
        honest
    }

    fn in_every_mode(typed: &str) -> impl Iterator<Item = (Server, Self)> {
        Server::in_every_mode(typed).map(|server| {
            let honest = Honest::at(&server);
            (server, honest)
        })
    }

    fn is_served(&mut self) {
        let row = format!("deposit,1,{},1.5", self.rows.lines().count() + 1);
        assert_eq!(self.client.ask(&row), "ok");
        self.rows += &(row + "\n");
    }

    /// Is served to the end, ends the server, and checks that of others it has applied these rows only.
    fn beside(mut self, others: &str, server: Server) {
        self.is_served();
        self.client.ends();
        assert_eq!(server.stop().accounts(), accounts_after(&(self.rows + others)));
    }

    /// The same where nobody else has an account.
    fn alone_in(self, server: Server) {
        self.beside("", server);
    }
}

#[test]
fn binary_garbage_is_answered_line_by_line() {
    let mut garbage = vec![0; 100_000];
    ChaCha8Rng::seed_from_u64(5).fill_bytes(&mut garbage);
    let (whole, last) = garbage.split_at(garbage.iter().rposition(|&byte| byte == b'\n').expect("one byte in 256"));
    let lines = whole.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    assert!(lines > 300 && last.len() > 1);
    for (server, mut honest) in Honest::in_every_mode("") {
        let mut hostile = server.connect();
        hostile.send(&garbage);
        honest.is_served();
        let mut answers = hostile.end();
        assert_eq!(answers.pop().as_deref(), Some(UNFINISHED));
        assert_eq!(answers.len(), lines);
        let errors = ["UnknownType", "MissingField", "NotUtf8", "OpenQuote"].map(rejected);
        assert!(answers.iter().all(|answer| errors.contains(answer)), "{answers:?}");
        honest.alone_in(server);
    }
}

#[test]
fn a_line_without_end_takes_no_memory() {
    const PIECES: usize = 160;
    let long = vec![b'x'; 70_000];
    for (server, mut honest) in Honest::in_every_mode("") {
        let before = server.running.status("VmHWM:");
        let mut hostile = server.connect();
        for piece in 0..PIECES {
            hostile.send(&long);
            if piece % 40 == 0 {
                honest.is_served();
            }
        }
        // It is one line, and the connection goes on after it.
        assert_eq!(hostile.ask(""), rejected("LineTooLong"));
        assert_eq!(hostile.ask("deposit,1,1,1"), rejected("RepeatedTx"));
        hostile.send(&long);
        assert_eq!(hostile.end(), [UNFINISHED]);
        let grown = server.running.status("VmHWM:") - before;
        assert!(grown < LITTLE_KIB, "{grown} KiB for a line of 10 MB");
        honest.alone_in(server);
    }
}

#[test]
fn the_longest_line_is_read_and_one_byte_more_is_not() {
    for (server, mut honest) in Honest::in_every_mode("") {
        let mut client = server.connect();
        for (length, line_break, answer) in [
            (65_536, "\n", "ok".to_owned()),
            (65_537, "\n", rejected("LineTooLong")),
            // The carriage return is part of the line.
            (65_535, "\r\n", "ok".to_owned()),
            (65_536, "\r\n", rejected("LineTooLong")),
            (200_000, "\n", rejected("LineTooLong")),
        ] {
            // The id of a line that was not read can be used again.
            let row = format!("deposit,2,{},1", 100 + line_break.len());
            // In two writes, so that the end comes alone, and with the start of the next line.
            client.send(row.clone() + &" ".repeat(length - row.len()));
            honest.is_served();
            client.send(format!("{line_break}dispute,2,"));
            assert_eq!(client.answer(), Some(answer), "{length} bytes");
            assert_eq!(client.ask("1"), rejected("DifferentClient"));
        }
        client.ends();
        honest.beside("deposit,2,101,1\ndeposit,2,102,1\n", server);
    }
}

#[test]
fn a_row_whose_end_is_missing_is_not_applied() {
    // Cut anywhere, most of these are rows themselves.
    let row = "deposit,2,1000,500.00";
    for (server, mut honest) in Honest::in_every_mode("") {
        for end in 1..=row.len() {
            // One dies so that the server sees an end, another so that it sees an error.
            for resets in [false, true] {
                let mut dying = server.connect();
                assert_eq!(dying.ask("resolve,1,1"), rejected("NotDisputed"));
                dying.send(&row[..end]);
                if resets {
                    SockRef::from(&dying.stream).set_linger(Some(Duration::ZERO)).expect("it is a TCP socket");
                }
            }
        }
        honest.is_served();
        Server::wait_until_open(&mut honest.client, 0);
        assert_eq!(honest.client.ask("withdrawal,2,1001,1"), rejected("AccountNotFound"));
        honest.alone_in(server);
    }
}

#[test]
fn a_half_closed_connection_gets_all_its_answers_and_then_the_end() {
    // Many more bytes than are read at once.
    let rows = deposits(2, 100..1300);
    for (server, honest) in Honest::in_every_mode("") {
        for (last, answer) in [
            ("", None),
            ("deposit,3,1,500.00", Some(UNFINISHED)),
            ("deposit,3,1,500.00\r", Some(UNFINISHED)),
            ("stats", Some(UNFINISHED)),
            ("type,client,tx,amount", Some(UNFINISHED)),
            // White space is no line that anybody misses.
            (" \t", None),
        ] {
            let mut client = server.connect();
            client.send(format!("{rows}{last}"));
            let mut answers = client.end();
            if let Some(answer) = answer {
                assert_eq!(answers.pop().as_deref(), Some(answer), "{last}");
            }
            assert_eq!(answers.len(), 1200, "{last}");
        }
        let mut alone = server.connect();
        alone.send("deposit,3,1,5");
        assert_eq!(alone.end(), [UNFINISHED]);
        honest.beside(&rows, server);
    }
}

/// A client that has sent until nothing more was taken, and has read no answer.
pub fn deaf(server: &Server) -> Client {
    // Answers are longer than these lines: what the system keeps of both is soon full.
    let lines = "x\n".repeat(32 << 10);
    // Small, so that it is full soon. It can only be set before there is a connection.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are file descriptors");
    socket.set_recv_buffer_size(4096).expect("it is a TCP socket");
    socket.connect(&server.address.into()).expect("the server listens");
    let mut deaf = Client::of(socket.into());
    deaf.stream.set_write_timeout(Some(Duration::from_millis(150))).expect("it is not zero");
    let mut taken = 0;
    loop {
        assert!(taken < 64 << 20, "the server reads on, although nobody takes its answers");
        match deaf.stream.write(lines.as_bytes()) {
            Ok(length) => taken += length,
            // The test was stopped and goes on.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => return deaf,
            Err(error) => panic!("the server hangs up on a client that is only slow: {error}"),
        }
    }
}

#[test]
fn a_client_that_takes_no_answers_is_not_waited_for_and_takes_no_memory() {
    for (server, mut honest) in Honest::in_every_mode("") {
        let before = server.running.status("VmHWM:");
        let mut deaf: Vec<_> = (0..2).map(|_| deaf(&server)).collect();
        honest.is_served();
        let grown = server.running.status("VmHWM:") - before;
        assert!(grown < LITTLE_KIB, "{grown} KiB for clients that read nothing");

        // Once it listens it gets its answers after all.
        let mut slow = deaf.remove(0);
        for _ in 0..1000 {
            assert_eq!(slow.answer(), Some(rejected("UnknownType")));
        }
        honest.is_served();
        drop((slow, deaf));
        Server::wait_until_open(&mut honest.client, 0);
        honest.alone_in(server);
    }
}

#[test]
fn connections_that_say_nothing_hold_nobody_up() {
    for server in Server::in_every_mode("") {
        let mut silent: Vec<_> = (0..30).map(|_| server.connect()).collect();
        // Some have begun to speak.
        for (client, start) in silent.iter_mut().zip(["d", "deposit,2,2000,5", "\r", "\n\n"]) {
            client.send(start);
        }
        let mut honest = Honest::at(&server);
        for _ in 0..50 {
            honest.is_served();
        }
        Server::wait_until_open(&mut honest.client, 30);
        // They are connections like any other when they speak at last.
        assert_eq!(silent[1].ask("0"), "ok");
        assert_eq!(silent[29].ask("withdrawal,2,3000,50"), "ok");
        for client in silent.drain(1..) {
            client.stream.shutdown(Shutdown::Both).expect("the connection is whole");
        }
        honest.beside("deposit,2,2000,50\nwithdrawal,2,3000,50\n", server);
    }
}

#[test]
fn connections_that_are_idle_are_closed_and_those_that_are_not_stay_and_so_do_all_without_a_limit() {
    for (server, mut honest) in Honest::in_every_mode("--idle 1") {
        let opened = Instant::now();
        let mut silent = server.connect();
        assert_eq!(silent.ask("resolve,9,9"), rejected("AccountNotFound"));
        let mut unfinished = server.connect();
        unfinished.send("deposit,2,2000,5");
        let deaf = deaf(&server);
        let mut ended = None;
        wait_for("idle connections to end", || {
            honest.is_served();
            let open = honest.client.stats()["open"].as_u64();
            if open < Some(4) {
                ended.get_or_insert_with(|| opened.elapsed());
            }
            open == Some(1)
        });
        assert!(ended >= Some(Duration::from_millis(900)), "closed after {ended:?}");
        assert_eq!(silent.rest(), Vec::<String>::new());
        assert_eq!(unfinished.rest(), [UNFINISHED]);
        drop(deaf);
        honest.alone_in(server);
    }
    for (server, honest) in Honest::in_every_mode("--idle 0") {
        thread::sleep(Duration::from_millis(300));
        honest.alone_in(server);
    }
}

#[test]
fn nobody_is_idle_for_as_long_as_the_server_stood_still() {
    let mut all: Vec<_> = Honest::in_every_mode("--idle 2").collect();
    for (server, honest) in &mut all {
        honest.is_served();
        server.signal(Signal::SIGSTOP);
    }
    thread::sleep(Duration::from_secs(3));
    for (server, mut honest) in all {
        server.signal(Signal::SIGCONT);
        // The first row may be read before the server looks at the time.
        for _ in 0..20 {
            honest.is_served();
        }
        honest.alone_in(server);
    }
}
