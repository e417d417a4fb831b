//! What a server is made of: when batches are due, and how they are cut into messages.

use std::time::{Duration, Instant};

use arrow_flight::FlightData;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use flight_batches::budget::{Budget, slices};
use flight_batches::produce::Pace;
use flight_batches::table::{Shape, Table};
use flight_batches::uncopied::Message;
use futures::FutureExt;
use futures::stream::{self, StreamExt};

const MS: Duration = Duration::from_millis(1);

#[test]
fn late_timers_do_not_add_up_but_a_producer_that_was_held_up_does_not_catch_up() {
    let start = Instant::now();
    let mut pace = Pace::new(10 * MS, start);
    // Places that are there long before, and places that are late.
    for (free_ms, due_ms) in [(0, 10), (0, 20), (0, 30), (5, 40), (80, 90), (85, 100), (0, 110)] {
        assert_eq!(pace.next(start + free_ms * MS), start + due_ms * MS);
    }
}

#[test]
fn messages_of_all_streams_fit_into_the_memory() {
    const MOST: usize = Budget::MESSAGE_BYTES;
    for (streams, row_bytes, most, bytes) in [
        (1, 400, Budget::DIRECT_MESSAGE_BYTES, Budget::DIRECT_MESSAGE_BYTES),
        (1, 400, MOST, MOST),
        (64, 400, MOST, MOST),
        (256, 400, MOST, 256 << 10),
        // The smallest message, and a row at least.
        (1_000_000, 400, MOST, 64 << 10),
        (1_000_000, 1 << 20, MOST, 1 << 20),
        (0, 1, MOST, MOST),
    ] {
        assert_eq!(Budget::new(64 << 20).rows(streams, row_bytes, most), bytes / row_bytes, "{streams} {row_bytes}");
    }
    assert_eq!(Budget::new(64 << 20).rows(0, 0, MOST), MOST, "rows without a column");
}

#[test]
fn a_message_counts_until_its_last_byte_is_let_go() {
    let budget = Budget::new(100 << 10);
    let piece = || Bytes::from(vec![0; 20 << 10]);
    let messages = [0; 3].map(|_| {
        // Of a table of many columns the header is as long as the values.
        let mut message = Message::from(FlightData { data_header: piece(), ..FlightData::default() });
        message.values.push(piece());
        Ok::<_, ()>(message)
    });
    let mut within = budget.within(stream::iter(messages)).boxed();
    let mut next = || within.next().now_or_never().map(|message| message.unwrap().unwrap());
    // 40 of 100 KiB are taken, and a message may have 64.
    assert_eq!(budget.rows(1, 1, Budget::MESSAGE_BYTES), 100 << 10);
    let first = next().unwrap();
    assert_eq!(budget.rows(1, 1, Budget::MESSAGE_BYTES), 64 << 10, "the least, if less is left");
    assert!(next().is_none());
    let first = FlightData::from(first).data_body.slice(1..2);
    assert!(next().is_none());
    drop(first);
    let second = next().unwrap();
    assert!(next().is_none());
    drop(second);
    assert!(next().is_some());
}

#[test]
fn slices_are_the_batch_again() {
    let table = Table::new(Shape { rows: 1000, columns: 3, seed: 1 }).unwrap();
    for rows in [1, 2, 3, 999, 1000] {
        for most in [1, 2, 7, 400, 999, 1000, 5000] {
            let batch = table.batch(0, rows);
            let pieces: Vec<_> = slices(batch.clone(), || most).collect();
            assert!(pieces.iter().all(|piece| piece.num_rows() <= most));
            assert_eq!(pieces.len(), rows.div_ceil(most), "no more pieces than it takes");
            assert_eq!(concat_batches(&table.schema(), &pieces).unwrap(), batch);
        }
    }
}
