//! Many clients over TCP, with the server in a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use procfs::Current as _;
use study_kit::server::Server;
use study_kit::usage::{kib, peak_rss_kib, processor_s};
use study_kit::{Metrics, Observation, TestCase, data};
use txn_engine::accounts::{self, Books as _};
use txn_engine::ledger::Ledger;
use txn_engine::load::{Answers, Arrivals, Load, Times};
use txn_engine::rules::Account;
use txn_engine::serve::{Stats, raise_open_files};
use txn_engine::session::Session;
use txn_engine::{Setup, generate::Shape, process_files};

use crate::cases::{Files, Setting, Tcp};
use crate::inputs::{self, Set};

/// Rows per second that both kinds of server can carry.
const RATE: f64 = 10_000.0;
/// Rows that count are sent for so long.
const WINDOW: Duration = Duration::from_millis(500);
const WARM_UP: Duration = Duration::from_millis(300);
/// Answers that do not come within this have failed, and so have connections.
const PATIENCE: Duration = Duration::from_secs(3);
/// A server that does not answer a question within this is not there.
const ASIDE_PATIENCE: Duration = Duration::from_secs(30);
/// Above all ids of a state that was there before.
const FIRST_TX: u32 = 2_000_000_000;
/// A share of rows above this that fails is a failure of the server.
const MOST_FAILED: f64 = 0.001;
/// Stands for the time of what has failed: an hour.
const NEVER_MS: f64 = 3_600_000.0;
const OWN_FILES: usize = 100;

/// Writes the state that `tcp` begins with, unless it is there.
pub fn prepare(tcp: &Tcp, seed: u64) -> Result<()> {
    let Some(folder) = state(tcp, seed) else { return Ok(()) };
    if Session::read(&folder).is_ok() {
        return Ok(());
    }
    let set = Set::new(&Files::new(Some(Shape::Accepted), tcp.state_rows), seed);
    set.prepare()?;
    let outcome = process_files(Setup::BEST_ALL_CORES, &set.paths(), Session::default())?;
    let claim = Session::claim(&folder, |warning| eprintln!("txn_engine: {warning}"))?;
    Ok(outcome.books.session().dump(claim)?)
}

fn state(tcp: &Tcp, seed: u64) -> Option<PathBuf> {
    (tcp.state_rows > 0).then(|| data::folder(inputs::STUDY).join(format!("state-v2-{}-s{seed}", tcp.state_rows)))
}

/// One server, one load. The arm is the mode of the server.
pub fn observe(case: &TestCase<'_, Setting>, tcp: &Tcp) -> Result<Observation> {
    let most_files = raise_open_files();
    if most_files < tcp.connections + OWN_FILES {
        eprintln!("txn_engine: {} connections, but only {most_files} open files (ulimit -n): skipped", tcp.connections);
        return Ok(Observation::default());
    }
    let keeps_accounts = case.arm != "null";
    let folder = tempfile::tempdir().context("cannot create a folder for the dump")?;
    let dump = folder.path().join("dump");
    let state = state(tcp, case.seed);
    let mut arguments =
        ["serve", "--addr", "127.0.0.1:0", "--until-stdin-closes", "--mode", case.arm].map(str::to_owned).to_vec();
    if keeps_accounts {
        arguments.extend(["--dump".to_owned(), dump.display().to_string()]);
        arguments.extend(state.iter().flat_map(|state| ["--load".to_owned(), state.display().to_string()]));
    }
    let server = Server::of_this_program(&arguments)?;
    let load = Load {
        address: server.address().to_owned(),
        clients: tcp.connections,
        rate: RATE,
        duration: WINDOW,
        warm_up: WARM_UP,
        arrivals: Arrivals::Poisson,
        seed: case.seed,
        first_tx: FIRST_TX,
        patience: PATIENCE,
    };
    let mut aside = connect_aside(&load.address)?;
    // At the beginning, with all connections there, and with all answers there.
    let mut seen = vec![look(&mut aside)];
    let answers = load.run(|| seen.push(look(&mut aside)))?;
    drop(aside);
    let seen = seen.into_iter().collect::<Result<Vec<_>>>()?;
    let [before, connected, answered] = &seen[..] else { bail!("the load has left out a stage") };
    server.stop()?;
    let digest = if keeps_accounts { check(&dump, &load, &answers, state.as_deref())? } else { String::new() };
    let mut observation = Observation::new(digest, metrics(tcp, &answers, [before, connected, answered]));
    observation.child_peak_kib = Some(answered.server.peak_rss_kib);
    Ok(observation)
}

/// Compares the accounts in `dump` with those of a naive server that gets the rows of one client after the other; their fingerprint, unless
/// some rows were not taken.
fn check(dump: &Path, load: &Load, answers: &Answers, state: Option<&Path>) -> Result<String> {
    let mut ledger = Ledger::resume(state.map(Session::read).transpose()?.unwrap_or_default());
    for (client, &rows) in answers.taken.iter().enumerate() {
        let mut script = load.script(client);
        for _ in 0..rows.unwrap_or(0) {
            // A rejected row changes nothing here as there.
            let _ = ledger.process(&script.next_row());
        }
    }
    let is_known = |&(client, _): &(u16, Account)| {
        let number = usize::from(client).wrapping_sub(1);
        !matches!(answers.taken.get(number), Some(None))
    };
    let [got, right] = [Session::read(dump)?.accounts, ledger.accounts()].map(|mut accounts| {
        accounts.retain(is_known);
        accounts::to_csv(&accounts)
    });
    ensure!(got == right, "wrong answer: the accounts are not those of the rows that were sent");
    // Who refuses connections has other accounts, which are right for what it took.
    let took_all = answers.failed == 0 && answers.refused == 0 && answers.unserved == 0;
    Ok(if took_all { accounts::digest(&got) } else { String::new() })
}

/// A connection beside the load, to ask the server how it fares.
fn connect_aside(address: &str) -> Result<BufReader<TcpStream>> {
    let address = address.parse().context("the server listens nowhere")?;
    let stream = TcpStream::connect_timeout(&address, ASIDE_PATIENCE).context("cannot connect to the server")?;
    stream.set_read_timeout(Some(ASIDE_PATIENCE))?;
    Ok(BufReader::new(stream))
}

fn look(aside: &mut BufReader<TcpStream>) -> Result<Seen> {
    aside.get_mut().write_all(b"stats\n").context("cannot ask the server")?;
    let mut line = String::new();
    aside.read_line(&mut line).context("the server does not answer")?;
    let server = serde_json::from_str(&line).context("the server does not say how it fares")?;
    let stacks = procfs::Meminfo::current().ok().and_then(|memory| memory.kernel_stack);
    let kernel_stack_kib = stacks.map_or(0.0, |bytes| kib(bytes / 1024));
    Ok(Seen { server, client_cpu_s: processor_s(), kernel_stack_kib })
}

/// What the server, this process and the machine were like at one moment.
struct Seen {
    server: Stats,
    client_cpu_s: f64,
    /// Memory of the kernel for the stacks of all threads of the machine.
    kernel_stack_kib: f64,
}

fn metrics(tcp: &Tcp, answers: &Answers, [before, connected, answered]: [&Seen; 3]) -> Metrics {
    let count = |count: u64| count as f64;
    let connections = tcp.connections as f64;
    let served = (connections - count(answers.refused) - count(answers.unserved)).max(1.0);
    let gained = |of: fn(&Stats) -> u64| count(of(&answered.server).saturating_sub(of(&connected.server)));
    let rows = gained(|stats| stats.accepted + stats.rejected);
    let cpu_s = |stats: &Stats| stats.user_s + stats.system_s;
    let server_cpu_s = cpu_s(&answered.server) - cpu_s(&connected.server);
    let voluntary_switches = gained(|stats| stats.voluntary_switches);
    let failed_share = count(answers.failed) / count(answers.rows).max(1.0);
    let growth_bytes = |before: f64, after: f64| (after - before).max(0.0) * 1024.0 / served;
    let Answers { response, service, lateness, .. } = answers;
    // Of no times at all there is neither mean nor quantile: what is no number is left out.
    let of = |times: &Times, ns: f64| if times.is_empty() { f64::NAN } else { ns / 1e6 };
    let mean_ms = |times: &Times| of(times, times.mean());
    let ms = |times: &Times, share| of(times, times.value_at_quantile(share) as f64);
    Metrics::from([
        ("work_s", answers.elapsed.as_secs_f64()),
        ("connections_count", connections),
        ("connecting_s", answers.connecting_s),
        ("achieved_per_s", count(answers.accepted + answers.rejected) / WINDOW.as_secs_f64()),
        ("failed_count", count(answers.failed)),
        ("failed_percent", failed_share * 100.0),
        ("refused_count", count(answers.refused)),
        ("unserved_count", count(answers.unserved)),
        ("server_cpu_s", server_cpu_s),
        ("client_cpu_s", answered.client_cpu_s - connected.client_cpu_s),
        ("server_row_us", server_cpu_s * 1e6 / rows.max(1.0)),
        ("peak_rss_kib", peak_rss_kib().map_or(f64::NAN, kib)),
        ("server_peak_rss_kib", kib(answered.server.peak_rss_kib)),
        ("connection_bytes", growth_bytes(kib(before.server.rss_kib), kib(connected.server.rss_kib))),
        ("connection_kernel_stack_bytes", growth_bytes(before.kernel_stack_kib, connected.kernel_stack_kib)),
        ("server_threads_count", count(connected.server.threads)),
        ("server_maps_count", count(connected.server.maps)),
        ("server_voluntary_switches_count", voluntary_switches),
        ("server_involuntary_switches_count", gained(|stats| stats.involuntary_switches)),
        ("row_switches_ratio", voluntary_switches / rows.max(1.0)),
        ("response_mean_ms", mean_ms(response)),
        ("response_p50_ms", ms(response, 0.5)),
        ("response_p99_ms", ms(response, 0.99)),
        ("response_p999_ms", ms(response, 0.999)),
        ("service_mean_ms", mean_ms(service)),
        ("sent_late_p99_ms", ms(lateness, 0.99)),
        // A server that loses rows has no quantile that could be compared.
        ("p99_or_failed_ms", if failed_share > MOST_FAILED { NEVER_MS } else { ms(response, 0.99) }),
    ])
}
