//! What a study says of itself.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::case::{Scenario, TestCase};
use crate::output::{report, unknown};
use crate::record::{Metrics, Observation};

/// What one turn of an arm in a duet came to.
#[derive(Debug, Default)]
pub struct Turn {
    /// How long the work took, in seconds.
    pub seconds: f64,
    /// Fingerprint of the answer.
    pub digest: String,
    /// What else is worth keeping. That of an arm's last turn enters the record.
    pub metrics: Metrics,
}

/// One side of a duet, made ready: each call does the work once and checks the answer. The first does not count: it may do less, if that warms up
/// as well.
pub type Turns<'a> = Box<dyn FnMut() -> Result<Turn> + 'a>;

/// A study: what it is called, what is run, and how one run is made.
pub trait Study {
    /// What a scenario sets: sizes, place, window.
    type Setting: 'static;
    /// The name of its crate, as records have it.
    const NAME: &'static str;
    const SCENARIOS: &'static [Scenario<Self::Setting>];
    /// The text of page.toml, whose tables the program prints without arguments.
    const PAGE: &'static str;
    /// The text of original.toml: the authors' own programs, if there are any.
    const ORIGINAL: &'static str = "";
    /// How much longer `ARM@slow` takes in a duet: twice the smallest margin judged in that form.
    const DUET_HANDICAP: f64 = 1.04;

    /// Alternations of a duet whose first arm is `arm`.
    fn pairs(_setting: &Self::Setting, _arm: &str) -> usize {
        20
    }

    /// Writes the input of a scenario, unless it is there.
    fn prepare(_setting: &Self::Setting, _seed: u64) -> Result<()> {
        Ok(())
    }

    /// Runs the case once, in this process: one sample. An error, as of a wrong answer, is recorded as a failure.
    fn observe(case: &TestCase<'_, Self::Setting>) -> Result<Observation>;

    /// Makes ready one side of a duet; an error by default, for studies without.
    fn turns<'a>(case: &'a TestCase<'_, Self::Setting>) -> Result<Turns<'a>> {
        bail!("{} of {} does not run in a duet", case.arm, case.scenario.name)
    }

    /// Carries out a word that is no verb, for processes that a run starts of this program: a server, many clients. The word comes first.
    fn word(arguments: &[OsString]) -> ExitCode {
        let word = arguments.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        report(&unknown("word", &word, ["arms", "originals", "prepare", "run"]))
    }
}
