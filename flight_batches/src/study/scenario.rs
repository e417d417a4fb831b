//! Scenarios and the arms that run in them.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use arrow_ipc::writer::FileWriter;
use study_kit::error::unknown;
use study_kit::{Case, Error, Profile};

use super::arm::POOL_THREADS;
use crate::load::{Form, number};
use crate::table::{Shape, Table};
use crate::ticket::Ticket;

/// A named setting: what every request asks for, and how many there are at once.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Rows of a batch.
    pub records: usize,
    /// What each batch takes to come, in microseconds.
    pub delay_us: u32,
    /// Requests at once.
    pub requests: usize,
    /// Batches of a request; the table once without it.
    pub batches: Option<usize>,
    /// For how long.
    pub form: Form,
    /// The arms by name.
    pub arms: &'static [&'static str],
    /// The arms that also run as a twin and with a handicap.
    controls: &'static [&'static str],
    profiles: &'static [Profile],
    /// Rows of the table; what pyarrow serves has to be written to a file.
    table_rows: usize,
    /// Expected wall time of a run on two cores, in seconds.
    seconds: f64,
}

/// Until all streams are accepted a loaded server works at full speed already, so that little warm-up is left to do.
const WINDOW: Form = Form::Window { warm_up: Duration::from_millis(100), window: Duration::from_secs(1) };
const ALL: &[Profile] = &Profile::ALL;
const MEASURED: &[Profile] = &[Profile::Quick, Profile::Full];
const FULL: &[Profile] = &[Profile::Full];

const PUBLISHED: &[&str] = &["async", "sync"];
const WITH_QUEUE: &[&str] = &["async", "sync", "sync_prefetch"];
const WAYS: &[&str] =
    &["async_p0", "async_p1", "async_p4", "sync", "sync_p1", "sync_p4", "pool", "spawn_blocking", "sleep_in_poll"];
const EQUAL: &[&str] = &["async_p1", "sync_p1"];
/// As published, and with one batch ahead on both sides.
const BOTH: &[&str] = &["async", "sync", "async_p1", "sync_p1"];

/// Starting the server with its table, and ending it.
const AROUND_S: f64 = 0.45;

/// Requests in a window: `d10_r5k_c1000` is 10 ms per batch, batches of 5,000 rows, 1,000 requests.
fn cell(delay_ms: u32, records: usize, requests: usize, profiles: &'static [Profile]) -> Scenario {
    Scenario {
        name: format!("d{delay_ms}_r{}k_c{requests}", records / 1000),
        records,
        delay_us: delay_ms * 1000,
        requests,
        batches: None,
        form: WINDOW,
        arms: PUBLISHED,
        controls: &[],
        profiles,
        table_rows: Shape::default().rows,
        // Accepting a stream of large batches waits behind those of the others.
        seconds: 1.1 + AROUND_S + number(requests as u64) * if records > 1000 { 1.25e-3 } else { 7.5e-4 },
    }
}

/// One request, as the original's generator sent whatever it was told; of so many batches, or the whole table.
fn single(delay_ms: u32, records: usize, batches: usize, arms: &'static [&'static str]) -> Scenario {
    let per_batch_s = f64::from(delay_ms) * 1e-3 + number(records as u64) * 2.5e-7;
    Scenario {
        name: format!("single_d{delay_ms}_r{}k", records / 1000),
        batches: Some(batches),
        form: Form::Whole,
        arms,
        seconds: AROUND_S + per_batch_s * number(batches as u64),
        ..cell(delay_ms, records, 1, MEASURED)
    }
}

/// So many requests of so many batches, to their end.
fn whole(name: &str, delay_us: u32, records: usize, requests: usize, batches: usize) -> Scenario {
    let (all, bytes) = (number(batches as u64), number((records * 400 * requests * batches) as u64));
    Scenario {
        name: name.to_owned(),
        delay_us,
        batches: Some(batches),
        form: Form::Whole,
        arms: EQUAL,
        seconds: AROUND_S + f64::max(f64::from(delay_us) * 1e-6 * all, bytes / 1.6e9),
        ..cell(0, records, requests, MEASURED)
    }
}

/// Every scenario.
#[must_use]
pub fn scenarios() -> Vec<Scenario> {
    let mut all = vec![
        Scenario { controls: &["sync"], profiles: ALL, arms: BOTH, ..cell(1, 10_000, 1000, ALL) },
        cell(1, 1000, 1000, MEASURED),
        cell(10, 1000, 1000, MEASURED),
        cell(10, 5000, 1000, MEASURED),
        cell(10, 10_000, 1000, MEASURED),
        cell(100, 1000, 1000, MEASURED),
        cell(100, 10_000, 1000, MEASURED),
        Scenario { arms: BOTH, ..cell(1, 10_000, 10, MEASURED) },
        cell(1, 10_000, 2000, MEASURED),
        Scenario { controls: &["sync"], profiles: ALL, ..single(1, 10_000, 100, WITH_QUEUE) },
        single(1, 1000, 100, PUBLISHED),
        single(10, 5000, 25, WITH_QUEUE),
        single(10, 1000, 25, PUBLISHED),
        single(10, 10_000, 25, PUBLISHED),
        single(100, 1000, 5, PUBLISHED),
        single(100, 10_000, 5, PUBLISHED),
        // Below saturation and far beyond it, each request to its end.
        Scenario { arms: BOTH, controls: &["sync"], ..whole("short_10ms", 10_000, 1000, 20, 20) },
        Scenario { arms: BOTH, controls: &["sync"], ..whole("short_1ms", 1000, 1000, 200, 20) },
        // What else could wait for a batch, at a load that all could carry.
        Scenario { name: "ways".to_owned(), arms: WAYS, profiles: ALL, ..cell(10, 1000, 40, MEASURED) },
        Scenario {
            name: "ways_600".to_owned(),
            arms: &["async_p0", "sync", "spawn_blocking"],
            ..cell(100, 100, 600, MEASURED)
        },
        Scenario { arms: &["pool", "pool_p1"], ..whole("pool_model", 10_000, 1000, 40, 20) },
        whole("below_10ms", 10_000, 1000, 10, 50),
        whole("below_100ms", 100_000, 1000, 40, 6),
        // Small batches: what is late here is the timer.
        whole("timers_1ms", 1000, 100, 2, 400),
        // No batch comes before all have asked.
        whole("all_2000", 2_000_000, 10_000, 2000, 2),
        nodelay(4),
        nodelay(16),
    ];
    for delay_ms in [1, 10, 100] {
        for records in [1000, 5000, 10_000] {
            for requests in [10, 100, 500, 1000, 2000] {
                let cell = cell(delay_ms, records, requests, FULL);
                if all.iter().all(|scenario| scenario.name != cell.name) {
                    all.push(cell);
                }
            }
            let requests = Scenario {
                name: format!("whole_d{delay_ms}_r{}k_c10", records / 1000),
                batches: None,
                arms: PUBLISHED,
                profiles: FULL,
                seconds: 2.5 + f64::from(delay_ms) * 1e-3 * number((1_000_000 / records) as u64),
                ..whole("", delay_ms * 1000, records, 10, 1)
            };
            all.push(requests);
        }
    }
    all
}

/// As fast as it goes.
fn nodelay(requests: usize) -> Scenario {
    Scenario {
        name: format!("nodelay_c{requests}"),
        arms: &["stock", "shared", "pyarrow", "loopback"],
        // pyarrow repeats the table so often without Python.
        batches: Some(25_000),
        table_rows: 250_000,
        profiles: ALL,
        ..cell(0, 10_000, requests, MEASURED)
    }
}

impl Scenario {
    /// What every request asks for.
    #[must_use]
    pub fn ticket(&self) -> Ticket {
        Ticket {
            records_per_batch: self.records,
            batch_generation_delay: f64::from(self.delay_us) * 1e-6,
            batches: self.batches,
        }
    }

    /// Whether the profile has it.
    #[must_use]
    pub fn runs_in(&self, profile: Profile) -> bool {
        self.profiles.contains(&profile)
    }

    /// Rows of the table.
    #[must_use]
    pub fn table_rows(&self) -> usize {
        self.table_rows
    }

    /// Batches of a request.
    #[must_use]
    pub fn batches_of_a_request(&self) -> usize {
        self.batches.unwrap_or(self.table_rows / self.records)
    }

    /// What the delay alone would allow, in MB/s; nothing without a delay.
    #[must_use]
    pub fn ideal_mb_per_s(&self, batch_bytes: usize, pooled: bool) -> Option<f64> {
        let at_once = if pooled { self.requests.min(POOL_THREADS) } else { self.requests };
        let bytes = number((at_once * batch_bytes) as u64);
        (self.delay_us > 0).then(|| bytes / (f64::from(self.delay_us) * 1e-6) / 1e6)
    }
}

/// The scenario of that name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<Scenario, Error> {
    let all = scenarios();
    let found = all.iter().find(|scenario| scenario.name == name).cloned();
    found.ok_or_else(|| unknown("scenario", name, all.iter().map(|scenario| scenario.name.as_str())))
}

/// The test cases of a profile.
#[must_use]
pub fn cases(profile: Profile) -> Vec<Case> {
    let mut cases = Vec::new();
    for scenario in scenarios().into_iter().filter(|scenario| scenario.runs_in(profile)) {
        let seconds = (scenario.seconds * 1e2).round() / 1e2;
        // The contract's names are those of the program, for as long as it runs.
        let name: &'static str = scenario.name.leak();
        for arm in scenario.arms {
            cases.push(Case { scenario: name, arm: (*arm).to_owned(), build: "release", seconds });
            if scenario.controls.contains(arm) {
                for suffix in ["aa", "slow"] {
                    cases.push(Case { scenario: name, arm: format!("{arm}@{suffix}"), build: "release", seconds });
                }
            }
        }
    }
    cases
}

/// The table that pyarrow serves.
#[must_use]
pub fn table_file(scenario: &Scenario, seed: u64) -> PathBuf {
    data_folder().join(format!("table_{}_{seed}.arrow", scenario.table_rows))
}

fn data_folder() -> PathBuf {
    std::env::var_os("AWAIT_OR_NOT_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/data/flight_batches")),
        |folder| PathBuf::from(folder).join("flight_batches"),
    )
}

/// Writes the table that pyarrow serves, if the scenario has pyarrow and the table is not there yet.
///
/// # Errors
/// If there is no such scenario or the file cannot be written.
pub fn prepare(name: &str, seed: u64) -> anyhow::Result<()> {
    let scenario = find(name)?;
    if !scenario.arms.contains(&"pyarrow") {
        return Ok(());
    }
    let file = table_file(&scenario, seed);
    if file.exists() {
        return Ok(());
    }
    let write = || -> anyhow::Result<()> {
        let folder = file.parent().context("the data folder has no name")?;
        std::fs::create_dir_all(folder)?;
        let unfinished = file.with_extension(format!("{}.part", std::process::id()));
        let table = Table::new(Shape { rows: scenario.table_rows, seed, ..Shape::default() })?;
        let mut writer = FileWriter::try_new_buffered(File::create(&unfinished)?, &table.schema())?;
        for number in 0..table.batches(scenario.records) {
            writer.write(&table.batch(number, scenario.records))?;
        }
        writer.finish()?;
        std::fs::rename(&unfinished, &file)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}
