//! From what was counted in a run to named numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::driver::{Tally, Times};
use crate::workload::Workload;

/// Numbers by name; each name ends in its unit.
pub type Metrics = BTreeMap<&'static str, f64>;

/// Reads and writes that take longer than so many holds are slow.
const SLOW_HOLDS: f64 = 1.5;

/// The numbers of a run under `workload`, where `hold` decides what is slow; what has no value, as the quantile of nothing, is left out.
pub fn of(tally: &Tally, workload: &Workload, hold: Duration) -> Metrics {
    let Tally { reads, writes, ticks, .. } = tally;
    let (service, response) = (&reads.service, &reads.response);
    let (scheduled, expected) = (workload.scheduled_reads(), workload.expected_writes());
    let is_open = scheduled > 0;
    let all = [
        ("hold_ms", Some(ms(hold))),
        ("reads_count", Some(count(reads.in_window))),
        ("begun_reads_count", Some(count(service.count()))),
        ("read_period_ms", reads.period().map(ms)),
        ("read_avg_ms", service.mean_ms()),
        ("read_p50_ms", service.quantile_ms(0.5)),
        ("read_p99_ms", service.quantile_ms(0.99)),
        ("read_max_ms", service.quantile_ms(1.0)),
        ("response_avg_ms", response.mean_ms()),
        ("response_p50_ms", response.quantile_ms(0.5)),
        ("response_p99_ms", response.quantile_ms(0.99)),
        ("response_max_ms", response.quantile_ms(1.0)),
        ("slow_reads_percent", slow(service, hold)),
        ("slow_responses_percent", slow(response, hold)),
        ("late_reads_count", Some(count(reads.late))),
        ("late_reads_percent", percent(reads.late, reads.answered)),
        ("read_failures_count", Some(count(reads.failures()))),
        ("unanswered_count", Some(count(reads.unanswered))),
        ("scheduled_reads_count", is_open.then(|| count(scheduled))),
        ("answered_percent", percent(reads.answered, scheduled)),
        ("writes_count", Some(count(writes.in_window))),
        ("begun_writes_count", Some(count(writes.service.count()))),
        ("expected_writes_count", Some(count(expected))),
        ("writes_percent", percent(writes.in_window, expected)),
        ("write_period_ms", writes.period().map(ms)),
        ("write_avg_ms", writes.service.mean_ms()),
        ("write_p50_ms", writes.service.quantile_ms(0.5)),
        ("write_p99_ms", writes.service.quantile_ms(0.99)),
        ("write_max_ms", writes.service.quantile_ms(1.0)),
        ("write_failures_count", Some(count(writes.failures()))),
        ("writing_s", Some(tally.writing.as_secs_f64())),
        ("ticker_p99_ms", ticks.late.quantile_ms(0.99)),
        ("ticker_max_ms", ticks.late.quantile_ms(1.0)),
        ("blocked_s", Some(ticks.blocked.as_secs_f64())),
        ("threads_count", tally.threads.map(count)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn slow(times: &Times, hold: Duration) -> Option<f64> {
    if hold.is_zero() { None } else { percent(times.count_above(hold.mul_f64(SLOW_HOLDS)), times.count()) }
}

/// `part` of `whole`, in percent; without a whole there is none.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * count(part) / count(whole))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn count(value: u64) -> f64 {
    value as f64
}
