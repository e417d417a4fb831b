//! So many clients in one process, without sockets: as the document writes it.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use study_kit::usage::{kib, peak_rss_kib};
use study_kit::{Metrics, Observation, TestCase};
use txn_engine::clients::Pass;

use crate::cases::Setting;

const ROWS_EACH: usize = 20;
/// Stands for the time of what has crashed: an hour.
const NEVER_S: f64 = 3600.0;

/// `count` clients, in a process of its own, because a thread that cannot be started ends the process.
pub fn observe(case: &TestCase<'_, Setting>, count: usize) -> Result<Observation> {
    let spawn = case.arm.trim_start_matches("spawn_");
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["clients", "--json", "--force", "--as", spawn, "--rows", &ROWS_EACH.to_string()]);
    command.args(["--clients", &count.to_string(), "--seed", &case.seed.to_string()]);
    let done = command.output().context("cannot start the clients")?;
    let mut metrics = Metrics::from([("clients_count", count as f64)]);
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        eprintln!("txn_engine: {count} {spawn}: {}: {}", done.status, said.lines().next().unwrap_or_default());
        metrics.extend([("crashed_count", 1.0), ("whole_or_crash_s", NEVER_S), ("apply_or_crash_s", NEVER_S)]);
        return Ok(Observation::new("", metrics));
    }
    let done: Pass = serde_json::from_slice(&done.stdout).context("no answer")?;
    let rows = (count * ROWS_EACH) as u64;
    ensure!(done.accepted == rows, "wrong answer: {} rows accepted, expected {rows}", done.accepted);
    metrics.extend([
        ("crashed_count", 0.0),
        ("work_s", done.whole_s),
        ("whole_or_crash_s", done.whole_s),
        ("apply_s", done.work_s),
        ("apply_or_crash_s", done.work_s),
        ("client_start_us", done.start_s * 1e6 / count as f64),
        ("user_s", done.end.user_s),
        ("system_s", done.end.system_s),
        ("clients_peak_rss_kib", kib(done.end.peak_rss_kib)),
        ("client_rss_kib", kib(done.there.rss_kib) / count as f64),
        ("threads_count", done.there.threads as f64),
        ("maps_count", done.there.maps as f64),
        ("voluntary_switches_count", done.end.voluntary_switches as f64),
        ("involuntary_switches_count", done.end.involuntary_switches as f64),
    ]);
    metrics.put("peak_rss_kib", peak_rss_kib().map(kib));
    let mut observation = Observation::new(done.digest, metrics);
    observation.child_peak_kib = Some(done.end.peak_rss_kib);
    Ok(observation)
}
