//! The load: so many requests at once, each a real stream, counted over a window of steady state or until all have ended.
//!
//! Batches are counted, checked and dropped. Every message says how many rows it has, and its body must be as long. The first message of
//! every stream is decoded and compared, of a few streams the first batch of every request.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use study_kit::distribution::Distribution;
use tokio::task::JoinSet;
use tonic::Code;

mod connections;
mod counts;
mod stream;

pub use connections::{ConnectError, Connections};
pub use counts::Failure;
use counts::Shared;

use crate::ticket::Ticket;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Load {
    /// By every request.
    pub ticket: Ticket,
    /// Requests in flight, each a stream.
    pub requests: usize,
    /// For how long.
    pub form: Form,
    /// What the first batch must be, if that is known.
    pub first: Option<RecordBatch>,
    /// A stream that brings nothing for so long has failed.
    pub patience: Duration,
}

/// For how long there is load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What arrives in `window` counts, which begins `warm_up` after the last stream was accepted. A request that ends is followed by the
    /// next; those that are in flight at the end are cut off.
    Window {
        /// Not counted.
        warm_up: Duration,
        /// Counted.
        window: Duration,
    },
    /// Every request once, to its end.
    Whole,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The window, or from the first request to the end of the last.
    pub elapsed: Duration,
    /// Until every stream was accepted; zero if nobody waited for that.
    pub accepted: Duration,
    /// Bytes of values that arrived in it.
    pub bytes: u64,
    /// Batches that arrived in it whole.
    pub batches: u64,
    /// Bytes of the values of a row; `None` if nothing arrived or they vary.
    pub row_bytes: Option<usize>,
    /// Messages whose values were compared with what they must be.
    pub compared: u64,
    /// Of requests that ended in it.
    pub latency: Distribution,
    /// From a request that was sent in it to its first batch.
    pub first_batch: Distribution,
    /// Between two batches of a stream that both came in it.
    pub gap: Distribution,
    /// Bytes of every stream.
    pub bytes_per_stream: Vec<u64>,
    /// Requests that failed.
    pub failures: Vec<Failure>,
}

impl Load {
    /// Puts the load on the server behind `connections`.
    ///
    /// Failed requests are counted in the outcome. Whoever asks for a window sees them followed by the next request, a little later.
    pub async fn run(&self, connections: &Connections) -> Outcome {
        let shared = Arc::new(Shared::new(self.requests));
        let mut streams = JoinSet::new();
        let start = Instant::now();
        if self.form == Form::Whole {
            shared.counting.store(true, Ordering::Relaxed);
        }
        for number in 0..self.requests {
            let stream = stream::Stream {
                number,
                client: connections.client(number),
                ticket: self.ticket,
                first: self.first.clone(),
                // A few streams that are looked at closely do not cost what would be measured.
                closely: number < 8,
                patience: self.patience,
                shared: Arc::clone(&shared),
            };
            match self.form {
                Form::Whole => streams.spawn(stream.once()),
                Form::Window { .. } => streams.spawn(stream.again_and_again()),
            };
        }
        let Form::Window { warm_up, window } = self.form else {
            while let Some(ended) = streams.join_next().await {
                if let Err(error) = ended {
                    shared.failed(Failure { code: Code::Internal, reason: error.to_string() });
                }
            }
            return shared.outcome(start.elapsed());
        };
        shared.all_accepted().await;
        // What nobody has looked at should not be counted; a server that sends nothing at all must not hold this up for ever.
        while self.first.is_some() && !shared.anything_compared() && start.elapsed() < self.patience {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let accepted = start.elapsed();
        tokio::time::sleep(warm_up).await;
        shared.counting.store(true, Ordering::Relaxed);
        let begin = Instant::now();
        tokio::time::sleep(window).await;
        shared.counting.store(false, Ordering::Relaxed);
        let elapsed = begin.elapsed();
        let outcome = Outcome { accepted, ..shared.outcome(elapsed) };
        streams.shutdown().await;
        outcome
    }
}

impl Outcome {
    /// Megabytes per second over all streams.
    #[must_use]
    pub fn mb_per_s(&self) -> f64 {
        number(self.bytes) / 1e6 / self.elapsed.as_secs_f64()
    }

    /// How evenly the streams were served: 1 if all got the same, 1/n if one of n got everything (Jain's index).
    #[must_use]
    pub fn fairness(&self) -> f64 {
        let sum: f64 = self.bytes_per_stream.iter().map(|&bytes| number(bytes)).sum();
        let squares: f64 = self.bytes_per_stream.iter().map(|&bytes| number(bytes).powi(2)).sum();
        let streams = number(self.bytes_per_stream.len() as u64);
        if squares > 0.0 { sum * sum / (streams * squares) } else { 0.0 }
    }
}

/// A count as a figure.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts and bytes of one run stay far below 2^53")]
pub fn number(count: u64) -> f64 {
    count as f64
}
