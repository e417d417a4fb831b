//! From what a run came to, to the numbers of its record.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::usage::Cost;
use crate::driver::{Operations, Outcome};
use crate::workload::Workload;
use study_kit::distribution::Distribution;

/// Numbers by name; each name ends in its unit.
pub type Metrics = BTreeMap<&'static str, f64>;

/// Reads and writes that take longer than so many holds are slow.
const SLOW_HOLDS: f64 = 1.5;

/// The numbers of a run under `workload`.
#[must_use]
pub fn of(outcome: &Outcome, workload: &Workload, cost: &Cost) -> Metrics {
    let mut metrics = of_cost(cost);
    let mut put = |name, value: f64| {
        // What has no value, as the quantile of nothing, is left out.
        if value.is_finite() {
            metrics.insert(name, value);
        }
    };
    let hold = workload.hold;
    let Outcome { reads, writes, ticks, .. } = outcome;
    put("hold_ms", ms(Some(hold)));
    put("databases_count", count(workload.databases as u64));
    put("reads_count", count(reads.in_window));
    put("read_period_ms", ms(reads.period()));
    put("read_avg_ms", ms(reads.service.mean()));
    put("read_p50_ms", ms(reads.service.quantile(0.5)));
    put("read_p99_ms", ms(reads.service.quantile(0.99)));
    put("read_max_ms", ms(reads.service.max()));
    put("response_avg_ms", ms(reads.response.mean()));
    put("response_p50_ms", ms(reads.response.quantile(0.5)));
    put("response_p99_ms", ms(reads.response.quantile(0.99)));
    put("response_max_ms", ms(reads.response.max()));
    put("slow_reads_percent", slow(&reads.service, hold));
    put("slow_responses_percent", slow(&reads.response, hold));
    put("late_reads_count", count(reads.late));
    put("late_reads_percent", percent(reads.late, reads.answered));
    put("read_failures_count", count(reads.failures()));
    put("read_busy_count", count(reads.busy));
    put("unanswered_count", count(reads.unanswered));
    if outcome.scheduled_reads > 0 {
        put("scheduled_reads_count", count(outcome.scheduled_reads));
        put("answered_percent", percent(reads.answered, outcome.scheduled_reads));
    }
    put("writes_count", count(writes.in_window));
    put("expected_writes_count", count(outcome.expected_writes));
    put("writes_percent", percent(writes.in_window, outcome.expected_writes));
    put("write_period_ms", ms(writes.period()));
    put("write_avg_ms", ms(writes.service.mean()));
    put("write_p50_ms", ms(writes.service.quantile(0.5)));
    put("write_p99_ms", ms(writes.service.quantile(0.99)));
    put("write_max_ms", ms(writes.service.max()));
    put("write_failures_count", count(writes.failures()));
    put("writing_s", outcome.writing.as_secs_f64());
    put("ticker_p50_ms", ms(ticks.late.quantile(0.5)));
    put("ticker_p99_ms", ms(ticks.late.quantile(0.99)));
    put("ticker_max_ms", ms(ticks.late.max()));
    put("blocked_s", ticks.blocked.as_secs_f64());
    put("threads_count", outcome.threads.map_or(f64::NAN, count));
    metrics
}

/// The whole distributions of a run.
///
/// # Errors
/// If one cannot be compressed.
pub fn histograms(outcome: &Outcome) -> io::Result<BTreeMap<&'static str, String>> {
    let Outcome { reads, writes, ticks, .. } = outcome;
    let all = [
        ("read_service_ns", &reads.service),
        ("read_response_ns", &reads.response),
        ("write_service_ns", &writes.service),
        ("ticker_late_ns", &ticks.late),
    ];
    all.into_iter().filter(|(_, times)| times.count() > 0).map(|(name, times)| Ok((name, times.encode()?))).collect()
}

/// What the span cost the process, and its memory so far.
#[must_use]
pub fn of_cost(cost: &Cost) -> Metrics {
    let mut metrics = cost.metrics();
    // A share of the span: how long that is follows from the window, not from the arm.
    if let Some(cpu_s) = metrics.remove("cpu_s") {
        metrics.insert("cpu_percent", 100.0 * cpu_s / cost.wall.as_secs_f64().max(f64::MIN_POSITIVE));
    }
    metrics
}

/// What is wrong with operations that should all have been answered: a record must not keep a time where they were not.
#[must_use]
pub fn failures(kind: &str, operations: &Operations) -> Option<String> {
    let first = operations.first_error.as_deref().unwrap_or("no answer");
    (operations.failures() > 0).then(|| {
        let of = operations.answered + operations.failures();
        format!("{} of {of} {kind} failed: {first}", operations.failures())
    })
}

fn slow(times: &Distribution, hold: Duration) -> f64 {
    if hold.is_zero() { f64::NAN } else { percent(times.count_above(hold.mul_f64(SLOW_HOLDS)), times.count()) }
}

/// `part` of `whole`, in percent; without a whole there is none.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { 100.0 * count(part) / count(whole) }
}

/// In milliseconds; not a number where there is no time.
#[must_use]
pub fn ms(time: Option<Duration>) -> f64 {
    time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
}

/// A count as a number.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts and sizes stay far below 2^53")]
pub fn count(value: u64) -> f64 {
    value as f64
}
