//! The service: the same table whoever waits for its batches, bad tickets refused, other questions answered. Its client: what it counts, and
//! that nothing it is given passes unchecked.

#![cfg(feature = "cli")]

mod common;

use std::time::{Duration, Instant};

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{Action, FlightClient, FlightData, FlightDescriptor, Ticket as FlightTicket};
use arrow_select::concat::concat_batches;
use common::{PATIENCE, Program, ask, channel, connect, fetch, options, run, serve, streams, ticket};
use flight_batches::load::{Extent, Load};
use flight_batches::produce::Mode;
use flight_batches::serve::Limits;
use flight_batches::service::{Batches, Encoding, Options};
use flight_batches::table::{Shape, Table, checksum};
use flight_batches::ticket::{Ticket, TicketError};
use futures::{StreamExt, TryStreamExt, poll};
use nix::sys::signal::Signal;
use proptest::prelude::*;
use strum::VariantArray;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Code, Request};

const SHAPE: Shape = Shape { rows: 1000, columns: 5, seed: 7 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_wait_serves_the_same_table() {
    let table = Table::new(SHAPE).unwrap();
    let whole = table.batch(0, SHAPE.rows);
    for &mode in Mode::VARIANTS {
        for &encoding in Encoding::VARIANTS {
            for prefetch in [0, 1, 4, usize::MAX] {
                let server = serve(SHAPE, options(mode, prefetch, encoding), 2).await;
                for (records, delay) in [(1000, 0.0), (300, 0.001), (999, 0.0), (70, 0.0005)] {
                    let what = format!("{mode} {encoding} {prefetch} {records}");
                    let batches = fetch(&server.endpoint, ticket(records, delay, None)).await.unwrap();
                    let rows: Vec<usize> = batches.iter().map(arrow_array::RecordBatch::num_rows).collect();
                    let mut want = vec![records; SHAPE.rows / records];
                    want.extend((!SHAPE.rows.is_multiple_of(records)).then_some(SHAPE.rows % records));
                    assert_eq!(rows, want, "{what}");
                    assert_eq!(concat_batches(&table.schema(), &batches).unwrap(), whole, "{what}");
                }
                // Who counts the batches gets full ones, and the table again.
                let batches = fetch(&server.endpoint, ticket(300, 0.0, Some(8))).await.unwrap();
                let full = [0, 300, 600].map(|first| whole.slice(first, 300));
                assert!(batches.iter().eq(full.iter().cycle().take(8)), "{mode} {encoding} {prefetch}");
            }
        }
    }
}

#[tokio::test]
async fn in_a_server_of_somebody_elses_it_serves_the_same() {
    // Columns that are pieces of their own.
    let table = Table::new(Shape { rows: 5000, ..SHAPE }).unwrap();
    for &encoding in Encoding::VARIANTS {
        let batches = Batches::new(table.clone(), options(Mode::Async, 1, encoding), None);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let router = tonic::transport::Server::builder().add_service(FlightServiceServer::new(batches.clone()));
        tokio::spawn(router.serve_with_incoming(TcpListenerStream::new(listener)));
        let fetched = fetch(&endpoint, ticket(2000, 0.0, None)).await.unwrap();
        assert_eq!(concat_batches(&table.schema(), &fetched).unwrap(), table.batch(0, 5000));
        assert_eq!(batches.stats().begun_streams, 1);
    }
}

#[tokio::test]
async fn messages_get_smaller_as_streams_get_more_and_lose_nothing() {
    let shape = Shape { rows: 20_000, columns: 50, seed: 1 };
    let table = Table::new(shape).unwrap();
    let memory = 1 << 20;
    let server = serve(shape, Options { memory, ..options(Mode::Async, 1, Encoding::Stock) }, 1).await;
    let alone = fetch(&server.endpoint, ticket(10_000, 0.0, None)).await.unwrap();
    assert_eq!(alone.iter().map(arrow_array::RecordBatch::num_rows).max(), Some(2500), "1 MiB of 400 bytes");
    let mut held = Vec::new();
    for _ in 0..15 {
        held.push(ask(&server.endpoint, ticket(10_000, 60.0, None)).await.unwrap());
    }
    streams(&server.endpoint, 15).await;
    let among = fetch(&server.endpoint, ticket(10_000, 0.0, None)).await.unwrap();
    assert!(among.iter().all(|piece| piece.num_rows() <= 163), "64 KiB");
    assert_eq!(concat_batches(&table.schema(), &among).unwrap(), table.batch(0, 20_000));
    drop(held);
    streams(&server.endpoint, 0).await;
}

#[tokio::test]
async fn clients_with_their_usual_limits_take_direct_messages_of_any_table() {
    for columns in [1, 50, 5000, 20_000] {
        let shape = Shape { rows: 6_000_000 / 8 / columns, columns, seed: 1 };
        let server = serve(shape, options(Mode::Async, 1, Encoding::Direct), 1).await;
        let batches = fetch(&server.endpoint, ticket(shape.rows, 0.0, None)).await.unwrap();
        assert_eq!(
            concat_batches(&batches[0].schema(), &batches).unwrap(),
            Table::new(shape).unwrap().batch(0, shape.rows)
        );
    }
}

#[test]
fn only_requests_for_the_same_size_wait_for_shared_messages() {
    let runtime = Builder::new_multi_thread().max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let table = Table::new(Shape { columns: 50, ..SHAPE }).unwrap();
        let batches = Batches::new(table, options(Mode::Async, 1, Encoding::Shared), None);
        let ask = |rows| batches.do_get(Request::new(FlightTicket::new(ticket(rows, 0.0, None).to_bytes())));
        // The only thread that encodes is busy.
        let (free, freed) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || freed.recv());
        let mut first = ask(300);
        assert!(poll!(&mut first).is_pending());
        let other = tokio::time::timeout(PATIENCE, ask(400)).await.expect("not held up").unwrap();
        let mut same = ask(300);
        assert!(poll!(&mut same).is_pending());
        // Who asked first leaves, and who waits is served.
        drop(first);
        free.send(()).unwrap();
        busy.await.unwrap().unwrap();
        for answer in [other, same.await.unwrap(), ask(500).await.unwrap()] {
            let messages: Vec<FlightData> = answer.into_inner().try_collect().await.unwrap();
            let bytes: usize = messages.iter().map(|message| message.data_body.len()).sum();
            assert!((400_000..450_000).contains(&bytes), "{bytes}");
        }
    });
}

#[tokio::test]
async fn a_pool_serves_requests_in_the_order_of_their_arrival() {
    let server = serve(SHAPE, options(Mode::Pool, 0, Encoding::Stock), 1).await;
    let mut requests = tokio::task::JoinSet::new();
    for number in 0..5 {
        let endpoint = server.endpoint.clone();
        requests.spawn(async move {
            fetch(&endpoint, ticket(500, 0.1, None)).await.unwrap();
            number
        });
        while server.batches.stats().begun_streams <= number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let mut ended = Vec::new();
    while let Some(number) = requests.join_next().await {
        ended.push(number.unwrap());
    }
    assert_eq!(ended, [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_client_that_leaves_frees_its_stream_and_its_thread() {
    for mode in [Mode::Async, Mode::Sync, Mode::Pool, Mode::SpawnBlocking] {
        let server = serve(SHAPE, options(mode, 0, Encoding::Stock), 1).await;
        for delay in [0.0, 0.001, 30.0] {
            for _ in 0..3 {
                let mut stream = ask(&server.endpoint, ticket(1, delay, None)).await.unwrap();
                if delay < 1.0 {
                    stream.next().await.unwrap().unwrap();
                }
            }
        }
        streams(&server.endpoint, 0).await;
        // The one thread of the pool is free again, too.
        assert_eq!(fetch(&server.endpoint, ticket(1000, 0.0, None)).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_stop_reading_do_not_hold_up_the_others() {
    let shape = Shape { rows: 40_000, columns: 50, seed: 0 };
    for mode in [Mode::Async, Mode::Sync] {
        let server = serve(shape, options(mode, 1, Encoding::Stock), 1).await;
        let mut slow = Vec::new();
        for _ in 0..50 {
            let mut stream = ask(&server.endpoint, ticket(10_000, 0.0, Some(1000))).await.unwrap();
            stream.next().await.unwrap().unwrap();
            slow.push(stream);
        }
        for _ in 0..5 {
            let batches = fetch(&server.endpoint, ticket(10_000, 0.0, None)).await.unwrap();
            assert_eq!(batches.iter().map(arrow_array::RecordBatch::num_rows).sum::<usize>(), 40_000);
        }
        streams(&server.endpoint, 50).await;
        drop(slow);
        streams(&server.endpoint, 0).await;
    }
}

/// On a connection that is there a client may ask until it knows.
#[tokio::test]
async fn nobody_gets_a_stream_of_a_server_that_stops() {
    let batches = Batches::new(Table::new(SHAPE).unwrap(), options(Mode::Async, 1, Encoding::Direct), None);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    assert!(flight_batches::serve::serve(listener, batches.clone(), Limits::default(), async {}).await);
    let asked = batches.do_get(Request::new(FlightTicket::new(ticket(100, 0.0, None).to_bytes())));
    let status = asked.await.err().unwrap();
    assert_eq!((status.code(), status.message()), (Code::Unavailable, "the server is stopping"));
}

#[tokio::test]
async fn a_bad_ticket_is_refused_with_the_reason() {
    let server = serve(SHAPE, options(Mode::Async, 0, Encoding::Stock), 1).await;
    let mut client = FlightServiceClient::new(channel(&server.endpoint).await);
    for (text, reason) in [
        ("", "the ticket is not JSON like {\"records_per_batch\""),
        ("{", "EOF"),
        ("{}", "missing field `records_per_batch`"),
        ("[1]", "the ticket is not JSON"),
        ("{\"records_per_batch\": 0}", "records_per_batch is 0: a batch has 1 to 1000 rows"),
        ("{\"records_per_batch\": 1001}", "records_per_batch is 1001: a batch has 1 to 1000 rows"),
        ("{\"records_per_batch\": -1}", "invalid value"),
        ("{\"records_per_batch\": 1e99}", "the ticket is not JSON"),
        ("{\"records_per_batch\": 1, \"batch_generation_delay\": -0.1}", "batch_generation_delay is -0.1"),
        ("{\"records_per_batch\": 1, \"batch_generation_delay\": 1e300}", "it is 0 to 3600 seconds"),
        ("{\"records_per_batch\": 1, \"batch_generation_delay\": null}", "invalid type: null"),
        ("{\"records_per_batch\": 1, \"batches\": 0}", "batches is 0"),
        ("{\"records_per_batch\": 1, \"delay\": 1}", "unknown field `delay`"),
    ] {
        let answer = client.do_get(FlightTicket::new(text.as_bytes().to_vec())).await;
        let status = answer.err().unwrap_or_else(|| panic!("{text:?} was served"));
        assert_eq!(status.code(), Code::InvalidArgument, "{text}");
        assert!(status.message().contains(reason), "{text}: {}", status.message());
    }
    assert_eq!(server.batches.stats().begun_streams, 0);
}

/// The text of a refusal goes out in a header: one that quotes all of a long ticket would end the connection.
#[tokio::test]
async fn a_long_bad_ticket_costs_no_other_stream_of_the_connection() {
    let server = serve(SHAPE, options(Mode::Async, 0, Encoding::Stock), 1).await;
    let channel = channel(&server.endpoint).await;
    let mut client = FlightServiceClient::new(channel.clone());
    let good = FlightTicket::new(ticket(100, 0.01, Some(50)).to_bytes());
    let mut stream = client.do_get(good).await.unwrap().into_inner();
    stream.message().await.unwrap().unwrap();
    for long in ["x".repeat(3_000_000), "\u{1F980}".repeat(100_000)] {
        for text in [format!("{{\"{long}\": 1}}"), format!("{{\"records_per_batch\": \"{long}\"}}")] {
            let status = client.do_get(FlightTicket::new(text.into_bytes())).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument, "{status}");
            assert!(status.message().starts_with("the ticket is not JSON") && status.message().ends_with('…'));
        }
        let status = client.do_action(arrow_flight::Action::new(long, "")).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
    }
    let mut messages = 1;
    while stream.message().await.unwrap().is_some() {
        messages += 1;
    }
    assert!(messages > 50, "{messages}");
}

proptest! {
    #[test]
    fn a_ticket_is_read_as_it_was_written(
        records in 1_usize..5000,
        delay in prop_oneof![Just(0.0), 0.0..3600.0_f64, Just(f64::NAN), Just(-1.0), Just(1e9)],
        batches in proptest::option::of(0_usize..10),
    ) {
        let ticket = Ticket { records_per_batch: records, batch_generation_delay: delay, batches };
        match Ticket::parse(&ticket.to_bytes(), 1000) {
            Ok(read) => {
                // A decimal number may differ in its last bit.
                let difference = (read.batch_generation_delay - delay).abs();
                prop_assert!(difference <= delay * f64::EPSILON);
                prop_assert_eq!(Ticket { batch_generation_delay: delay, ..read }, ticket);
            }
            Err(TicketError::Rows { given, most: 1000 }) => prop_assert_eq!(given, records),
            Err(TicketError::NoBatches) => prop_assert_eq!(batches, Some(0)),
            Err(_) => prop_assert!(!(0.0..=3600.0).contains(&delay)),
        }
    }
}

#[tokio::test]
async fn the_flight_describes_itself() {
    let server = serve(SHAPE, options(Mode::Async, 0, Encoding::Stock), 1).await;
    let mut client = FlightClient::new(channel(&server.endpoint).await);
    let flights: Vec<_> = client.list_flights("").await.unwrap().try_collect().await.unwrap();
    assert_eq!(flights.len(), 1);
    let info = client.get_flight_info(FlightDescriptor::new_path(vec!["table".to_owned()])).await.unwrap();
    assert_eq!(info, flights[0]);
    assert_eq!((info.total_records, info.total_bytes), (1000, 1000 * 5 * 8));
    let schema = client.get_schema(FlightDescriptor::new_path(vec!["table".to_owned()])).await.unwrap();
    assert_eq!(schema, *Table::new(SHAPE).unwrap().schema());
    // Its own ticket is good for the table.
    let given = info.endpoint[0].ticket.clone().unwrap();
    let batches: Vec<_> = client.do_get(given).await.unwrap().try_collect().await.unwrap();
    assert_eq!(batches.iter().map(checksum).sum::<i64>(), checksum(&Table::new(SHAPE).unwrap().batch(0, 1000)));
    let unknown = client.get_flight_info(FlightDescriptor::new_cmd("other")).await.unwrap_err();
    assert!(unknown.to_string().contains("there is one flight"), "{unknown}");
    let actions: Vec<_> = client.list_actions().await.unwrap().try_collect().await.unwrap();
    assert_eq!(actions[0].r#type, "stats");
    assert!(client.do_action(Action::new("shutdown", "")).await.is_err());
}

#[tokio::test]
async fn timers_are_late_but_lateness_does_not_add_up() {
    futures::future::join_all([Mode::Async, Mode::Sync].map(|mode| async move {
        let server = Program::start(&format!("--rows 1000 --cols 5 --prefetch all --mode {mode}"));
        let connections = connect(&server.endpoint, 1).await;
        let start = Instant::now();
        fetch(&server.endpoint, ticket(10, 1.0, Some(2))).await.unwrap();
        // A timer that is due already is not waited for, but no machine stalls for a second.
        let undisturbed = connections.stats().await.unwrap();
        assert_eq!(undisturbed.timers, 2, "{mode:?}");
        assert!(undisturbed.most_lateness_ns >= undisturbed.mean_lateness_ns);
        // No batch comes before it is due.
        assert!(start.elapsed() >= Duration::from_secs(2));

        let start = Instant::now();
        let mut stream = ask(&server.endpoint, ticket(10, 0.1, Some(20))).await.unwrap();
        stream.next().await.unwrap().unwrap();
        // About ten batches become due while the server stands still. They come at once then, without a timer of their own, which they
        // would not if the late timer had pushed them. A machine that stalls besides makes them only more.
        server.signal(Signal::SIGSTOP);
        tokio::time::sleep(Duration::from_secs(1)).await;
        server.signal(Signal::SIGCONT);
        assert_eq!(stream.try_collect::<Vec<_>>().await.unwrap().len(), 19);
        let timers = connections.stats().await.unwrap().timers - undisturbed.timers;
        assert!((1..=15).contains(&timers), "{mode:?}: {timers} timers for 20 batches");
        assert!(start.elapsed() >= Duration::from_secs(2));
    }))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_batch_of_every_request_is_counted() {
    for &encoding in Encoding::VARIANTS {
        let server = serve(SHAPE, options(Mode::Async, 1, encoding), 1).await;
        let connections = connect(&server.endpoint, 4).await;
        for (ticket, batches, rows) in [
            (ticket(100, 0.0, None), 10, 1000),
            (ticket(300, 0.0, None), 4, 1000),
            (ticket(300, 0.001, Some(5)), 5, 1500),
        ] {
            let delivery = run(&Load::new(ticket, 30, Extent::Whole), &connections).await;
            assert_eq!(delivery.batches, 30 * batches);
            assert_eq!(delivery.bytes_per_stream, vec![rows * 5 * 8; 30]);
            assert_eq!(delivery.latency.len(), 30);
            assert_eq!(delivery.first_batch.len(), 30);
            assert_eq!(delivery.gap.len(), 30 * (batches - 1));
            assert!((delivery.fairness() - 1.0).abs() < 1e-9);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_counts_what_arrives_in_it_from_all_streams_at_once() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let extent = Extent::Window { warm_up: Duration::from_millis(50), window: Duration::from_millis(500) };
    let load = Load::new(ticket(100, 0.005, Some(10)), 40, extent);
    let delivery = run(&load, &connect(&server.endpoint, 4).await).await;
    assert_eq!(server.batches.stats().most_streams, 40);
    assert!(delivery.bytes_per_stream.iter().all(|&bytes| bytes > 0));
    // Every 5 ms a batch at most, and those that were ready; requests end in the window and are followed by others.
    let most = 40.0 * (delivery.elapsed.as_secs_f64() / 0.005 + 3.0);
    assert!(f64::from(u32::try_from(delivery.batches).unwrap()) <= most, "{} of {most}", delivery.batches);
    assert!(!delivery.gap.is_empty() && !delivery.first_batch.is_empty());
    assert!(!delivery.latency.is_empty());
    assert!(server.batches.stats().begun_streams > 40);
    streams(&server.endpoint, 0).await;
}

#[tokio::test]
async fn a_window_begins_when_every_stream_has_brought_two_batches_in_one_request_or_in_two() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let extent = Extent::Window { warm_up: Duration::ZERO, window: Duration::from_millis(50) };
    let connections = connect(&server.endpoint, 4).await;
    for batches in [5, 1] {
        let start = Instant::now();
        let delivery = run(&Load::new(ticket(100, 0.02, Some(batches)), 4, extent), &connections).await;
        let took = start.elapsed();
        assert!(took >= delivery.elapsed + Duration::from_millis(40), "{batches} {took:?}");
    }
}

#[tokio::test]
async fn a_wrong_value_or_a_refusal_is_a_failure() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let first = |seed| Some(Table::new(Shape { seed, ..SHAPE }).unwrap().batch(0, 100));
    let right = Load { first: first(7), ..Load::new(ticket(100, 0.0, None), 10, Extent::Whole) };
    let connections = connect(&server.endpoint, 4).await;
    let delivery = run(&right, &connections).await;
    assert_eq!(delivery.compared, 10, "of all streams the first message");
    assert_eq!(delivery.row_bytes, Some(40));
    let delivery = Load { first: first(8), ..right }.run(&connections).await;
    assert_eq!(delivery.failures.len(), 10);
    assert_eq!(delivery.failures[0].code(), Code::DataLoss);
    assert_eq!(delivery.failures[0].message(), "rows 0 to 100 of the first batch are wrong");
    let delivery = Load::new(ticket(1001, 0.0, None), 3, Extent::Whole).run(&connections).await;
    assert_eq!(delivery.failures.len(), 3);
    assert_eq!(delivery.failures[0].code(), Code::InvalidArgument);
    // In a window, too, and without hammering the server.
    let extent = Extent::Window { warm_up: Duration::ZERO, window: Duration::from_millis(300) };
    let delivery = Load::new(ticket(1001, 0.0, None), 3, extent).run(&connections).await;
    assert!((3..=30).contains(&delivery.failures.len()), "{}", delivery.failures.len());
}
