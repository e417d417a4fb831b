//! The load generator: it sends when rows are due, whatever the server does, and hides nothing.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;
use socket2::{Domain, Socket, Type};
use txn_engine::load::{Arrivals, Load, Script, Times};
use txn_engine::row::{Kind, Row};

use crate::rows::accounts_after;
use crate::{Folder, MODES, Running, Server, assert_one_line, run, txn_engine, txn_engine_after, wait_for};

/// Of a server's files 64 are no connections: these leave three, and more are refused.
const THREE: &str = "ulimit -n 67";
const NO_FILES: &str = "no more files can be opened (ulimit -n)";

const LOAD: Load = Load {
    address: String::new(),
    clients: 20,
    rate: 1000.0,
    duration: Duration::from_millis(300),
    warm_up: Duration::from_millis(50),
    arrivals: Arrivals::Constant,
    seed: 11,
    first_tx: 500,
    patience: Duration::MAX,
};

fn load(server: &Server, typed: &str) -> Running {
    Running::start(txn_engine(&format!("load --addr {} {typed}", server.address)))
}

/// What a program printed that ended with this exit code: one line of JSON.
fn outcome(running: Running, code: i32) -> Value {
    let (ended, text, said) = running.outcome();
    assert_eq!((ended, text.lines().count()), (Some(code), 1), "{text}{said}");
    assert_eq!(said, "");
    serde_json::from_str(&text).expect("it is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Checks the counts that do not depend on the machine.
fn assert_counts(outcome: &Value, counts: &[(&str, u64)]) {
    for (name, right) in counts {
        assert_eq!(outcome[*name], *right, "{name}: {outcome}");
    }
    let sum: f64 = ["accepted", "rejected", "failed"].map(|name| number(&outcome[name])).iter().sum();
    assert_eq!(outcome["rows"].as_f64(), Some(sum), "every row has one fate: {outcome}");
}

/// Has the server or the load generator stand still for so long under a load of 500 rows per second, and checks that all rows of that
/// time are on record as late in these `times`.
fn assert_late(mode: &str, which: &str, still: Duration, times: &[&str]) {
    let server = Server::start(mode);
    let mut aside = server.connect();
    let typed = "--json --rate 500 --duration 3 --warm-up 0 --clients 20 --patience 60";
    let loading = load(&server, typed);
    wait_for("the load to be under way", || number(&aside.stats()["accepted"]) > 120.0);
    let signal = |signal| if which == "server" { &server.running } else { &loading }.signal(signal);
    signal(Signal::SIGSTOP);
    let stopped = Instant::now();
    thread::sleep(still);
    let still_s = stopped.elapsed().as_secs_f64();
    signal(Signal::SIGCONT);
    let outcome = outcome(loading, 0);

    assert_counts(&outcome, &[("failed", 0), ("rejected", 0), ("refused", 0), ("unserved", 0)]);
    let rows = number(&outcome["rows"]);
    assert!((1300.0..1700.0).contains(&rows), "{outcome}");
    // Rows fell due all the time, and waited for half of it on average. A generator that waits for an answer before the next row has one
    // late row for each of the 20 clients: a fiftieth of this.
    for times in times {
        let late_s = number(&outcome[*times]["mean_ms"]) / 1e3 * rows;
        assert!(late_s > 0.6 * 500.0 * still_s * still_s / 2.0, "{times}: {late_s} s late in all: {outcome}");
        for name in ["p99_ms", "max_ms"] {
            assert!(number(&outcome[*times][name]) > still.as_secs_f64() * 570.0, "{outcome}");
        }
    }
}

#[test]
fn rows_that_the_server_or_the_load_generator_itself_delays_are_on_record_as_late() {
    assert_late("--mode tokio", "server", Duration::from_secs(1), &["response"]);
    // The time before a row was sent is part of its time, and is stated by itself besides.
    assert_late("--mode threads", "load generator", Duration::from_millis(700), &["response", "lateness"]);
}

#[test]
fn rows_to_a_server_that_dies_have_failed_and_are_not_waited_for() {
    for mode in ["--mode threads", "--mode tokio"] {
        let server = Server::start(mode);
        let mut aside = server.connect();
        let typed = "--json --rate 400 --duration 1.5 --warm-up 0 --clients 10 --patience 600";
        let loading = load(&server, typed);
        wait_for("the load to be under way", || number(&aside.stats()["accepted"]) > 60.0);
        server.signal(Signal::SIGKILL);
        // Waiting for an answer would take its 600 seconds.
        let outcome = outcome(loading, 1);
        assert_counts(&outcome, &[("refused", 0), ("unserved", 0), ("rejected", 0)]);
        assert!(number(&outcome["failed"]) > 0.0 && number(&outcome["accepted"]) >= 40.0, "{outcome}");
        drop(server);
    }
}

#[test]
fn nobody_there_is_one_clear_line() {
    // The port is taken, so that nobody else can take it, but nobody listens.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there are file descriptors");
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("there are ports");
    let address = socket.local_addr().expect("it is bound").as_socket().expect("it is an address of the internet");
    for typed in ["", "--json", "--clients 1"] {
        let load = txn_engine(&format!("load --addr {address} --duration 600 {typed}"));
        assert_one_line(load, &[&address.to_string(), "is the server up?"]);
    }
}

/// The addresses of `localhost` that this machine has, in the order in which they are tried.
fn addresses_of_localhost() -> Vec<SocketAddr> {
    let all = match ("localhost", 0).to_socket_addrs() {
        Ok(all) => all,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "localhost is no name here: {error}");
            eprintln!("skipped: localhost is no name here ({error}): it comes with /etc/hosts");
            return Vec::new();
        }
    };
    let there: Vec<_> = all.filter(|address| TcpListener::bind(address).is_ok()).collect();
    assert!(there.iter().any(SocketAddr::is_ipv4), "only an address of version 6 may be missing");
    there
}

fn assert_is_reached(server: &Server) {
    let typed = format!("load --addr localhost:{} --clients 3 --rate 100 --duration 0.2", server.address.port());
    let (code, _, said) = run(txn_engine(&typed));
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_host_is_found_by_name_whichever_of_its_addresses_answers() {
    for address in addresses_of_localhost() {
        assert_is_reached(&Server::start_command(Folder::new(), txn_engine(&format!("serve --addr {address}"))));
    }
}

#[test]
fn a_server_listens_at_the_first_address_of_a_name_that_can_be_had() {
    let there = addresses_of_localhost();
    let Some(first) = there.first() else { return };
    for mode in MODES {
        let server = Server::start_command(Folder::new(), txn_engine(&format!("serve {mode} --addr localhost:0")));
        assert_eq!(server.address.ip(), first.ip());
        assert_is_reached(&server);

        // The second one finds the first address taken, and the one after the last finds none.
        let port = server.address.port();
        let mut servers = vec![server];
        let typed = format!("serve {mode} --addr localhost:{port}");
        for next in &there[1..] {
            let server = Server::start_command(Folder::new(), txn_engine(&typed));
            assert_eq!((server.address.ip(), server.address.port()), (next.ip(), port));
            servers.push(server);
        }
        assert_one_line(txn_engine(&typed), &[&format!("cannot listen on localhost:{port}"), "in use", "--addr"]);
    }
}

#[test]
fn more_connections_than_files_are_one_clear_line() {
    let load = txn_engine_after("ulimit -n 200", "load --clients 1000");
    assert_one_line(load, &["txn_engine: cannot open 1000 connections: 136 are the most here (ulimit -n)\n"]);
}

#[test]
fn clients_that_wait_in_vain_or_are_refused_are_counted_and_the_first_reason_is_told() {
    let full = MODES.map(|mode| (THREE, mode, [("refused", 7), ("unserved", 0)], Value::from(NO_FILES)));
    let pool = ("", "--mode pool --pool 2", [("refused", 0), ("unserved", 8)], Value::Null);
    for (first, mode, counts, reason) in full.into_iter().chain([pool]) {
        let server = Server::start_command(Folder::new(), txn_engine_after(first, &Server::typed(mode)));
        let typed = "--json --clients 10 --rate 150 --duration 0.5 --warm-up 0 --patience 1";
        let outcome = outcome(load(&server, typed), 1);
        assert_eq!(outcome["refusal"], reason, "{outcome}");
        assert_counts(&outcome, &[[("clients", 10), ("rejected", 0)], counts].concat());
        // Their rows were due, too.
        assert!(number(&outcome["failed"]) > 0.0 && number(&outcome["accepted"]) > 0.0, "{outcome}");
        server.stop();
    }
}

#[test]
fn the_same_seed_sends_the_same_rows() {
    let dump = |mode: &str, seed: u64| {
        let server = Server::start(mode);
        let typed = format!("--json --clients 15 --rate 800 --duration 0.4 --warm-up 0.1 --seed {seed}");
        let outcome = outcome(load(&server, &typed), 0);
        assert_counts(&outcome, &[("failed", 0), ("rejected", 0), ("refused", 0), ("unserved", 0)]);
        server.stop().session()
    };
    let first = dump("--mode threads", 4);
    assert!(first.accounts.len() == 15 && first.transactions.len() > 200, "{first:?}");
    assert_eq!(first, dump("--mode tokio", 4));
    assert_ne!(first, dump("--mode tokio", 5));
}

#[test]
fn the_server_ends_up_with_the_rows_that_the_load_says_it_took() {
    for server in Server::in_every_mode("") {
        let load = Load { address: server.address.to_string(), ..LOAD };
        let outcome = load.run(|| {}).expect("the server is there");
        assert_eq!((outcome.rows, outcome.accepted, outcome.failed), (300, 300, 0));
        assert_eq!([&outcome.response, &outcome.service, &outcome.lateness].map(Times::len), [300; 3]);
        assert!(outcome.response.max() >= outcome.service.max());
        let mut text = Vec::new();
        for (client, taken) in outcome.taken.iter().enumerate() {
            let mut script = load.script(client);
            let rows = (0..taken.expect("all are served")).map(|_| script.next_row());
            rows.for_each(|row| row.write(&mut text).expect("a vector takes all"));
        }
        let rows = String::from_utf8(text).expect("rows are text");
        // The first ones, to see whether the connections are served, and those of the warm-up.
        // Their times are sums of floating point numbers: one of them may be late for the warm-up.
        assert!((369..=370).contains(&rows.lines().count()), "{}", rows.lines().count());
        assert_eq!(server.stop().accounts(), accounts_after(&rows));
    }
}

#[test]
fn a_second_load_goes_on_with_higher_ids() {
    let server = Server::start("--mode tokio");
    let typed = "--json --clients 5 --rate 500 --duration 0.2 --warm-up 0";
    outcome(load(&server, typed), 0);
    // Rows that the server has seen are answered, and told apart from those that were applied.
    let again = outcome(load(&server, typed), 0);
    assert!(number(&again["rejected"]) > 0.0, "{again}");
    let further = outcome(load(&server, &format!("{typed} --first-tx 1000000")), 0);
    assert_counts(&further, &[("rejected", 0), ("failed", 0)]);
    server.stop();
}

#[test]
fn the_outcome_can_be_read_by_a_person() {
    let three = txn_engine_after(THREE, &Server::typed("--mode tokio"));
    let server = Server::start_command(Folder::new(), three);
    let typed = "--clients 5 --rate 100 --duration 0.2 --warm-up 0 --arrivals constant";
    let (code, text, said) = load(&server, typed).outcome();
    assert_eq!((code, said.as_str()), (Some(1), ""), "{text}");
    assert!(text.lines().count() > 20 && text.contains(&format!("\n  \"refusal\": \"{NO_FILES}\",\n")), "{text}");
    let outcome: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_counts(&outcome, &[("clients", 5), ("refused", 2), ("unserved", 0)]);
    assert!((19..=20).contains(&outcome["rows"].as_u64().unwrap_or(0)), "{outcome}");
    assert!(
        ["response", "service", "lateness"].iter().all(|times| outcome[*times]["p999_ms"].is_number()),
        "{outcome}"
    );
    server.stop();
}

#[test]
fn clients_in_one_process_come_to_the_same_accounts_as_threads_and_as_tasks() {
    let outcome = |typed: &str| {
        let outcome = outcome(Running::start(txn_engine(&format!("clients --json --clients 50 --as {typed}"))), 0);
        assert!(number(&outcome["work_s"]) <= number(&outcome["whole_s"]), "{outcome}");
        assert_eq!(outcome["accepted"], 50 * 20, "{outcome}");
        outcome
    };
    let (_, text, _) = run(txn_engine("clients --as tasks --clients 50"));
    assert!(text.contains("\n  \"accepted\": 1000,\n"), "{text}");
    let (threads, tasks) = (outcome("threads"), outcome("tasks"));
    assert!(threads["digest"].is_string());
    assert_eq!(threads["digest"], tasks["digest"]);
    assert_ne!(threads["digest"], outcome("tasks --seed 1")["digest"]);
    if cfg!(target_os = "linux") {
        assert!(number(&threads["there"]["threads"]) > 50.0 && number(&tasks["there"]["threads"]) < 50.0, "{tasks}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_had_are_one_line_that_says_why() {
    // A quarter of the maps that a process may have are not enough.
    let maps = std::fs::read_to_string("/proc/sys/vm/max_map_count").expect("Linux says so");
    let threads = maps.trim().parse::<usize>().expect("it is a number") / 4 + 1;
    for typed in [format!("clients --as threads --clients {threads}"), format!("serve --mode pool --pool {threads}")] {
        assert_one_line(txn_engine(&typed), &[&format!("cannot start {threads} threads"), "vm.max_map_count"]);
    }
    let few = txn_engine_after("ulimit -v 500000", "clients --as threads --clients 1000");
    assert_one_line(few, &["cannot start 1000 threads: each reserves ", "488 (ulimit -v)"]);
}

#[test]
fn arrivals_have_the_rate_and_the_spread_of_their_kind() {
    for (arrivals, spread) in [(Arrivals::Poisson, 1.0), (Arrivals::Constant, 0.0)] {
        let load = Load { duration: Duration::from_secs(20), arrivals, ..LOAD };
        let start = Instant::now();
        let times: Vec<f64> = load.schedule(start).map(|(due, _)| (due - start).as_secs_f64()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1e-3).abs() < 5e-5, "{mean}");
        // The standard deviation of an exponential distribution is its mean.
        assert!((variance.sqrt() / mean - spread).abs() < 0.05, "{variance}");
    }
}

#[test]
fn a_client_makes_use_of_every_kind_but_chargebacks() {
    let mut script = Script::new(7, 0, 30, 1);
    let rows: Vec<Row> = (0..10_000).map(|_| script.next_row()).collect();
    let count = |kind| rows.iter().filter(|row| row.kind == kind).count();
    for (kind, most) in [(Kind::Withdrawal, 3000), (Kind::Dispute, 400), (Kind::Resolve, 400)] {
        assert!((100..most).contains(&count(kind)), "{kind:?}: {}", count(kind));
    }
}
