//! What to run for a comparison, and the tables of what came of it. Nothing here measures.

use std::path::PathBuf;
use std::time::Duration;

use super::metrics::Metrics;
use crate::design::Arm;
use crate::workload::{Load, Workload};

mod grid;
mod tables;

/// The longest hold, pause and window.
const LONGEST: Duration = Duration::from_hours(1);
/// Most reads that one run schedules.
const MOST_SCHEDULED: f64 = 1e6;
/// Most readers and writers together: some arms have a thread for each.
const MOST_TASKS: usize = 4_000;
/// Pause of the writers in the open loop, as in the study: without one, some designs never let a reader in.
const REST: Duration = Duration::from_millis(5);

/// Arms and the setting in which they are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What is compared, in the order of the columns.
    pub arms: Vec<Arm>,
    /// How long writes hold their database, in the order of the rows.
    pub holds: Vec<Duration>,
    /// Databases, each with one writer.
    pub databases: usize,
    /// Readers of each database in the closed loop, and reading connections of designs that have several.
    pub readers: usize,
    /// Worker threads of the runtime.
    pub workers: usize,
    /// For how long operations are begun; by default it follows from the hold, [`Comparison::window`].
    pub duration: Option<Duration>,
    /// Pause of a reader between two reads, in the closed loop.
    pub think: Duration,
    /// Reads per second and database; `None` is the closed loop.
    pub reads_per_s: Option<f64>,
    /// Where databases lie that are files; by default in memory.
    pub directory: Option<PathBuf>,
    /// Seed of the content.
    pub seed: u64,
    /// File that gets a record of each run.
    pub record: Option<PathBuf>,
}

impl Default for Comparison {
    /// The published arms and this crate's pool, in the published setting but for its length.
    fn default() -> Self {
        let published = Workload::published(Duration::ZERO, Duration::ZERO);
        Comparison {
            arms: vec![Arm::Direct, Arm::SpawnBlocking, Arm::TokioRusqlite, Arm::WalThreads],
            holds: [100, 1_000, 10_000].map(Duration::from_millis).to_vec(),
            databases: published.databases,
            readers: published.readers,
            workers: published.workers,
            duration: None,
            think: published.think,
            reads_per_s: None,
            directory: None,
            seed: 0,
            record: None,
        }
    }
}

/// One arm under one hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The arm.
    pub arm: Arm,
    /// How long a write held its database.
    pub hold: Duration,
    /// What was measured, by name; what is absent has no value.
    pub metrics: Metrics,
    /// What was wrong although the arm should have no failures: operations that failed, a write that was lost.
    pub fault: Option<String>,
    /// What the first operation said that failed; of a negative control that is no fault.
    pub first_error: Option<String>,
}

/// A setting that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// Without arms or holds there is nothing to run.
    #[error("nothing to compare: give --arm and --holds at least one value")]
    Nothing,
    /// There must be at least one, and not more tasks than a machine has threads for.
    #[error(
        "--databases, --readers and --workers must be at least 1, and databases x (readers + 1) at most {MOST_TASKS}"
    )]
    Count,
    /// A time beyond what is told apart.
    #[error("{flag} {time:?} is too long: at most an hour")]
    TooLong {
        /// The flag.
        flag: &'static str,
        /// What was given.
        time: Duration,
    },
    /// No operation can begin in no time.
    #[error("--duration must be longer than nothing")]
    NoDuration,
    /// No rate.
    #[error("--rate {0} is no rate: give a number of reads per second and database above 0")]
    Rate(f64),
    /// Too many reads.
    #[error("--rate {rate} schedules {reads:.0} reads in {window:?}: at most 1,000,000, so lower --rate or --duration")]
    TooMany {
        /// What was given.
        rate: f64,
        /// What it comes to, over all databases.
        reads: f64,
        /// The window of the run.
        window: Duration,
    },
    /// Too few.
    #[error("--rate {rate} schedules no read in {window:?}: raise --rate or --duration")]
    TooFew {
        /// What was given.
        rate: f64,
        /// The window of the run.
        window: Duration,
    },
}

impl Comparison {
    /// This comparison without repetitions, if it makes sense.
    ///
    /// # Errors
    /// Says what makes none.
    pub fn checked(mut self) -> Result<Self, Unfit> {
        keep_first(&mut self.arms);
        keep_first(&mut self.holds);
        if self.arms.is_empty() || self.holds.is_empty() {
            return Err(Unfit::Nothing);
        }
        let tasks = self.readers.saturating_add(1).saturating_mul(self.databases);
        if self.databases == 0 || self.readers == 0 || self.workers == 0 || tasks > MOST_TASKS {
            return Err(Unfit::Count);
        }
        let holds = self.holds.iter().map(|&hold| ("--holds", hold));
        let others = [("--think", self.think), ("--duration", self.duration.unwrap_or_default())];
        if let Some((flag, time)) = holds.chain(others).find(|&(_, time)| time > LONGEST) {
            return Err(Unfit::TooLong { flag, time });
        }
        if self.duration.is_some_and(|duration| duration.is_zero()) {
            return Err(Unfit::NoDuration);
        }
        if let Some(rate) = self.reads_per_s {
            self.holds.iter().try_for_each(|&hold| self.check_rate(rate, self.window(hold)))?;
        }
        Ok(self)
    }

    fn check_rate(&self, rate: f64, window: Duration) -> Result<(), Unfit> {
        if !rate.is_finite() || rate <= 0.0 {
            return Err(Unfit::Rate(rate));
        }
        let each = rate * window.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "databases are few")]
        let reads = each * self.databases as f64;
        if reads > MOST_SCHEDULED {
            return Err(Unfit::TooMany { rate, reads, window });
        }
        if each < 1.0 { Err(Unfit::TooFew { rate, window }) } else { Ok(()) }
    }

    /// For how long operations are begun at this hold: as given, or 4.5 holds, but at least 2.05 s and at most 12 s or 1.2 holds.
    ///
    /// The odd shares keep the end of the window away from the end of a write, which would make the last one a matter of chance.
    #[must_use]
    pub fn window(&self, hold: Duration) -> Duration {
        const LEAST: Duration = Duration::from_millis(2_050);
        const MOST: Duration = Duration::from_secs(12);
        self.duration.unwrap_or_else(|| hold.mul_f64(4.5).clamp(LEAST, MOST.max(hold.mul_f64(1.2))))
    }

    /// What is asked of an arm at this hold.
    #[must_use]
    pub fn workload(&self, hold: Duration) -> Workload {
        let closed = Workload {
            databases: self.databases,
            readers: self.readers,
            workers: self.workers,
            think: self.think,
            ..Workload::published(hold, self.window(hold))
        };
        match self.reads_per_s {
            None => closed,
            Some(reads_per_s) => Workload { load: Load::Open { reads_per_s }, rest: REST, ..closed },
        }
    }

    /// How long the run of an arm takes about: writes that have begun are waited for.
    #[must_use]
    pub fn expected_time(&self, hold: Duration) -> Duration {
        self.window(hold) + hold.mul_f64(0.8)
    }

    /// Every arm at every hold, in the order in which they are run.
    pub fn runs(&self) -> impl Iterator<Item = (Duration, Arm)> + '_ {
        self.holds.iter().flat_map(|&hold| self.arms.iter().map(move |&arm| (hold, arm)))
    }

    /// The tables of the published document, one of what it leaves out, and what failed.
    #[must_use]
    pub fn tables(&self, rows: &[Row]) -> String {
        tables::text(self, rows)
    }
}

/// A duration with its unit: us, ms, s or min.
///
/// # Errors
/// If it has none or is no number.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is no time: give a number and a unit, as 100ms, 1.5s, 200us or 2min");
    let unit = text.find(|c: char| c.is_alphabetic()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at_checked(unit).ok_or_else(wrong)?;
    let seconds = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

fn keep_first<T: PartialEq + Copy>(values: &mut Vec<T>) {
    let mut kept = Vec::with_capacity(values.len());
    for &value in values.iter() {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    *values = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        for (text, time) in [
            ("100ms", ms(100)),
            ("1s", ms(1_000)),
            ("1.5s", ms(1_500)),
            ("167us", Duration::from_micros(167)),
            ("2min", ms(120_000)),
            ("0ms", ms(0)),
        ] {
            assert_eq!(parse_duration(text), Ok(time), "{text}");
        }
        for text in ["", "100", "ms", "s1", "-1s", "1h2", "nans", "1e400s", "1 fortnight", "µ", "1µ"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_defaults_are_the_published_setting_and_end_within_two_minutes() {
        let comparison = Comparison::default().checked().expect("it makes sense");
        let windows: Vec<_> = comparison.holds.iter().map(|&hold| comparison.window(hold)).collect();
        assert_eq!(windows, [ms(2_050), ms(4_500), ms(12_000)]);
        assert_eq!(comparison.workload(ms(100)), Workload::published(ms(100), ms(2_050)));
        let whole: Duration = comparison.runs().map(|(hold, _)| comparison.expected_time(hold)).sum();
        assert!(whole < Duration::from_secs(115), "{whole:?}");
    }

    #[test]
    fn a_window_holds_a_write_however_long() {
        let window = |hold| Comparison::default().window(hold);
        assert_eq!(window(ms(0)), ms(2_050));
        assert_eq!(window(ms(30_000)), ms(36_000));
        let given = Comparison { duration: Some(ms(200)), ..Comparison::default() };
        assert_eq!(given.window(ms(30_000)), ms(200));
    }

    #[test]
    fn a_rate_switches_to_the_open_loop_and_lets_writers_pause() {
        let comparison = Comparison { reads_per_s: Some(50.0), ..Comparison::default() };
        let workload = comparison.workload(ms(100));
        assert_eq!((workload.load, workload.rest), (Load::Open { reads_per_s: 50.0 }, REST));
    }

    #[test]
    fn nonsense_is_refused_in_one_line() {
        let base = Comparison::default;
        for (comparison, part) in [
            (Comparison { arms: vec![], ..base() }, "--arm"),
            (Comparison { holds: vec![], ..base() }, "--holds"),
            (Comparison { databases: 0, ..base() }, "--databases"),
            (Comparison { readers: 0, ..base() }, "--readers"),
            (Comparison { workers: 0, ..base() }, "--workers"),
            (Comparison { databases: usize::MAX, ..base() }, "--databases"),
            (Comparison { holds: vec![ms(3_600_001)], ..base() }, "--holds 3600.001s is too long"),
            (Comparison { think: ms(3_600_001), ..base() }, "--think"),
            (Comparison { duration: Some(ms(3_600_001)), ..base() }, "--duration"),
            (Comparison { duration: Some(ms(0)), ..base() }, "--duration"),
            (Comparison { reads_per_s: Some(0.0), ..base() }, "no rate"),
            (Comparison { reads_per_s: Some(-1.0), ..base() }, "no rate"),
            (Comparison { reads_per_s: Some(f64::NAN), ..base() }, "no rate"),
            (Comparison { reads_per_s: Some(0.1), ..base() }, "no read"),
            (Comparison { reads_per_s: Some(1e6), ..base() }, "1,000,000"),
        ] {
            let text = comparison.checked().expect_err(part).to_string();
            assert!(text.contains(part) && !text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn what_is_given_twice_is_run_once() {
        let arms = vec![Arm::Rollback, Arm::Direct, Arm::Rollback];
        let comparison = Comparison { arms, holds: vec![ms(10), ms(10)], ..Comparison::default() };
        let runs: Vec<_> = comparison.checked().expect("it makes sense").runs().collect();
        assert_eq!(runs, [(ms(10), Arm::Rollback), (ms(10), Arm::Direct)]);
    }
}
