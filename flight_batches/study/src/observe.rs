//! One sample: a server in a process of its own, the load in this one, checked before it counts.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flight_batches::load::{Connections, Delivery, Extent, Load, quantile_s};
use flight_batches::stats::{Process, Stats};
use flight_batches::table::{Shape, Table, checksum};
use flight_batches::ticket::Ticket;
use study_kit::server::Server;
use study_kit::usage::{keep_blocks, kib, map_blocks, settle_allocator};
use study_kit::{Metrics, Observation, Scenario, Span, Study, TestCase, Turn, Turns, price};
use tokio::runtime::Runtime;

use crate::cases::{self, Answer, Flight, Setting, Subject};
use crate::{loopback, servers};

const CONNECTIONS: usize = 32;
/// A server has dropped the streams that were cut off within this, whatever the load.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct FlightBatches;

impl Study for FlightBatches {
    type Setting = Setting;
    const NAME: &'static str = "flight_batches";
    const SCENARIOS: &'static [Scenario<Setting>] = cases::SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");

    fn prepare(setting: &Setting, seed: u64) -> Result<()> {
        // pyarrow runs in the scenarios without a delay, and its server takes a file.
        match setting {
            Setting::Requests(flight) if flight.delay_us == 0 => servers::prepare(flight, seed),
            _ => Ok(()),
        }
    }

    fn observe(case: &TestCase<'_, Setting>) -> Result<Observation> {
        match case.setting {
            Setting::Requests(flight) => observe(case, flight),
            Setting::Price(arms) => price::observe_arm(arms, case.arm),
        }
    }

    /// More of single requests that mostly send, which differ most from one to the next and are soon over.
    fn pairs(setting: &Setting, _: &str) -> usize {
        match setting {
            Setting::Requests(Flight { requests: 1, delay_us: ..=1_000, rows: 10_000.., .. }) => 4,
            _ => 2,
        }
    }

    /// Each turn has streams of its own to a server that stays. Of a window counts what 100 MB took.
    fn turns<'a>(case: &'a TestCase<'_, Setting>) -> Result<Turns<'a>> {
        let Setting::Requests(flight) = case.setting else { bail!("only requests run in duets") };
        allocate_for(flight.answer);
        let server = servers::start(price::find(cases::ARMS, case.arm)?, flight, case.seed)?;
        let bench = Bench::new(case, flight, server.context("there is no such server on this machine")?)?;
        let mut is_warm = false;
        Ok(Box::new(move || {
            if !std::mem::replace(&mut is_warm, true) {
                bench.warm_up()?;
                return Ok(Turn { digest: bench.digest.clone(), ..Turn::default() });
            }
            let delivery = bench.pass(case.handicap)?;
            let seconds = match flight.extent {
                Extent::Whole => delivery.elapsed.as_secs_f64(),
                Extent::Window { .. } => 1e2 / delivery.mb_per_s(),
            };
            bench.wait_for_silence()?;
            Ok(Turn { seconds, digest: bench.digest.clone(), metrics: bench.describe(&delivery) })
        }))
    }

    fn word(arguments: &[OsString]) -> ExitCode {
        if arguments.first().is_some_and(|word| word == loopback::WORD) {
            return if loopback::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        flight_batches::cli::run(arguments.iter().cloned())
    }
}

fn observe(case: &TestCase<'_, Setting>, flight: &'static Flight) -> Result<Observation> {
    allocate_for(flight.answer);
    let subject = price::find(cases::ARMS, case.arm)?;
    let Some(server) = servers::start(subject, flight, case.seed)? else {
        // What needs its figures reads that it cannot be tested here.
        return Ok(Observation::new("", settings(flight)));
    };
    let (digest, metrics, server) = if subject == Subject::Loopback {
        (String::new(), measure_loopback(flight, &server)?, server)
    } else {
        let bench = Bench::new(case, flight, server)?;
        let metrics = bench.pass_with_server(case.handicap)?;
        (bench.digest, metrics, bench.server)
    };
    let mut observation = Observation::new(digest, metrics);
    observation.child_peak_kib = server.peak_rss_kib();
    Ok(observation)
}

/// Sets the allocator up for what the client does with an answer.
fn allocate_for(answer: Answer) {
    match answer {
        Answer::Dropped => settle_allocator(),
        Answer::Fresh => map_blocks(),
        Answer::Reused => keep_blocks(),
    }
}

fn settings(setting: &Flight) -> Metrics {
    Metrics::from([
        ("requests_count", setting.requests as f64),
        ("batch_rows_count", setting.rows as f64),
        ("batch_delay_ms", f64::from(setting.delay_us) * 1e-3),
    ])
}

fn measure_loopback(setting: &Flight, server: &Server) -> Result<Metrics> {
    let address = server.address().parse().context("the server listens on no address")?;
    let Extent::Window { warm_up, window } = setting.extent else { bail!("TCP alone is measured in a window") };
    let span = Span::start();
    let (bytes, elapsed) = loopback::measure(address, setting.requests, warm_up, window)?;
    let (mut metrics, seconds) = (settings(setting), elapsed.as_secs_f64());
    metrics.extend(span.end().metrics());
    metrics.extend([("work_s", seconds), ("mb_per_s", bytes as f64 / 1e6 / seconds)]);
    Ok(metrics)
}

/// A server with connections to it, and the load to put on it.
struct Bench {
    setting: &'static Flight,
    subject: Subject,
    table: Table,
    load: Load,
    digest: String,
    connections: Connections,
    runtime: Runtime,
    server: Server,
}

impl Bench {
    fn new(case: &TestCase<'_, Setting>, setting: &'static Flight, server: Server) -> Result<Self> {
        let &Flight { rows, columns, requests, extent, delay_us, batches, spread, answer, .. } = setting;
        let ticket = Ticket { records_per_batch: rows, batch_generation_delay: f64::from(delay_us) * 1e-6, batches };
        // The first batch of a table is that of a table which has no other.
        let table = Table::new(Shape { rows, columns, seed: case.seed })?;
        let first = table.batch(0, rows);
        let digest = format!("{rows}x{}", checksum(&first));
        let runtime = Runtime::new().context("no runtime can be started")?;
        let keeps = answer != Answer::Dropped;
        let load = Load { first: Some(first), keeps, spread, ..Load::new(ticket, requests, extent) };
        let connections = runtime.block_on(Connections::open(server.address(), requests.min(CONNECTIONS)))?;
        let subject = price::find(cases::ARMS, case.arm)?;
        let bench = Bench { setting, subject, table, load, digest, connections, runtime, server };
        if answer == Answer::Reused {
            // The same once without a delay, as the original does.
            let ticket = Ticket { batch_generation_delay: 0.0, ..ticket };
            bench.load_before(&Load { ticket, ..bench.load.clone() })?;
        }
        Ok(bench)
    }

    /// Has every stream bring a batch without delay: code, connections and memory are then ready on both sides.
    fn warm_up(&self) -> Result<()> {
        let ticket = Ticket { batch_generation_delay: 0.0, batches: Some(1), ..self.load.ticket };
        self.load_before(&Load { ticket, extent: Extent::Whole, spread: Duration::ZERO, ..self.load.clone() })
    }

    fn load_before(&self, load: &Load) -> Result<()> {
        let delivery = self.runtime.block_on(load.run(&self.connections));
        ensure!(delivery.failures.is_empty(), "a request before failed: {:?}", delivery.failures);
        Ok(())
    }

    /// Puts the load on the server once.
    fn pass(&self, handicap: f64) -> Result<Delivery> {
        let mut delivery = self.runtime.block_on(self.load.run(&self.connections));
        let (begin, longer) = (Instant::now(), delivery.elapsed.mul_f64(handicap - 1.0));
        while begin.elapsed() < longer {
            std::hint::spin_loop();
        }
        delivery.elapsed += longer;
        if let Some(failure) = delivery.failures.first() {
            let count = delivery.failures.len();
            bail!("{count} of the requests failed, the first with {:?}: {}", failure.code(), failure.message());
        }
        ensure!(delivery.bytes > 0, "nothing arrived in the window");
        ensure!(delivery.compared > 0, "no batch was compared with what it must be");
        Ok(delivery)
    }

    /// The same with what client and server used.
    fn pass_with_server(&self, handicap: f64) -> Result<Metrics> {
        let before = self.stats()?;
        let span = Span::start();
        let delivery = self.pass(handicap)?;
        let cost = span.end();
        let after = self.stats()?;
        let mut metrics = cost.metrics();
        metrics.put("work_s", delivery.elapsed.as_secs_f64());
        metrics.put("client_cpu_s", metrics.get("cpu_s"));
        metrics.extend(self.describe(&delivery));
        if let Some((before, after)) = before.zip(after) {
            let requests = self.setting.requests;
            let want = match (self.setting.extent, self.setting.batches) {
                // Some of those that are soon over and followed by the next are always on their way.
                (Extent::Window { .. }, Some(..100)) => requests.div_ceil(2),
                (Extent::Window { .. }, _) => requests,
                // Requests that run to their end may do so before the last has begun.
                (Extent::Whole, _) => (requests * 9).div_ceil(10),
            };
            let most = after.most_streams;
            ensure!(most >= want, "only {most} of {requests} streams were in flight at once");
            metrics.put("streams_count", most as f64);
            metrics.put("timer_late_us", after.mean_lateness_ns as f64 / 1e3);
            metrics.put("waiting_threads_count", after.most_waiting_threads as f64);
            let cpu_s = |process: Process| Some(process.user_s? + process.system_s?);
            let spent_s = cpu_s(after.process).zip(cpu_s(before.process)).map(|(after, before)| after - before);
            // Per second that passed between the two questions, and so per byte that was sent in it.
            let share = spent_s.map(|spent_s| spent_s / (after.process.up_s - before.process.up_s));
            metrics.put("server_gb_cpu_s", share.map(|share| share / delivery.mb_per_s() * 1e3));
            let table_kib = (self.setting.table_rows * self.table.row_bytes()) as f64 / 1024.0;
            let peak = after.process.peak_rss_kib.map(kib);
            metrics.put("server_peak_rss_kib", peak);
            metrics.put("server_above_table_kib", peak.map(|peak| peak - table_kib));
        }
        Ok(metrics)
    }

    /// What the server says of itself; `None` of one that is not ours.
    fn stats(&self) -> Result<Option<Stats>> {
        if !matches!(self.subject, Subject::Ours(..)) {
            return Ok(None);
        }
        let stats = self.runtime.block_on(self.connections.stats());
        stats.map(Some).with_context(|| format!("{} does not answer the action \"stats\"", self.server.address()))
    }

    /// Until the server has dropped the streams that were cut off: the other one must not share the machine with them.
    fn wait_for_silence(&self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while self.stats()?.is_some_and(|stats| stats.streams > 0) {
            ensure!(Instant::now() < end, "the server goes on with streams that nobody reads");
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn describe(&self, delivery: &Delivery) -> Metrics {
        let (setting, batch_bytes) = (self.setting, self.table.bytes());
        let mut metrics = settings(setting);
        let rate = delivery.mb_per_s();
        metrics.put("mb_per_s", rate);
        let ideal = setting.ideal_mb_per_s(self.subject, batch_bytes);
        metrics.put("ideal_mb_per_s", ideal);
        metrics.put("ideal_ratio", ideal.map(|ideal| rate / ideal));
        let batches = setting.batches.unwrap_or(setting.table_rows / setting.rows);
        let mean_ms = if setting.extent == Extent::Whole {
            let mean_ms = delivery.latency.mean() / 1e6;
            // Without a delay that is no number, and left out.
            metrics.put("delays_ratio", mean_ms / (f64::from(setting.delay_us) * 1e-3 * batches as f64));
            mean_ms
        } else {
            // In a steady state so many requests in flight mean that each takes this long, whether one ended in the window or not.
            (setting.requests * batches * batch_bytes) as f64 / 1e3 / rate
        };
        metrics.put("latency_mean_ms", mean_ms);
        metrics.put("batch_mean_ms", delivery.batch_s().map(|seconds| seconds * 1e3));
        for (name, times) in
            [("latency", &delivery.latency), ("first_batch", &delivery.first_batch), ("gap", &delivery.gap)]
        {
            for (share, percent) in [(0.5, 50), (0.99, 99)] {
                metrics.put(format!("{name}_p{percent}_ms"), quantile_s(times, share).map(|seconds| seconds * 1e3));
            }
        }
        metrics.put("fairness_ratio", delivery.fairness());
        metrics
    }
}
