//! The program as a server: signals, a port that is taken, two thousand streams, an end in the middle of a measurement.

#![cfg(feature = "cli")]

mod common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use arrow_flight::flight_service_server::FlightServiceServer;
use common::{Program, channel, fetch, program, ticket};
use flight_batches::load::{Connections, Extent, Load};
use flight_batches::service::Batches;
use futures::StreamExt;
use nix::sys::signal::Signal;
use tonic::Code;
use tonic::server::NamedService;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

const SMALL: &str = "--rows 1000 --cols 5";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

#[test]
fn an_interrupt_finishes_the_streams_in_flight() {
    for (mode, signal) in [("async", Signal::SIGINT), ("sync", Signal::SIGTERM)] {
        let server = Program::start(&format!("{SMALL} --mode {mode}"));
        let runtime = runtime();
        let channel = runtime.block_on(channel(&server.endpoint));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let stream = runtime.spawn({
            let channel = channel.clone();
            async move {
                let mut client = arrow_flight::FlightClient::new(channel);
                let asked = client.do_get(arrow_flight::Ticket::new(ticket(100, 0.05, None).to_bytes()));
                let mut stream = asked.await.unwrap();
                stream.next().await.unwrap().unwrap();
                begun.send(()).unwrap();
                let mut batches = 1;
                while let Some(batch) = stream.next().await {
                    assert_eq!(batch.unwrap().num_rows(), 100);
                    batches += 1;
                }
                batches
            }
        });
        has_begun.recv().unwrap();
        server.signal(signal);
        assert_eq!(runtime.block_on(stream).unwrap(), 10, "{mode}");
        drop(channel);
        runtime.shutdown_background();
        let (status, said) = server.end();
        assert!(status.success(), "{status}");
        assert_eq!(said, "finishing 1 streams for at most 10 s; interrupt once more to cut them off\n");
    }
}

#[test]
fn a_second_interrupt_cuts_them_off() {
    let server = Program::start(SMALL);
    let runtime = runtime();
    let endpoint = server.endpoint.clone();
    let stream = runtime.spawn(async move { fetch(channel(&endpoint).await, &ticket(1, 600.0, None)).await });
    let connections = runtime.block_on(Connections::open(&server.endpoint, 1)).unwrap();
    while runtime.block_on(connections.stats()).unwrap().streams == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut server = server;
    // The second one counts once the first was seen, however long that takes.
    while server.child.try_wait().unwrap().is_none() {
        server.signal(Signal::SIGINT);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(runtime.block_on(stream).unwrap().is_err());
    let (status, said) = server.end();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.ends_with("cut off 1 streams\n"), "{said}");
}

#[test]
fn streams_that_outlast_the_grace_are_cut_off_and_nobody_is_let_in_meanwhile() {
    let server = Program::start(&format!("{SMALL} --grace 1"));
    let runtime = runtime();
    let endpoint = server.endpoint.clone();
    let stream = runtime.spawn(async move { fetch(channel(&endpoint).await, &ticket(1, 600.0, None)).await });
    let connections = runtime.block_on(Connections::open(&server.endpoint, 1)).unwrap();
    let mut health = HealthClient::new(runtime.block_on(channel(&server.endpoint)));
    let service = FlightServiceServer::<Batches>::NAME;
    for name in ["", service] {
        let asked = health.check(HealthCheckRequest { service: name.to_owned() });
        assert_eq!(runtime.block_on(asked).unwrap().into_inner().status(), ServingStatus::Serving, "{name}");
    }
    // Somebody who watches is told, and not waited for.
    let watch = health.watch(HealthCheckRequest { service: service.to_owned() });
    let mut watched = runtime.block_on(watch).unwrap().into_inner();
    assert_eq!(runtime.block_on(watched.message()).unwrap().unwrap().status(), ServingStatus::Serving);
    while runtime.block_on(connections.stats()).unwrap().streams == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    server.signal(Signal::SIGTERM);
    assert_eq!(runtime.block_on(watched.message()).unwrap().unwrap().status(), ServingStatus::NotServing);
    while runtime.block_on(Connections::open(&server.endpoint, 1)).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let (status, said) = server.end();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.ends_with("cut off 1 streams\n"), "{said}");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert!(runtime.block_on(stream).unwrap().is_err());
}

#[test]
fn who_only_watches_the_health_does_not_hold_up_the_end() {
    let server = Program::start(&format!("{SMALL} --grace 600"));
    let runtime = runtime();
    let mut health = HealthClient::new(runtime.block_on(channel(&server.endpoint)));
    let watch = health.watch(HealthCheckRequest::default());
    let _watched = runtime.block_on(watch).unwrap();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn a_connection_has_so_many_streams_at_once_and_others_wait() {
    let server = Program::start(&format!("{SMALL} --streams-per-connection 3"));
    let runtime = runtime();
    for (connections, most) in [(1, 3), (2, 6)] {
        let connections = runtime.block_on(Connections::open(&server.endpoint, connections)).unwrap();
        let load = Load {
            ticket: ticket(100, 0.05, Some(2)),
            requests: 20,
            extent: Extent::Whole,
            first: None,
            patience: Duration::from_mins(1),
        };
        let delivery = runtime.block_on(load.run(&connections));
        assert_eq!((delivery.failures, delivery.batches), (Vec::new(), 40));
        assert_eq!(runtime.block_on(connections.stats()).unwrap().most_streams, most);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn clients_that_do_not_read_take_no_more_memory_than_they_may() {
    const CLIENTS: usize = 500;
    // Each stream has its least message, and a connection costs some KiB; the allocator keeps some of what was freed. Seen: 116 to 140 MB.
    const MOST_KIB: u64 = (64 << 10) + CLIENTS as u64 * (64 + 48) + (32 << 10);
    for encoding in ["direct", "stock", "shared"] {
        let server = Program::start(&format!("--rows 20000 --cols 50 --memory 64 --encoding {encoding}"));
        let runtime = runtime();
        let connections = runtime.block_on(Connections::open(&server.endpoint, 1)).unwrap();
        let peak = || runtime.block_on(connections.stats()).unwrap().process.peak_rss_kib.unwrap();
        // One ordinary request first: its threads and buffers, and the encoded table.
        runtime.block_on(async { fetch(channel(&server.endpoint).await, &ticket(10_000, 0.0, None)).await }).unwrap();
        let before = peak();
        // They have windows of many MiB, so that it is not the protocol that bounds the server, and then they stand still.
        let out = tempfile::tempdir().unwrap();
        let line = format!(
            "bench --endpoint {} --delays 0 --rows 10000 --requests {CLIENTS} --connections {CLIENTS} --batches 10000 \
             --window 600 --out {}",
            server.endpoint,
            out.path().join("results.csv").display()
        );
        let mut clients = Program { child: program(&line).spawn().unwrap(), endpoint: String::new() };
        while runtime.block_on(connections.stats()).unwrap().streams < CLIENTS {
            assert!(clients.child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
        clients.signal(Signal::SIGSTOP);
        let mut highest = 0;
        while peak() > highest {
            highest = peak();
            std::thread::sleep(Duration::from_secs(2));
        }
        let grown = highest - before;
        assert!(grown <= MOST_KIB, "{encoding}: {grown} KiB, more than {MOST_KIB}");
        // Others are served meanwhile.
        let others =
            runtime.block_on(async { fetch(channel(&server.endpoint).await, &ticket(10_000, 0.0, None)).await });
        assert_eq!(others.unwrap().iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>(), 20_000);
    }
}

#[test]
fn a_port_that_is_taken_is_one_clear_line() {
    let server = Program::start(SMALL);
    let address = server.endpoint.strip_prefix("http://").unwrap();
    let output = program(&format!("serve {SMALL} --addr {address}")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    let start = format!("flight_batches: cannot listen on {address}: choose another with --addr: ");
    assert!(said.starts_with(&start) && said.ends_with('\n') && said.lines().count() == 1, "{said:?}");
}

#[test]
fn a_server_whose_starter_goes_goes_too() {
    let mut command = program(&format!("serve --addr 127.0.0.1:0 {SMALL} --until-stdin-closes"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_server_that_dies_is_failures_and_not_a_wait() {
    for window in [true, false] {
        let mut server = Program::start(SMALL);
        let runtime = runtime();
        let connections = runtime.block_on(Connections::open(&server.endpoint, 4)).unwrap();
        let extent = if window {
            Extent::Window { warm_up: Duration::from_millis(100), window: Duration::from_secs(5) }
        } else {
            Extent::Whole
        };
        let load = Load {
            ticket: ticket(1, 0.01, None),
            requests: 40,
            extent,
            first: None,
            patience: Duration::from_secs(20),
        };
        let aside = connections.clone();
        let running = runtime.spawn(async move { load.run(&connections).await });
        while runtime.block_on(aside.stats()).unwrap().streams < 40 {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(600));
        server.child.kill().unwrap();
        let delivery = runtime.block_on(running).unwrap();
        assert!(delivery.failures.len() >= 40, "{:?}", delivery.failures);
        assert!(delivery.batches > 0, "what arrived before counts");
    }
}

#[test]
fn a_server_that_stands_still_is_failures_and_not_a_wait() {
    let server = Program::start(SMALL);
    let runtime = runtime();
    let connections = runtime.block_on(Connections::open(&server.endpoint, 4)).unwrap();
    let patience = Duration::from_secs(1);
    let load = Load { ticket: ticket(1, 0.01, None), requests: 10, extent: Extent::Whole, first: None, patience };
    let running = runtime.spawn(async move { load.run(&connections).await });
    std::thread::sleep(Duration::from_millis(500));
    server.signal(Signal::SIGSTOP);
    let delivery = runtime.block_on(running).unwrap();
    server.signal(Signal::SIGCONT);
    assert_eq!(delivery.failures.len(), 10);
    assert!(delivery.failures.iter().all(|failure| failure.code == Code::DeadlineExceeded), "{:?}", delivery.failures);
}

#[test]
fn bad_tickets_and_clients_that_leave_or_stop_reading_do_not_grow_the_server() {
    let server = Program::start("--rows 20000 --cols 50 --mode sync");
    let runtime = runtime();
    let connections = runtime.block_on(Connections::open(&server.endpoint, 4)).unwrap();
    let peak = || runtime.block_on(connections.stats()).unwrap().process.peak_rss_kib;
    let ask = |ticket: Vec<u8>, stream: usize| {
        let mut client = connections.client(stream);
        runtime.block_on(async { client.do_get(arrow_flight::Ticket::new(ticket)).await })
    };
    // Messages, connections and threads of ordinary service first.
    let load = Load {
        ticket: ticket(10_000, 0.001, None),
        requests: 50,
        extent: Extent::Whole,
        first: None,
        patience: Duration::from_mins(1),
    };
    assert_eq!(runtime.block_on(load.run(&connections)).failures, []);
    let before = peak();
    for number in 0..10_000 {
        assert!(ask(format!("{{\"records_per_batch\": {number}, \"rows\": 1}}").into_bytes(), number).is_err());
    }
    for number in 0..200 {
        let mut messages = ask(ticket(10_000, 0.0, Some(1000)).to_bytes(), number).unwrap().into_inner();
        runtime.block_on(messages.message()).unwrap().unwrap();
    }
    let mut slow = Vec::new();
    for number in 0..20 {
        let mut messages = ask(ticket(10_000, 0.0, Some(1000)).to_bytes(), number).unwrap().into_inner();
        runtime.block_on(messages.message()).unwrap().unwrap();
        slow.push(messages);
    }
    let others = runtime.block_on(Connections::open(&server.endpoint, 4)).unwrap();
    let delivery = runtime.block_on(load.run(&others));
    assert_eq!(delivery.failures, [], "the others are served");
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after <= before + (128 << 10), "{before} KiB grew to {after}");
    }
}

#[test]
fn two_thousand_streams_of_large_batches_fit_into_memory() {
    // 10,000 rows of 50 columns, as published: 4 MB a batch, 8 GB if every stream held one.
    for mode in ["async", "sync"] {
        let server = Program::start(&format!("--rows 20000 --cols 50 --mode {mode}"));
        let runtime = runtime();
        let connections = runtime.block_on(Connections::open(&server.endpoint, 32)).unwrap();
        // The first batches come after all have asked, even of a slow machine.
        let load = Load {
            ticket: ticket(10_000, 5.0, Some(1)),
            requests: 2000,
            extent: Extent::Whole,
            first: None,
            patience: Duration::from_mins(2),
        };
        let start = Instant::now();
        let delivery = runtime.block_on(load.run(&connections));
        assert_eq!(delivery.failures, [], "{mode}, after {:?}", start.elapsed());
        assert_eq!(delivery.batches, 2000);
        assert_eq!(delivery.bytes, 2000 * 4_000_000);
        let stats = runtime.block_on(connections.stats()).unwrap();
        assert_eq!(stats.most_streams, 2000);
        if let Some(peak) = stats.process.peak_rss_kib {
            assert!(peak <= (8 + 1536) << 10, "{mode}: {peak} KiB");
        }
    }
}
