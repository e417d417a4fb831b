//! Many clients at once: over TCP, with the server in a process of its own, and in one process without sockets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use study_kit::distribution::Distribution;
use study_kit::error::one_line;
use study_kit::server::Server;
use study_kit::usage::{kib, peak_rss_kib, processor_s};
use study_kit::{Observation, RunRequest, Suffix};

use super::inputs::{self, Set};
use super::{StudyError, scenario::Tcp};
use crate::accounts;
use crate::arms::{Arm, Options, process_files};
use crate::generate::Shape;
use crate::ledger::Ledger;
use crate::load::{Arrivals, Aside, Load, Outcome, Stage};
use crate::parse::{Columns, Parser, Reading};
use crate::row::Entry;
use crate::rules::Account;
use crate::serve::{Mode, Stats, raise_open_files};
use crate::session::Session;

/// Above all ids of a state that was there before.
const FIRST_TX: u32 = 2_000_000_000;
/// Before the window.
const WARM_UP: Duration = Duration::from_millis(300);
/// Answers that do not come within this have failed, and so have connections.
const PATIENCE: Duration = Duration::from_secs(3);
/// A share of rows above this that fails is a failure of the server.
const MOST_FAILED: f64 = 0.001;
/// Stands for the time of what has failed or crashed: an hour.
const NEVER_S: f64 = 3600.0;
/// Rows of each client that has no socket.
const ROWS_EACH: usize = 20;
/// Files that are no connections.
const OWN_FILES: usize = 100;

type Metrics = BTreeMap<&'static str, f64>;

/// Writes the state that `tcp` begins with, unless it is there.
pub(super) fn prepare(tcp: &Tcp, seed: u64) -> Result<(), StudyError> {
    let Some(folder) = state(tcp, seed) else { return Ok(()) };
    if Session::load(&folder).is_ok() {
        return Ok(());
    }
    let set = Set::file(&Shape::Accepted, tcp.state_rows, seed);
    set.prepare()?;
    let outcome = process_files(Arm::BestAllCores, &set.paths(), Options::default())?;
    Ok(outcome.into_session().dump(&folder)?)
}

fn state(tcp: &Tcp, seed: u64) -> Option<PathBuf> {
    (tcp.state_rows > 0).then(|| inputs::folder().join(format!("state-{}-s{seed}", tcp.state_rows)))
}

/// One server, one load.
pub(super) fn tcp(tcp: &Tcp, request: &RunRequest) -> Result<Observation, String> {
    let text = |error: &dyn std::error::Error| one_line(error);
    let (arm, suffix) = Suffix::split(&request.arm).map_err(|error| text(&error))?;
    if suffix == Suffix::Slow {
        return Err("an arm over TCP has no handicapped copy".to_owned());
    }
    let mode: Mode = arm.parse().map_err(|error: crate::Error| text(&error))?;
    if raise_open_files() < tcp.connections + OWN_FILES {
        eprintln!(
            "txn_engine: {} connections are more than this machine allows files to be open (ulimit -n): skipped",
            tcp.connections
        );
        return Ok(Observation::default());
    }
    let folder = tempfile::tempdir().map_err(|error| text(&error))?;
    let dump = folder.path().join("dump");
    let mut arguments =
        ["serve", "--addr", "127.0.0.1:0", "--until-stdin-closes", "--mode", mode.name()].map(str::to_owned).to_vec();
    let state = state(tcp, request.seed);
    if mode != Mode::Null {
        arguments.extend(["--dump".to_owned(), dump.display().to_string()]);
        let load = state.iter().flat_map(|state| ["--load".to_owned(), state.display().to_string()]);
        arguments.extend(load);
    }
    let server = Server::of_this_program(&arguments).map_err(|error| text(&error))?;
    let address = server.address().parse().map_err(|error| text(&error))?;
    let load = Load {
        address,
        clients: tcp.connections,
        rate: tcp.rate,
        duration: tcp.window,
        warm_up: WARM_UP,
        arrivals: Arrivals::Poisson,
        seed: request.seed,
        first_tx: FIRST_TX,
        patience: PATIENCE,
    };
    let mut aside = Aside::open(address).map_err(|error| text(&error))?;
    let mut at = Stages { before: look(&mut aside)?, ..Stages::default() };
    let mut lost = None;
    let outcome = load.run_and_tell(|stage| match (look(&mut aside), stage) {
        (Ok(seen), Stage::Connected) => at.connected = seen,
        (Ok(seen), Stage::Answered) => at.answered = seen,
        (Err(error), _) => lost = Some(error),
    });
    let outcome = outcome.map_err(|error| text(&error))?;
    if let Some(error) = lost {
        return Err(error);
    }
    drop(aside);
    server.stop().map_err(|error| text(&error))?;
    let mut digest = String::new();
    if mode != Mode::Null {
        let got = Session::load(&dump).map_err(|error| text(&error))?;
        let want = expected(&load, &outcome, state.as_deref()).map_err(|error| text(&error))?;
        let known = |accounts: Vec<(u16, Account)>| -> Vec<_> {
            let unknown = |client: u16| matches!(outcome.taken.get(usize::from(client) - 1), Some(None));
            accounts.into_iter().filter(|&(client, _)| client == 0 || !unknown(client)).collect()
        };
        let got = accounts::to_csv(&known(got.accounts));
        if got != accounts::to_csv(&known(want)) {
            return Err("wrong answer: the accounts are not those of the rows that were sent".to_owned());
        }
        // Who refuses connections has other accounts, which are right for what it took.
        if outcome.failed == 0 && outcome.refused == 0 && outcome.unserved == 0 {
            digest = inputs::digest(&got);
        }
    }
    let mut observation = Observation { digest, metrics: metrics(tcp, &outcome, &at), ..Observation::default() };
    let histogram = outcome.response.encode().map_err(|error| text(&error))?;
    observation.histograms.insert("response_ns", histogram);
    Ok(observation)
}

/// What the server and this process were like at one moment.
#[derive(Debug, Default)]
struct Seen {
    server: Stats,
    client_cpu_s: f64,
    /// Memory of the kernel for the stacks of all threads of the machine.
    kernel_stack_kib: f64,
}

/// At the stages of a load.
#[derive(Debug, Default)]
struct Stages {
    before: Seen,
    connected: Seen,
    answered: Seen,
}

fn look(aside: &mut Aside) -> Result<Seen, String> {
    let server = aside.stats().map_err(|error| one_line(&error))?;
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let stack = memory.lines().find_map(|line| line.strip_prefix("KernelStack:")?.split_ascii_whitespace().next());
    Ok(Seen {
        server,
        client_cpu_s: processor_s().map_or(0.0, |(user_s, system_s)| user_s + system_s),
        kernel_stack_kib: stack.and_then(|kib| kib.parse().ok()).unwrap_or(0.0),
    })
}

/// The accounts of a naive server that gets the rows of one client after the other.
fn expected(
    load: &Load,
    outcome: &Outcome,
    state: Option<&std::path::Path>,
) -> Result<Vec<(u16, Account)>, crate::Error> {
    let session = state.map(Session::load).transpose()?.unwrap_or_default();
    let mut ledger = Ledger::resume(session);
    let mut parser = Parser::new(Columns::IN_ORDER, Reading::Bytes);
    let mut line = Vec::new();
    for (client, &rows) in outcome.taken.iter().enumerate() {
        let mut script = load.script(client);
        for _ in 0..rows.unwrap_or(0) {
            line.clear();
            script.next(&mut line);
            parser.read_block(&line, 1, |entry| {
                if let Entry::Row(row) = entry {
                    // A rejected row changes nothing here as there.
                    let _ = ledger.process(&row);
                }
                true
            });
        }
    }
    Ok(ledger.accounts())
}

#[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^53")]
fn metrics(tcp: &Tcp, outcome: &Outcome, at: &Stages) -> Metrics {
    let count = |count: u64| count as f64;
    let connections = tcp.connections as f64;
    let served = (connections - count(outcome.refused) - count(outcome.unserved)).max(1.0);
    let Stages { before, connected, answered } = at;
    let rows = count(
        (answered.server.accepted + answered.server.rejected)
            .saturating_sub(connected.server.accepted + connected.server.rejected),
    );
    let cpu_s = |stats: &Stats| stats.user_s + stats.system_s;
    let server_cpu_s = cpu_s(&answered.server) - cpu_s(&connected.server);
    let switches = |of: fn(&Stats) -> u64| count(of(&answered.server).saturating_sub(of(&connected.server)));
    let failed_share = count(outcome.failed) / count(outcome.rows).max(1.0);
    let growth_bytes = |before: f64, after: f64| (after - before).max(0.0) * 1024.0 / served;
    let mut metrics = Metrics::from([
        ("work_s", outcome.elapsed.as_secs_f64()),
        ("connections_count", connections),
        ("connecting_s", outcome.connecting.as_secs_f64()),
        ("offered_per_s", tcp.rate),
        ("achieved_per_s", count(outcome.accepted + outcome.rejected) / tcp.window.as_secs_f64()),
        ("rows_count", count(outcome.rows)),
        ("rejected_count", count(outcome.rejected)),
        ("failed_count", count(outcome.failed)),
        ("failed_percent", failed_share * 100.0),
        ("refused_count", count(outcome.refused)),
        ("unserved_count", count(outcome.unserved)),
        ("server_cpu_s", server_cpu_s),
        ("server_row_us", server_cpu_s * 1e6 / rows.max(1.0)),
        ("client_cpu_s", answered.client_cpu_s - connected.client_cpu_s),
        ("server_peak_rss_kib", kib(answered.server.peak_rss_kib)),
        ("connection_bytes", growth_bytes(kib(before.server.rss_kib), kib(connected.server.rss_kib))),
        ("connection_kernel_stack_bytes", growth_bytes(before.kernel_stack_kib, connected.kernel_stack_kib)),
        ("server_threads_count", count(connected.server.threads)),
        ("server_maps_count", count(connected.server.maps)),
        ("server_voluntary_switches_count", switches(|stats| stats.voluntary_switches)),
        ("server_involuntary_switches_count", switches(|stats| stats.involuntary_switches)),
        ("row_switches_ratio", switches(|stats| stats.voluntary_switches) / rows.max(1.0)),
    ]);
    let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
    let mut insert = |name, value: Option<f64>| metrics.extend(value.map(|value| (name, value)));
    let quantile = |times: &Distribution, share| ms(times.quantile(share));
    insert("response_mean_ms", ms(outcome.response.mean()));
    insert("response_p50_ms", quantile(&outcome.response, 0.5));
    insert("response_p99_ms", quantile(&outcome.response, 0.99));
    insert("response_p999_ms", quantile(&outcome.response, 0.999));
    insert("response_max_ms", ms(outcome.response.max()));
    insert("service_mean_ms", ms(outcome.service.mean()));
    insert("service_p99_ms", quantile(&outcome.service, 0.99));
    insert("sent_late_p99_ms", quantile(&outcome.lateness, 0.99));
    // A server that loses rows has no quantile that could be compared.
    let decided = if failed_share > MOST_FAILED { Some(NEVER_S * 1e3) } else { quantile(&outcome.response, 0.99) };
    insert("p99_or_failed_ms", decided);
    insert_peaks(&mut metrics, answered.server.peak_rss_kib);
    metrics
}

/// The peak of this process, and the larger of it and that of the process it started: what GNU time sees.
fn insert_peaks(metrics: &mut Metrics, child_kib: u64) {
    if let Some(own_kib) = peak_rss_kib() {
        metrics.extend([("peak_rss_kib", kib(own_kib)), ("process_peak_rss_kib", kib(own_kib.max(child_kib)))]);
    }
}

/// What `clients` prints.
#[derive(Debug, Deserialize)]
struct Clients {
    whole_s: f64,
    start_s: f64,
    work_s: f64,
    accepted: u64,
    digest: String,
    there: Stats,
    end: Stats,
}

/// So many clients in one process, without sockets.
#[expect(clippy::cast_precision_loss, reason = "counts of one run stay far below 2^53")]
pub(super) fn clients(count: usize, request: &RunRequest) -> Result<Observation, String> {
    let kind = match request.arm.as_str() {
        "spawn_threads" | "spawn_threads@aa" => "threads",
        "spawn_tasks" => "tasks",
        other => return Err(format!("unknown arm '{other}': choose one of spawn_threads, spawn_tasks")),
    };
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    // In a process of its own, because a thread that cannot be started ends the process.
    let mut command = Command::new(program);
    command.args(["clients", "--as", kind, "--rows", &ROWS_EACH.to_string()]);
    command.args(["--clients", &count.to_string(), "--seed", &request.seed.to_string()]);
    let done = command.output().map_err(|error| format!("cannot start the clients: {error}"))?;
    let mut metrics = Metrics::from([("clients_count", count as f64)]);
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        eprintln!("txn_engine: {count} {kind}: {}: {}", done.status, said.lines().next().unwrap_or_default());
        metrics.extend([("crashed_count", 1.0), ("whole_or_crash_s", NEVER_S), ("apply_or_crash_s", NEVER_S)]);
        return Ok(Observation { metrics, ..Observation::default() });
    }
    let done: Clients = serde_json::from_slice(&done.stdout).map_err(|error| format!("no answer: {error}"))?;
    let rows = (count * ROWS_EACH) as u64;
    if done.accepted != rows {
        return Err(format!("wrong answer: {} rows accepted, expected {rows}", done.accepted));
    }
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
    insert_peaks(&mut metrics, done.end.peak_rss_kib);
    Ok(Observation { digest: done.digest, metrics, ..Observation::default() })
}
