//! A channel alone: messages that nobody reads anything into, for the cost of a message.

use std::thread;

use anyhow::{Result, anyhow, ensure};
use study_kit::{Observation, Span, TestCase};
use tokio::runtime::Builder;
use txn_engine::row::{Entry, Kind, Row};

use crate::cases::Setting;

/// Sends `count` messages of the size of a row through an unbounded flume channel: a blocking task of tokio sends and a task receives, as
/// published, or two std threads do.
pub fn observe(case: &TestCase<'_, Setting>, count: u64) -> Result<Observation> {
    let span = Span::start();
    let seen = if case.arm == "channel_async" { on_tokio(count)? } else { on_threads(count)? };
    let mut metrics = span.end().metrics();
    // The sum of their line numbers.
    let expected = count * (count + 1) / 2;
    ensure!(seen == expected, "wrong answer: counted {seen}, expected {expected}");
    metrics.put("messages_count", count as f64);
    Ok(Observation::new("", metrics))
}

fn on_tokio(count: u64) -> Result<u64> {
    let (sender, receiver) = flume::unbounded();
    let runtime = Builder::new_multi_thread().build()?;
    runtime.block_on(async {
        let sending = tokio::task::spawn_blocking(move || send(count, &sender));
        let receiving = tokio::spawn(async move {
            let mut sum = 0;
            while let Ok([entry]) = receiver.recv_async().await {
                sum += entry.line;
            }
            sum
        });
        sending.await?;
        Ok(receiving.await?)
    })
}

fn on_threads(count: u64) -> Result<u64> {
    let (sender, receiver) = flume::unbounded();
    thread::scope(|scope| {
        let sending = scope.spawn(move || send(count, &sender));
        let sum = receiver.into_iter().map(|[entry]| entry.line).sum();
        sending.join().map_err(|_| anyhow!("the sender panicked"))?;
        Ok(sum)
    })
}

fn send(count: u64, sender: &flume::Sender<[Entry; 1]>) {
    for line in 1..=count {
        let row = Row { amount: None, tx: 1, client: 1, kind: Kind::Dispute };
        if sender.send([Entry { line, row: Ok(row) }]).is_err() {
            break;
        }
    }
}
