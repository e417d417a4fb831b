//! The published comparison: what is typed of it, arms one after the other under each hold, and the document's tables of what came of it.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Parser, value_parser};
use humantime::parse_duration;
use indicatif::{ProgressBar, ProgressStyle};

use crate::design::{ARMS, Arm, find};
use crate::driver;
use crate::metrics::{self, Metrics};
use crate::workload::{Loop, Workload};

mod tables;

pub use tables::tables;

/// The longest hold, pause and window.
const LONGEST: Duration = Duration::from_hours(1);
/// Reads that one run may schedule.
const SCHEDULED: std::ops::RangeInclusive<f64> = 1.0..=1e6;
/// Most readers and writers together: some arms have a thread for each.
const MOST_TASKS: usize = 4_000;
/// Pause of the writers in the open loop, as in the measurement: without one, some designs never let a reader in.
const REST: Duration = Duration::from_millis(5);

/// Arms and the setting in which they are compared; the defaults are the published setting but for its length.
#[derive(Debug, Clone, Parser)]
pub struct Comparison {
    /// Arms, in the order of the columns [default: the published three and `wal_threads`]
    #[arg(
        long = "arm",
        value_name = "ARMS",
        value_delimiter = ',',
        default_value = "direct,spawn_blocking,tokio_rusqlite,wal_threads",
        hide_default_value = true,
        value_parser = |name: &str| find(&ARMS.each_ref(), name)
    )]
    pub arms: Vec<&'static Arm>,
    /// How long a write holds its database; each arm runs once per hold
    #[arg(long, value_name = "TIMES", value_delimiter = ',', default_value = "100ms,1s,10s", value_parser = parse_duration)]
    pub holds: Vec<Duration>,
    /// Databases, each with one writer
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u16).range(1..=1000))]
    pub databases: u16,
    /// Readers of each database, and reading connections of the arms that have several
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u16).range(1..=1000))]
    pub readers: u16,
    /// Worker threads of the runtime
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u16).range(1..=1000))]
    pub workers: u16,
    /// Window of a run, in which operations begin [default: 4.5 holds, from 2.05 s to 12 s or 1.2 holds]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// Pause of a reader between two reads
    #[arg(long, value_name = "TIME", default_value = "5ms", value_parser = parse_duration)]
    pub think: Duration,
    /// Open loop: N reads per second and database on a schedule; writers then pause for 5 ms
    #[arg(long, value_name = "N", conflicts_with = "think")]
    pub rate: Option<f64>,
    /// Where databases lie that are files
    #[arg(long, value_name = "DIR", default_value_os_t = memory())]
    pub directory: PathBuf,
}

/// A file system in memory, where there is one.
fn memory() -> PathBuf {
    Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir()).unwrap_or_else(std::env::temp_dir)
}

impl Comparison {
    /// This comparison without repetitions, if it makes sense.
    pub fn checked(mut self) -> Result<Self> {
        let (mut names, mut holds) = (HashSet::new(), HashSet::new());
        self.arms.retain(|arm| names.insert(arm.name));
        self.holds.retain(|&hold| holds.insert(hold));
        let tasks = (usize::from(self.readers) + 1) * usize::from(self.databases);
        ensure!(tasks <= MOST_TASKS, "--databases x (--readers + 1) is {tasks}: at most {MOST_TASKS}");
        let holds = self.holds.iter().map(|&hold| ("--holds", hold));
        let others = [("--think", self.think), ("--duration", self.duration.unwrap_or_default())];
        for (flag, time) in holds.chain(others) {
            ensure!(time <= LONGEST, "{flag} {time:?} is too long: at most an hour");
        }
        ensure!(self.duration.is_none_or(|duration| !duration.is_zero()), "--duration must be longer than nothing");
        for (rate, &hold) in self.rate.iter().cycle().zip(&self.holds) {
            let window = self.window(hold);
            let reads = (rate * window.as_secs_f64()).floor() * f64::from(self.databases);
            ensure!(
                SCHEDULED.contains(&reads),
                "--rate {rate} schedules {reads:.0} reads in {window:?}: it takes 1 to 1,000,000"
            );
        }
        Ok(self)
    }

    /// For how long operations are begun. The odd shares keep its end away from the end of a write, which would make the last one a matter of chance.
    pub fn window(&self, hold: Duration) -> Duration {
        const LEAST: Duration = Duration::from_millis(2_050);
        const MOST: Duration = Duration::from_secs(12);
        self.duration.unwrap_or_else(|| hold.mul_f64(4.5).clamp(LEAST, MOST.max(hold.mul_f64(1.2))))
    }

    pub fn workload(&self, hold: Duration) -> Workload {
        let closed = Workload {
            databases: self.databases.into(),
            readers: self.readers.into(),
            workers: self.workers.into(),
            think: self.think,
            ..Workload::published(hold, self.window(hold))
        };
        match self.rate {
            None => closed,
            Some(reads_per_s) => Workload { reads: Loop::Open { reads_per_s }, rest: REST, ..closed },
        }
    }

    /// How long the run of an arm takes about: writes that have begun are waited for.
    pub fn expected_time(&self, hold: Duration) -> Duration {
        self.window(hold) + hold.mul_f64(0.8)
    }

    pub fn runs(&self) -> impl Iterator<Item = (Duration, &'static Arm)> + '_ {
        self.holds.iter().flat_map(|&hold| self.arms.iter().map(move |&arm| (hold, arm)))
    }
}

#[derive(Debug, Clone)]
pub struct Row {
    pub arm: &'static Arm,
    pub hold: Duration,
    /// What was measured, by name; what is absent has no value.
    pub metrics: Metrics,
    /// What was wrong: operations that failed, a write that was lost.
    pub fault: Option<String>,
}

/// Runs every arm at every hold, one after the other. A run that breaks off is a row with a fault; the others are made.
pub fn measure(comparison: &Comparison) -> Result<Vec<Row>> {
    let folder = &comparison.directory;
    // Made by the user, or not at all: a typing error is not worth a new folder. Whether files can be made there shows before a minute has passed.
    fs::read_dir(folder).with_context(|| format!("cannot use the folder {}", folder.display()))?;
    driver::own_folder(folder)?;
    let total: Duration = comparison.runs().map(|(hold, _)| comparison.expected_time(hold)).sum();
    let style = ProgressStyle::with_template("{bar:30} {percent}%, {eta} left: {msg}")?;
    let bar = ProgressBar::new(millis(total)).with_style(style);
    let mut rows = Vec::new();
    let mut before = Duration::ZERO;
    for (hold, arm) in comparison.runs() {
        let expected = comparison.expected_time(hold);
        bar.set_message(format!("{}, {hold:?}", arm.name));
        let workload = comparison.workload(hold);
        let progress = |elapsed: Duration| bar.set_position(millis(before + elapsed.min(expected)));
        let (metrics, fault) = match driver::measure(arm, &workload, folder, 0, &progress, || (), |()| ()) {
            Ok(measured) => (metrics::of(&measured.tally, &workload, hold), measured.fault),
            Err(error) => (Metrics::new(), Some(format!("{error:#}"))),
        };
        if bar.is_hidden() {
            // Whoever has closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "{}, {hold:?}: {}", arm.name, fault.as_deref().unwrap_or("done"));
        }
        rows.push(Row { arm, hold, metrics, fault });
        before += expected;
        bar.set_position(millis(before));
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
