//! The load: so many requests at once, each a real stream, counted over a window of steady state or until all have ended.
//!
//! Every message must be as long as its rows; the first of every stream is decoded and compared, of a few streams the first batch of every request.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use tokio::task::JoinSet;

mod connections;
mod delivery;
mod stream;

pub use connections::{ConnectError, Connections};
use delivery::Shared;
pub use delivery::{Delivery, quantile_s};

use crate::ticket::Ticket;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Load {
    pub ticket: Ticket,
    /// Requests in flight, each a stream.
    pub requests: usize,
    pub extent: Extent,
    /// What the first batch must be, if that is known.
    pub first: Option<RecordBatch>,
    /// What a request for the whole table must bring, if that is known.
    pub table_rows: Option<usize>,
    /// A stream that brings nothing for so long has failed.
    pub patience: Duration,
    /// Whether a request keeps what came until its end, as a client does that reads a table; else a message is dropped once it is checked.
    pub keeps: bool,
    /// The first requests of the streams are spread evenly over so long.
    pub spread: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What arrives in `window` counts, which begins `warm_up` after the last stream has brought its second batch. A request that ends is
    /// followed by the next; those that are in flight at the end are cut off.
    Window { warm_up: Duration, window: Duration },
    /// Every request once, to its end.
    Whole,
}

impl Load {
    /// So many requests for `ticket`, all at once, patient for a minute; of what comes nothing is known before and nothing kept.
    pub fn new(ticket: Ticket, requests: usize, extent: Extent) -> Self {
        let (patience, spread) = (Duration::from_mins(1), Duration::ZERO);
        Load { ticket, requests, extent, first: None, table_rows: None, patience, keeps: false, spread }
    }

    /// Puts the load on the server behind `connections`. In a window a failed request is followed by the next, a little later.
    pub async fn run(&self, connections: &Connections) -> Delivery {
        let shared = Arc::new(Shared::new(self.requests, self.extent == Extent::Whole));
        let mut streams = JoinSet::new();
        let start = Instant::now();
        for number in 0..self.requests {
            let (client, shared) = (connections.client(number), Arc::clone(&shared));
            let stream = stream::Stream { number, client, load: self.clone(), shared };
            let wait = self.spread.mul_f64(number as f64 / self.requests as f64);
            streams.spawn(async move {
                // tokio's timer rounds up to a millisecond: who need not wait asks it for nothing.
                if !wait.is_zero() {
                    tokio::time::sleep(wait.saturating_sub(start.elapsed())).await;
                }
                stream.run().await;
            });
        }
        let Extent::Window { warm_up, window } = self.extent else {
            streams.join_all().await;
            return shared.take(start);
        };
        // Never closed, so that waiting does not fail.
        let _ = shared.under_way.acquire_many(u32::try_from(self.requests).unwrap_or(u32::MAX)).await;
        // What nobody has looked at should not be counted; a server that sends nothing at all must not hold this up for ever.
        while self.first.is_some() && shared.delivery().compared == 0 && start.elapsed() < self.patience {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(warm_up).await;
        shared.counting.store(true, Ordering::Relaxed);
        let begin = Instant::now();
        tokio::time::sleep(window).await;
        shared.counting.store(false, Ordering::Relaxed);
        let delivery = shared.take(begin);
        streams.shutdown().await;
        delivery
    }
}
