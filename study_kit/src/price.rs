//! What one handoff costs: the loop that all prices share.

use std::time::Duration;

use anyhow::Result;

use crate::record::Observation;
use crate::usage::Span;

/// A call this long takes a thousand times as long as reading the clock and entering a runtime.
const CALL: Duration = Duration::from_millis(10);
/// The timed span of a run. Two hundred runs then fit into a minute.
const SPAN: Duration = Duration::from_millis(200);

/// Makes handoffs for a fifth of a second and observes what one took: `handoff_ns` (wall time), `handoff_cpu_ns` (processor time of all
/// threads) and `handoffs_count`. `make(count)` makes `count` of them, one after the other or however many at once the price is about.
///
/// # Errors
/// The first error of `make`.
pub fn observe(mut make: impl FnMut(u64) -> Result<()>) -> Result<Observation> {
    let count = calibrate(&mut make)?;
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

/// How many handoffs a call of `make` takes to last: twice as many as before until it does, which also warms up.
fn calibrate(make: &mut impl FnMut(u64) -> Result<()>) -> Result<u64> {
    let mut count = 1;
    loop {
        let span = Span::start();
        make(count)?;
        if span.elapsed() >= CALL {
            return Ok(count);
        }
        count *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use anyhow::bail;

    use super::*;

    #[test]
    fn a_handoff_of_a_millisecond_is_no_shorter_and_all_are_counted() {
        let mut made = 0;
        let observation = observe(|count| {
            made += count;
            (0..count).for_each(|_| thread::sleep(Duration::from_millis(1)));
            Ok(())
        });
        let metrics = observation.unwrap().metrics;
        assert!(metrics.get("handoff_ns").unwrap() >= 1e6);
        let counted = metrics.get("handoffs_count").unwrap();
        let timed_s = metrics.get("work_s").unwrap();
        assert!(counted < made as f64, "the calls that calibrate are not timed");
        assert!((metrics.get("handoff_ns").unwrap() * counted / 1e9 - timed_s).abs() < 1e-9);
    }

    #[test]
    fn what_fails_is_no_price() {
        assert!(observe(|_| bail!("the channel is closed")).is_err());
    }
}
