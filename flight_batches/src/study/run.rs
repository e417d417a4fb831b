//! `run`: a server in a process of its own, the load in this one, one sample, checked before it counts.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use study_kit::error::one_line;
use study_kit::server::{Server, ServerError};
use study_kit::usage::{Span, kib, peak_rss_kib, settle_allocator};
use study_kit::{Error, Observation, Record, RunRequest, Suffix, file_error};

use super::arm::{self, Subject};
use super::scenario::{self, Scenario};
use crate::health::Process;
use crate::load::{ConnectError, Connections, Form, Load, Outcome, number};
use crate::loopback;
use crate::table::{Shape, Table, checksum};

/// How much longer `ARM@slow` takes: twice the margin of whole runs.
const PLANTED: f64 = 1.10;
/// Connections that share the streams.
const CONNECTIONS: usize = 32;
/// No stream waits longer for a message, whatever the load.
const PATIENCE: Duration = Duration::from_mins(1);

/// Why there is no sample.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("no runtime can be started")]
    Runtime(#[from] std::io::Error),
    #[error("the table cannot be made")]
    Table(#[from] arrow_schema::ArrowError),
    #[error("{failures} of the requests failed, the first with {code:?}: {reason}")]
    Failed { failures: usize, code: tonic::Code, reason: String },
    #[error("only {most} of {requests} streams were in flight at once")]
    Streams { most: usize, requests: usize },
    #[error("the server at {0} listens on no address of this machine")]
    Address(String),
    #[error("nothing arrived in the window")]
    Nothing,
    #[error("no batch was compared with what it must be")]
    NotCompared,
}

type Metrics = BTreeMap<&'static str, f64>;

/// Runs the test case once.
///
/// # Errors
/// If the names mean nothing; what fails later is in the record.
pub fn run(request: &RunRequest) -> Result<Record, Error> {
    let scenario = scenario::find(&request.scenario)?;
    let (name, suffix) = Suffix::split(&request.arm)?;
    let subject = arm::find(&scenario, name)?;
    if request.versus.is_some() {
        let arm = format!("{}~{}", request.arm, request.versus.as_deref().unwrap_or_default());
        return Err(Error::Mismatch { arm, scenario: scenario.name });
    }
    let table = scenario::table_file(&scenario, request.seed);
    if subject == Subject::Pyarrow && !table.exists() {
        return Err(file_error("read (`prepare` writes it)", &table, ErrorKind::NotFound.into()));
    }
    settle_allocator();
    let result = observe(&scenario, subject, suffix, request.seed).map_err(|error| one_line(&error));
    Ok(Record::new(env!("CARGO_PKG_NAME"), request, result))
}

fn observe(scenario: &Scenario, subject: Subject, suffix: Suffix, seed: u64) -> Result<Observation, RunError> {
    // The first batch of a table is that of a table which has no other.
    let first = Table::new(Shape { rows: scenario.records, seed, ..Shape::default() })?;
    let batch_bytes = first.bytes();
    let first = first.batch(0, scenario.records);
    let digest = format!("{}x{}", scenario.records, checksum(&first));
    let mut metrics = BTreeMap::from([
        ("requests_count", number(scenario.requests as u64)),
        ("batch_rows_count", number(scenario.records as u64)),
        ("batch_delay_ms", f64::from(scenario.delay_us) * 1e-3),
    ]);
    let Some(server) = subject.start(scenario, seed)? else {
        // What needs its figures reads that it cannot be tested here.
        return Ok(Observation { metrics, ..Observation::default() });
    };
    if subject == Subject::Loopback {
        measure_loopback(scenario, &server, &mut metrics)?;
        metrics.extend(server.peak_rss_kib().max(peak_rss_kib()).map(|peak| ("process_peak_rss_kib", kib(peak))));
        return Ok(Observation { metrics, ..Observation::default() });
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let load = Load {
        ticket: scenario.ticket(),
        requests: scenario.requests,
        form: scenario.form,
        first: Some(first),
        patience: PATIENCE,
    };
    let connections = runtime.block_on(Connections::open(server.address(), scenario.requests.min(CONNECTIONS)))?;
    let ours = matches!(subject, Subject::Ours { .. });
    let before = if ours { Some(runtime.block_on(connections.health())?) } else { None };
    let span = Span::start();
    let mut outcome = runtime.block_on(load.run(&connections));
    if suffix == Suffix::Slow {
        outcome.elapsed += spin(outcome.elapsed.mul_f64(PLANTED - 1.0));
    }
    let cost = span.end();
    let after = if ours { Some(runtime.block_on(connections.health())?) } else { None };
    runtime.shutdown_background();
    if let Some(failure) = outcome.failures.first() {
        let reason = failure.reason.clone();
        return Err(RunError::Failed { failures: outcome.failures.len(), code: failure.code, reason });
    }
    if outcome.bytes == 0 {
        return Err(RunError::Nothing);
    }
    if outcome.compared == 0 {
        return Err(RunError::NotCompared);
    }
    metrics.extend(cost.metrics());
    metrics.insert("work_s", outcome.elapsed.as_secs_f64());
    describe(scenario, &outcome, batch_bytes, subject, &mut metrics);
    metrics.extend(cost.counters.map(|used| ("client_cpu_s", used.user_s + used.system_s)));
    if let (Some(before), Some(after)) = (before, after) {
        // Requests that run to their end may do so before the last has begun.
        let want = if scenario.form == Form::Whole { (scenario.requests * 9).div_ceil(10) } else { scenario.requests };
        if after.most_streams < want {
            return Err(RunError::Streams { most: after.most_streams, requests: scenario.requests });
        }
        metrics.insert("streams_count", number(after.most_streams as u64));
        metrics.insert("timer_late_us", number(after.mean_lateness_ns) / 1e3);
        metrics.insert("timer_late_max_us", number(after.most_lateness_ns) / 1e3);
        describe_server(scenario, &before.process, &after.process, outcome.mb_per_s(), &mut metrics);
        metrics.insert("waiting_threads_count", number(after.most_waiting_threads as u64));
    }
    // What GNU time calls the peak of a process is that of the largest it has waited for.
    metrics.extend(server.peak_rss_kib().max(peak_rss_kib()).map(|peak| ("process_peak_rss_kib", kib(peak))));
    Ok(Observation { digest, metrics, ..Observation::default() })
}

/// Figures of the load.
fn describe(scenario: &Scenario, outcome: &Outcome, batch_bytes: usize, subject: Subject, metrics: &mut Metrics) {
    let rate = outcome.mb_per_s();
    metrics.insert("mb_per_s", rate);
    let pooled = matches!(subject, Subject::Ours { mode: crate::produce::Mode::Pool, .. });
    if let Some(ideal) = scenario.ideal_mb_per_s(batch_bytes, pooled) {
        metrics.extend([("ideal_mb_per_s", ideal), ("ideal_ratio", rate / ideal)]);
    }
    // In a steady state so many requests in flight mean that each takes this long, whether one ended in the window or not.
    let request_mb = number((batch_bytes * scenario.batches_of_a_request()) as u64) / 1e6;
    let by_rate = number(scenario.requests as u64) * request_mb / rate;
    let own_mean = outcome.latency.mean().map(|mean| mean.as_secs_f64());
    let mean = if scenario.form == Form::Whole { own_mean } else { Some(by_rate) };
    metrics.extend(mean.map(|mean| ("latency_mean_ms", mean * 1e3)));
    for (name, times, share) in [
        ("latency_p50_ms", &outcome.latency, 0.5),
        ("latency_p99_ms", &outcome.latency, 0.99),
        ("first_batch_p50_ms", &outcome.first_batch, 0.5),
        ("first_batch_p99_ms", &outcome.first_batch, 0.99),
        ("gap_p50_ms", &outcome.gap, 0.5),
        ("gap_p99_ms", &outcome.gap, 0.99),
    ] {
        metrics.extend(times.quantile(share).map(|time| (name, time.as_secs_f64() * 1e3)));
    }
    metrics.insert("accepted_s", outcome.accepted.as_secs_f64());
    metrics.insert("fairness_ratio", outcome.fairness());
    metrics.insert("failures_count", number(outcome.failures.len() as u64));
    if scenario.form == Form::Whole {
        let slowest = outcome.latency.max().zip(own_mean);
        metrics.extend(slowest.map(|(max, mean)| ("slowest_ratio", max.as_secs_f64() / mean)));
        let delays = f64::from(scenario.delay_us) * 1e-6 * number(scenario.batches_of_a_request() as u64);
        metrics.extend(mean.filter(|_| delays > 0.0).map(|mean| ("delays_ratio", mean / delays)));
    }
}

/// What the server used meanwhile.
fn describe_server(scenario: &Scenario, before: &Process, after: &Process, mb_per_s: f64, metrics: &mut Metrics) {
    let used = |time: fn(&Process) -> Option<f64>| time(after).zip(time(before)).map(|(after, before)| after - before);
    if let Some((user, system)) = used(|process| process.user_s).zip(used(|process| process.system_s)) {
        // Per second that passed between the two questions, and so per byte that was sent in it.
        let share = (user + system) / (after.up_s - before.up_s);
        metrics.extend([
            ("server_user_s", user),
            ("server_system_s", system),
            ("server_gb_cpu_s", share / mb_per_s * 1e3),
        ]);
    }
    if let Some(peak) = after.peak_rss_kib {
        let table = number((scenario.table_rows() * 400) as u64) / 1024.0;
        metrics.extend([("server_peak_rss_kib", kib(peak)), ("server_above_table_kib", kib(peak) - table)]);
    }
}

fn measure_loopback(scenario: &Scenario, server: &Server, metrics: &mut Metrics) -> Result<(), RunError> {
    let address = server.address().strip_prefix("http://").and_then(|address| address.parse().ok());
    let address = address.ok_or_else(|| RunError::Address(server.address().to_owned()))?;
    let Form::Window { warm_up, window } = scenario.form else { return Ok(()) };
    let span = Span::start();
    let (bytes, elapsed) = loopback::measure(address, scenario.requests, warm_up, window)?;
    metrics.extend(span.end().metrics());
    metrics.insert("work_s", elapsed.as_secs_f64());
    metrics.insert("mb_per_s", number(bytes) / 1e6 / elapsed.as_secs_f64());
    Ok(())
}

/// Keeps a core busy; returns for how long.
fn spin(time: Duration) -> Duration {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
    start.elapsed()
}
