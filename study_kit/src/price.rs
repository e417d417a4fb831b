//! What one handoff costs: the loop that all prices share.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::output::unknown;
use crate::record::Observation;
use crate::usage::Span;

/// A call this long takes a thousand times as long as reading the clock and entering a runtime.
const CALL: Duration = Duration::from_millis(10);
/// The timed span of a run. Twice as long would make no figure surer: processes differ by more.
const SPAN: Duration = Duration::from_millis(100);

/// An arm of a price: its name, and what observes it.
pub type Arm = (&'static str, fn() -> Result<Observation>);
/// The arms of a price.
pub type Table = &'static [Arm];

pub fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Result<T> {
    let found = table.iter().find(|(arm, _)| *arm == name).map(|(_, how)| *how);
    found.ok_or_else(|| unknown("arm", name, table.iter().map(|(arm, _)| *arm)))
}

pub fn observe_arm(table: Table, name: &str) -> Result<Observation> {
    find(table, name)?()
}

/// How many of `count` handoffs the caller of that number makes, if all of the callers make as many but for one.
pub fn share(count: u64, callers: u64, caller: u64) -> u64 {
    count / callers + u64::from(caller < count % callers)
}

/// Makes handoffs for a tenth of a second and observes what one took: `handoff_ns` (wall time), `handoff_cpu_ns` (processor time of all
/// threads) and `handoffs_count`. `make(count)` makes `count` of them, one after the other or however many at once the price is about.
pub fn observe(make: impl FnMut(u64) -> Result<()>) -> Result<Observation> {
    observe_by(1, make)
}

/// The same of handoffs that come `step` at a time: `count` is a multiple of it.
pub fn observe_by(step: u64, mut make: impl FnMut(u64) -> Result<()>) -> Result<Observation> {
    let count = calibrate(step, &mut make)?;
    let (span, mut handoffs) = (Span::start(), 0);
    while span.elapsed() < SPAN {
        make(count)?;
        handoffs += count;
    }
    let mut metrics = span.end().metrics();
    for (name, span) in [("handoff_ns", "work_s"), ("handoff_cpu_ns", "cpu_s")] {
        metrics.put(name, metrics.get(span).map(|seconds| seconds * 1e9 / handoffs as f64));
    }
    metrics.extend([("handoffs_count", handoffs as f64)]);
    Ok(Observation::new("", metrics))
}

/// The same of handoffs with the numbers from 1 to `count`, `at_once` of them at a time, each of which answers with its own: `make` returns the sum.
pub fn observe_answers(at_once: usize, mut make: impl FnMut(u64) -> Result<u64>) -> Result<Observation> {
    observe_by(at_once as u64, |count| {
        let (sum, expected) = (make(count)?, count * (count + 1) / 2);
        ensure!(sum == expected, "wrong answer: the sum is {sum}, expected {expected}");
        Ok(())
    })
}

/// How many handoffs a call of `make` takes to last: twice as many as before until it does, which also warms up.
fn calibrate(step: u64, make: &mut impl FnMut(u64) -> Result<()>) -> Result<u64> {
    let mut count = step;
    loop {
        // Twice, because one call alone may have been interrupted for that long.
        let mut lasts = || {
            let span = Span::start();
            make(count)?;
            anyhow::Ok(span.elapsed() >= CALL)
        };
        if lasts()? && lasts()? {
            return Ok(count);
        }
        count *= 2;
    }
}
