//! What is measured of `flight_batches`: the verbs of docs/FORMAT.md over its servers, and over two that it is compared with.
//!
//! | module | what it is for |
//! |---|---|
//! | `cases` | scenarios and arms |
//! | `observe` | one sample: server, load, figures |
//! | `servers` | what serves an arm, in a process of its own |
//! | `loopback` | TCP alone |

use std::ffi::OsString;
use std::process::ExitCode;

use study_kit::{Observation, Scenario, Study, TestCase, Turns};

mod cases;
mod loopback;
mod observe;
mod servers;

struct FlightBatches;

impl Study for FlightBatches {
    type Setting = cases::Setting;
    const NAME: &'static str = "flight_batches";
    const SCENARIOS: &'static [Scenario<cases::Setting>] = cases::SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");

    fn prepare(setting: &cases::Setting, seed: u64) -> anyhow::Result<()> {
        // pyarrow runs in the scenarios without a delay, and its server takes a file.
        if setting.delay_us == 0 { servers::prepare(setting, seed) } else { Ok(()) }
    }

    fn observe(case: &TestCase<'_, cases::Setting>) -> anyhow::Result<Observation> {
        observe::observe(case)
    }

    /// More of few streams at a short delay, which are soon under way and differ most from window to window.
    fn pairs(setting: &cases::Setting, _: &str) -> usize {
        if setting.requests <= 10 && setting.delay_us <= 1_000 { 4 } else { 2 }
    }

    fn turns<'a>(case: &'a TestCase<'_, cases::Setting>) -> anyhow::Result<Turns<'a>> {
        observe::turns(case)
    }

    fn word(arguments: &[OsString]) -> ExitCode {
        if arguments.first().is_some_and(|word| word == loopback::WORD) {
            return if loopback::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        flight_batches::cli::run(arguments.iter().cloned())
    }
}

fn main() -> ExitCode {
    study_kit::main::<FlightBatches>()
}
