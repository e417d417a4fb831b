//! The client: what it counts, and that nothing it is given passes unchecked.

mod common;

use std::time::Duration;

use common::{options, serve, ticket};
use flight_batches::load::{Connections, Form, Load, Outcome};
use flight_batches::produce::Mode;
use flight_batches::service::Encoding;
use flight_batches::table::{Shape, Table};
use flight_batches::ticket::Ticket;
use tonic::Code;

const SHAPE: Shape = Shape { rows: 1000, columns: 5, seed: 7 };

fn load(ticket: Ticket, requests: usize, form: Form) -> Load {
    Load { ticket, requests, form, first: None, patience: Duration::from_secs(20) }
}

async fn put(endpoint: &str, load: &Load) -> Outcome {
    load.run(&Connections::open(endpoint, 4).await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_batch_of_every_request_is_counted() {
    for encoding in Encoding::ALL {
        let server = serve(SHAPE, options(Mode::Async, 1, encoding), 1).await;
        for (ticket, batches, rows) in [
            (ticket(100, 0.0, None), 10, 1000),
            (ticket(300, 0.0, None), 4, 1000),
            (ticket(300, 0.001, Some(5)), 5, 1500),
        ] {
            let outcome = put(&server.endpoint, &load(ticket, 30, Form::Whole)).await;
            assert_eq!(outcome.failures, []);
            assert_eq!(outcome.batches, 30 * batches);
            assert_eq!(outcome.bytes_per_stream, vec![rows * 5 * 8; 30]);
            assert_eq!(outcome.latency.count(), 30);
            assert_eq!(outcome.first_batch.count(), 30);
            assert_eq!(outcome.gap.count(), 30 * (batches - 1));
            assert!((outcome.fairness() - 1.0).abs() < 1e-9);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_counts_what_arrives_in_it_from_all_streams_at_once() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let form = Form::Window { warm_up: Duration::from_millis(50), window: Duration::from_millis(500) };
    let outcome = put(&server.endpoint, &load(ticket(100, 0.005, Some(10)), 40, form)).await;
    assert_eq!(outcome.failures, []);
    assert_eq!(server.batches.health().most_streams, 40);
    assert!(outcome.bytes_per_stream.iter().all(|&bytes| bytes > 0));
    // Every 5 ms a batch at most, and those that were ready; requests end in the window and are followed by others.
    let most = 40.0 * (outcome.elapsed.as_secs_f64() / 0.005 + 3.0);
    assert!(f64::from(u32::try_from(outcome.batches).unwrap()) <= most, "{} of {most}", outcome.batches);
    assert!(outcome.gap.count() > 0 && outcome.first_batch.count() > 0);
    assert!(outcome.latency.count() > 0);
    assert!(server.batches.health().begun_streams > 40);
    server.streams(0).await;
}

#[tokio::test]
async fn a_wrong_value_or_a_refusal_is_a_failure() {
    let server = serve(SHAPE, options(Mode::Async, 1, Encoding::Stock), 1).await;
    let first = |seed| Some(Table::new(Shape { seed, ..SHAPE }).unwrap().batch(0, 100));
    let right = Load { first: first(7), ..load(ticket(100, 0.0, None), 10, Form::Whole) };
    let outcome = put(&server.endpoint, &right).await;
    assert_eq!(outcome.failures, []);
    assert_eq!(outcome.compared, 10, "of all streams the first message");
    assert_eq!(outcome.row_bytes, Some(40));
    let outcome = put(&server.endpoint, &Load { first: first(8), ..right }).await;
    assert_eq!(outcome.failures.len(), 10);
    assert_eq!(outcome.failures[0].code, Code::DataLoss);
    assert_eq!(outcome.failures[0].reason, "rows 0 to 100 of the first batch are wrong");
    let outcome = put(&server.endpoint, &load(ticket(1001, 0.0, None), 3, Form::Whole)).await;
    assert_eq!(outcome.failures.len(), 3);
    assert_eq!(outcome.failures[0].code, Code::InvalidArgument);
    // In a window, too, and without hammering the server.
    let form = Form::Window { warm_up: Duration::ZERO, window: Duration::from_millis(300) };
    let outcome = put(&server.endpoint, &load(ticket(1001, 0.0, None), 3, form)).await;
    assert!((3..=30).contains(&outcome.failures.len()), "{}", outcome.failures.len());
}

#[tokio::test]
async fn a_server_that_says_nothing_is_a_failure_and_not_a_wait() {
    let server = serve(SHAPE, options(Mode::Async, 0, Encoding::Stock), 1).await;
    let impatient = Load { patience: Duration::from_millis(200), ..load(ticket(100, 60.0, None), 5, Form::Whole) };
    let outcome = put(&server.endpoint, &impatient).await;
    assert_eq!(outcome.failures.len(), 5);
    assert!(outcome.failures.iter().all(|failure| failure.code == Code::DeadlineExceeded), "{:?}", outcome.failures);
}

#[tokio::test]
async fn nobody_there_is_said_with_the_endpoint() {
    let error = Connections::open("http://127.0.0.1:1", 1).await.unwrap_err();
    assert_eq!(error.to_string(), "nobody answers at http://127.0.0.1:1: is the server up?");
    let error = Connections::open("not an endpoint", 1).await.unwrap_err();
    assert!(error.to_string().starts_with("'not an endpoint' is no endpoint"));
}
