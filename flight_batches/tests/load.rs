//! The client: what it counts, and that nothing it is given passes unchecked.

#![cfg(feature = "cli")]

mod common;

use std::time::Duration;

use common::{load, options, serve, ticket};
use flight_batches::load::{Connections, Delivery, Extent, Load};
use flight_batches::produce::Mode;
use flight_batches::service::Encoding;
use flight_batches::table::{Shape, Table};
use strum::VariantArray;
use tonic::Code;

const SHAPE: Shape = Shape { rows: 1000, columns: 5, seed: 7 };

async fn put(endpoint: &str, load: &Load) -> Delivery {
    load.run(&Connections::open(endpoint, 4).await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_batch_of_every_request_is_counted() {
    for &encoding in Encoding::VARIANTS {
        let server = serve(SHAPE, options(Mode::Async, 1, encoding), 1).await;
        for (ticket, batches, rows) in [
            (ticket(100, 0.0, None), 10, 1000),
            (ticket(300, 0.0, None), 4, 1000),
            (ticket(300, 0.001, Some(5)), 5, 1500),
        ] {
            let delivery = put(&server.endpoint, &load(ticket, 30, Extent::Whole)).await;
            assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
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
    let delivery = put(&server.endpoint, &load(ticket(100, 0.005, Some(10)), 40, extent)).await;
    assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
    assert_eq!(server.batches.stats().most_streams, 40);
    assert!(delivery.bytes_per_stream.iter().all(|&bytes| bytes > 0));
    // Every 5 ms a batch at most, and those that were ready; requests end in the window and are followed by others.
    let most = 40.0 * (delivery.elapsed.as_secs_f64() / 0.005 + 3.0);
    assert!(f64::from(u32::try_from(delivery.batches).unwrap()) <= most, "{} of {most}", delivery.batches);
    assert!(!delivery.gap.is_empty() && !delivery.first_batch.is_empty());
    assert!(!delivery.latency.is_empty());
    assert!(server.batches.stats().begun_streams > 40);
    server.streams(0).await;
}

#[tokio::test]
async fn a_window_begins_when_every_stream_has_brought_two_batches_in_one_request_or_in_two() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let extent = Extent::Window { warm_up: Duration::ZERO, window: Duration::from_millis(50) };
    for batches in [5, 1] {
        let delivery = put(&server.endpoint, &load(ticket(100, 0.02, Some(batches)), 4, extent)).await;
        assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
        assert!(delivery.under_way >= Duration::from_millis(40), "{batches} {:?}", delivery.under_way);
    }
}

#[tokio::test]
async fn a_wrong_value_or_a_refusal_is_a_failure() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let first = |seed| Some(Table::new(Shape { seed, ..SHAPE }).unwrap().batch(0, 100));
    let right = Load { first: first(7), ..load(ticket(100, 0.0, None), 10, Extent::Whole) };
    let delivery = put(&server.endpoint, &right).await;
    assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
    assert_eq!(delivery.compared, 10, "of all streams the first message");
    assert_eq!(delivery.row_bytes, Some(40));
    let delivery = put(&server.endpoint, &Load { first: first(8), ..right }).await;
    assert_eq!(delivery.failures.len(), 10);
    assert_eq!(delivery.failures[0].code(), Code::DataLoss);
    assert_eq!(delivery.failures[0].message(), "rows 0 to 100 of the first batch are wrong");
    let delivery = put(&server.endpoint, &load(ticket(1001, 0.0, None), 3, Extent::Whole)).await;
    assert_eq!(delivery.failures.len(), 3);
    assert_eq!(delivery.failures[0].code(), Code::InvalidArgument);
    // In a window, too, and without hammering the server.
    let extent = Extent::Window { warm_up: Duration::ZERO, window: Duration::from_millis(300) };
    let delivery = put(&server.endpoint, &load(ticket(1001, 0.0, None), 3, extent)).await;
    assert!((3..=30).contains(&delivery.failures.len()), "{}", delivery.failures.len());
}
