//! Every line is answered rightly, in order, and applied once, however it is sent and whoever else sends.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use txn_engine::ErrorKind;

use crate::client::Client;
use crate::rows::{self, Dialogue, HEADER, accounts_after, deposits, rejected};
use crate::{Folder, MODES, Server, txn_engine, txn_engine_after};

/// Sends all lines, in pieces of up to so many bytes, or line by line, each after the answer to the one before; gives the answers. Blank
/// lines, which are not answered, stand between.
fn converse(mut client: Client, rng: &mut impl Rng, lines: &[Vec<u8>], pieces: Option<usize>) -> Vec<String> {
    let line_break: &[u8] = if rng.random() { b"\n" } else { b"\r\n" };
    let mut answers = Vec::new();
    let mut text = Vec::new();
    for line in lines {
        let blank: &[u8] =
            [&b"\n"[..], b" \t \r\n", b"\r\r\n"].get(rng.random_range(0..24)).copied().unwrap_or_default();
        text.extend([line, line_break, blank].concat());
        if pieces.is_none() {
            client.send(std::mem::take(&mut text));
            answers.push(client.answer().expect("every row is answered"));
        }
    }
    let mut rest = text.as_slice();
    while let (false, Some(most)) = (rest.is_empty(), pieces) {
        let (piece, more) = rest.split_at(rng.random_range(1..=rest.len().min(most)));
        client.send(piece);
        rest = more;
    }
    answers.extend(client.end());
    answers
}

#[test]
fn many_connections_at_once_get_the_answers_and_the_accounts_of_the_naive_engine() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let dialogues: Vec<_> = (0..24).map(|number| Dialogue::draw(&mut rng, number, 100)).collect();
    let (accounts, operations) = rows::outcome(&dialogues);
    let answers: BTreeSet<_> = dialogues.iter().flat_map(|dialogue| &dialogue.answers).collect();
    for &kind in ErrorKind::ALL {
        // Long lines are another test.
        let is_drawn = !matches!(kind, ErrorKind::LineTooLong);
        assert_eq!(answers.contains(&rejected(kind.name())), is_drawn, "{}", kind.name());
    }
    for operation in ["deposit", "withdrawal", "dispute", "resolve", "chargeback", "dispute again"] {
        assert!(operations.contains_key(operation), "no {operation} is accepted: {operations:?}");
    }

    for server in Server::in_every_mode("") {
        let all_are_there = Barrier::new(dialogues.len());
        thread::scope(|scope| {
            for (number, dialogue) in (0_u64..).zip(&dialogues) {
                let (client, all_are_there) = (server.connect(), &all_are_there);
                scope.spawn(move || {
                    let rng = &mut ChaCha8Rng::seed_from_u64(number);
                    let pieces = [None, Some(60), Some(100_000)][rng.random_range(0..3)];
                    let (mut lines, mut right) = (dialogue.rows.clone(), dialogue.answers.clone());
                    if rng.random() {
                        lines.insert(0, HEADER.trim_end().into());
                        right.insert(0, "ok".to_owned());
                    }
                    all_are_there.wait();
                    let answers = converse(client, rng, &lines, pieces);
                    for (line, (answer, right)) in lines.iter().zip(answers.iter().zip(&right)) {
                        assert_eq!(answer, right, "{pieces:?}: {}", line.escape_ascii());
                    }
                    assert_eq!(answers.len(), right.len(), "{pieces:?}");
                });
            }
        });
        assert_eq!(server.stop().accounts(), accounts);
    }
}

#[test]
fn a_transaction_that_all_connections_send_is_applied_once() {
    let text = deposits(7, 0..200);
    for server in Server::in_every_mode("") {
        let all_are_there = Barrier::new(10);
        let converse = || {
            let mut client = server.connect();
            all_are_there.wait();
            client.send(&text);
            let answers = client.end();
            assert_eq!(answers.len(), 200);
            answers
        };
        let mut answers: Vec<String> = thread::scope(|scope| {
            let clients: Vec<_> = (0..10).map(|_| scope.spawn(converse)).collect();
            clients.into_iter().flat_map(|client| client.join().expect("every client is answered")).collect()
        });
        answers.sort();
        assert!(answers[..1800].iter().all(|answer| *answer == rejected("RepeatedTx")));
        assert!(answers[1800..].iter().all(|answer| answer == "ok"));
        assert_eq!(server.stop().accounts(), accounts_after(&text));
    }
}

#[test]
fn what_a_person_types_is_answered_line_by_line() {
    for server in Server::in_every_mode("") {
        let mut client = server.connect();
        for (line, answer) in [
            ("Type,Client,TX,Amount\r", "ok".to_owned()),
            ("deposit,1,1,5", "ok".to_owned()),
            ("\r\n \n\t\ndeposit, 1, 2, 1.5\r", "ok".to_owned()),
            ("withdrawal,1,3,7", rejected("InsufficientFunds")),
            ("dispute,1,2", "ok".to_owned()),
            ("dispute,2,2", rejected("AccountNotFound")),
            ("deposit,1,1,5", rejected("RepeatedTx")),
            // Only the first line is a header.
            ("type,client,tx,amount", rejected("UnknownType")),
            ("help", rejected("UnknownType")),
            ("deposit,1", rejected("MissingField")),
        ] {
            assert_eq!(client.ask(line), answer, "{line}");
        }
        client.ends();
        // A header is no row: alone it makes no account, and a connection may do without.
        assert_eq!(server.connect().ask("deposit,1,4,0.25"), "ok");
        let right = "client,available,held,total,locked\n1,5.2500,1.5000,6.7500,false\n";
        assert_eq!(server.stop().accounts(), right);
    }
}

#[test]
fn stats_are_one_line_of_json_with_the_counts() {
    for mode in MODES {
        // Sixty-four of these are no connections.
        let three = txn_engine_after("ulimit -n 67", &Server::typed(mode));
        let server = Server::start_command(Folder::new(), three);
        let (mut first, mut second) = (server.connect(), server.connect());
        // The third goes again, and still counts.
        server.connect().ends();
        assert_eq!(first.ask(HEADER.trim_end()), "ok");
        first.send("deposit,1,1,1\ndeposit,1,1,1\n\ndeposit,1,2,1\nstats\ndeposit,1,3,1\n");
        let said: Vec<_> = (0..5).map(|_| first.answer().expect("every line is answered")).collect();
        assert_eq!([&said[0], &said[1], &said[2], &said[4]], ["ok", &rejected("RepeatedTx"), "ok", "ok"]);
        let in_order: serde_json::Value = serde_json::from_str(&said[3]).expect("it is one line of JSON");
        assert_eq!((&in_order["accepted"], &in_order["rejected"]), (&2.into(), &1.into()), "{in_order}");
        assert_eq!(second.ask(&"x".repeat(70_000)), rejected("LineTooLong"));
        Server::wait_until_open(&mut first, 1);
        let _third = server.connect();
        Server::wait_until_open(&mut first, 2);
        let busy = server.connect().answer().expect("it is refused in words");
        assert!(busy.starts_with("busy: "), "{busy}");

        let stats = second.stats();
        for (name, right) in [("open", 3), ("connections", 4), ("refused", 1), ("accepted", 3), ("rejected", 2)] {
            assert_eq!(stats[name], right, "{name}: {stats}");
        }
        for name in ["user_s", "system_s"] {
            assert!(stats[name].as_f64().is_some_and(|seconds| (0.0..60.0).contains(&seconds)), "{stats}");
        }
        let count = |name: &str| stats[name].as_u64().expect("it is a count");
        if cfg!(target_os = "linux") {
            assert!(count("peak_rss_kib") >= count("rss_kib") && count("rss_kib") > 1000, "{stats}");
            assert!(count("maps") > count("threads"), "{stats}");
            let threads = match mode {
                "--mode threads" => 3 + 2..=3 + 4,
                "--mode pool --pool 40" => 40 + 2..=40 + 4,
                // A worker per core, and the thread that accepts.
                "--mode tokio" => 2..=thread::available_parallelism().map_or(64, usize::from) as u64 + 4,
                _ => 2..=4,
            };
            assert!(threads.contains(&count("threads")), "{stats}");
        }
        server.stop();
    }
}

#[test]
fn the_null_server_says_ok_to_every_line() {
    // It keeps nothing that could be dumped.
    let server = Server::start_command(Folder::new(), txn_engine("serve --addr 127.0.0.1:0 --mode null"));
    let mut client = server.connect();
    for line in ["deposit,1,1,5", "deposit,1,1,5", "nonsense", "\u{1}"] {
        assert_eq!(client.ask(line), "ok", "{line}");
    }
    assert_eq!(client.stats()["accepted"], 4);
    server.stop();
}
