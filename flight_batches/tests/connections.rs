//! Connections that are no streams: clients that say nothing, that are slow to greet, that have nothing to ask for the time being.

#![cfg(feature = "cli")]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{PATIENCE, Program, ask, connect, fetch, program, ticket};
use flight_batches::load::Connections;
use futures::StreamExt;
use nix::sys::signal::Signal;

const SMALL: &str = "--rows 1000 --cols 5";
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Without a setting.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

fn silent(server: &Program, said: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(server.endpoint.trim_start_matches("http://")).unwrap();
    socket.write_all(said).unwrap();
    socket
}

/// Waits until the server has closed it.
fn assert_is_closed(mut socket: &TcpStream) {
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    match socket.read(&mut [0]) {
        Ok(read) => assert_eq!(read, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
}

async fn processor_s(connections: &Connections) -> f64 {
    let process = connections.stats().await.unwrap().process;
    process.user_s.unwrap() + process.system_s.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_do_not_greet_lock_nobody_out_and_are_sent_away() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 48; exec \"$0\" \"$@\""]);
    let line = program(&format!("serve --addr 127.0.0.1:0 {SMALL}"));
    command.arg(line.get_program()).args(line.get_args());
    let server = Program::of(command);
    // It has nothing to ask meanwhile.
    let idle = connect(&server.endpoint, 1).await;
    let before = processor_s(&idle).await;
    let started = Instant::now();
    let said: [&[u8]; 4] = [b"", &PREFACE[..11], PREFACE, &[PREFACE, &SETTINGS[..8]].concat()];
    let silent: Vec<TcpStream> = said.iter().cycle().take(400).map(|said| silent(&server, said)).collect();
    for _ in 0..3 {
        let batches = tokio::time::timeout(PATIENCE, fetch(&server.endpoint, ticket(100, 0.0, None))).await;
        assert_eq!(batches.expect("others are let in").unwrap().len(), 10);
    }
    silent.iter().for_each(assert_is_closed);
    let used = processor_s(&idle).await - before;
    assert!(used < started.elapsed().as_secs_f64() / 2.0, "{used} s of the processor");
    let (status, said) = stopped(server, Signal::SIGTERM);
    assert!(status.success() && said.is_empty(), "{status} {said}");
}

fn stopped(server: Program, signal: Signal) -> (std::process::ExitStatus, String) {
    server.signal(signal);
    server.end()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_greets_slowly_is_served() {
    let server = Program::start(SMALL);
    let mut slow = silent(&server, b"");
    for part in [PREFACE, SETTINGS].concat().chunks(9) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        slow.write_all(part).unwrap();
    }
    slow.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut head = [0; 9];
    slow.read_exact(&mut head).unwrap();
    assert_eq!(head[3], 4, "settings");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_waits_for_nobody_without_a_stream() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        // Longer than a test waits.
        let server = Program::start(&format!("{SMALL} --grace 3600"));
        let silent = [silent(&server, b""), silent(&server, PREFACE)];
        let idle = connect(&server.endpoint, 2).await;
        idle.stats().await.unwrap();
        let (status, said) = stopped(server, signal);
        assert!(status.success() && said.is_empty(), "{signal} {status} {said}");
        silent.iter().for_each(assert_is_closed);
    }
}

#[test]
fn a_client_that_answers_nothing_is_no_stream_that_is_cut_off() {
    let server = Program::start(&format!("{SMALL} --grace 1"));
    let mut socket = silent(&server, &[PREFACE, SETTINGS].concat());
    // By its answer the server has seen the greeting.
    socket.read_exact(&mut [0; 9]).unwrap();
    let (status, said) = stopped(server, Signal::SIGTERM);
    assert!(status.success() && said.is_empty(), "{status} {said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_whose_last_bytes_nobody_reads_is_cut_off() {
    let server = Program::start("--rows 1000000 --cols 5 --grace 1");
    // 40 MB at once, more than the protocol lets the server send.
    let mut stream = ask(&server.endpoint, ticket(1_000_000, 0.0, Some(1))).await.unwrap();
    stream.next().await.unwrap().unwrap();
    let (status, said) = stopped(server, Signal::SIGTERM);
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.ends_with("cut off 1 streams\n"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hangup_that_was_ignored_at_the_start_stays_ignored() {
    let line = program(&format!("serve --addr 127.0.0.1:0 {SMALL}"));
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(line.get_program()).args(line.get_args());
    let server = Program::of(command);
    let mut stream = ask(&server.endpoint, ticket(100, 0.02, None)).await.unwrap();
    server.signal(Signal::SIGHUP);
    while stream.next().await.is_some() {}
    // Still listening.
    assert_eq!(fetch(&server.endpoint, ticket(100, 0.0, None)).await.unwrap().len(), 10);
    let (status, said) = stopped(server, Signal::SIGTERM);
    assert!(status.success() && said.is_empty(), "{status} {said}");
}
