//! A channel alone: messages that nobody reads anything into, for the cost of a message.

use std::thread;

use tokio::runtime::Builder;

use crate::error::Error;
use crate::row::{Entry, Kind, Row};

/// Who is at the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// A blocking task of tokio sends, a task receives: the published form.
    Tokio,
    /// Two std threads.
    Threads,
}

/// Sends `count` messages of the size of a row through an unbounded flume channel; returns the sum of their line numbers.
///
/// # Errors
/// If the runtime or a thread fails.
pub fn send(ends: Ends, count: u64) -> Result<u64, Error> {
    let (sender, receiver) = flume::unbounded::<[Entry; 1]>();
    let send = move || {
        for line in 1..=count {
            let row = Row { line, amount: None, tx: 1, client: 1, kind: Kind::Dispute };
            if sender.send([Entry::Row(row)]).is_err() {
                break;
            }
        }
    };
    let died = |message: String| Error::Worker { message };
    match ends {
        Ends::Tokio => {
            let runtime = Builder::new_multi_thread().build().map_err(Error::Runtime)?;
            runtime.block_on(async {
                let sending = tokio::task::spawn_blocking(send);
                let receiving = tokio::spawn(async move {
                    let mut sum = 0;
                    while let Ok([entry]) = receiver.recv_async().await {
                        sum += entry.line();
                    }
                    sum
                });
                sending.await.map_err(|error| died(error.to_string()))?;
                receiving.await.map_err(|error| died(error.to_string()))
            })
        }
        Ends::Threads => thread::scope(|scope| {
            let sending = scope.spawn(send);
            let sum = receiver.into_iter().map(|[entry]| entry.line()).sum();
            sending.join().map_err(|_| died("the sender panicked".to_owned()))?;
            Ok(sum)
        }),
    }
}
