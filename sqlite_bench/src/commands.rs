//! What each command does: files and streams at the edge, the library for the rest.

use std::process::ExitCode;

use anyhow::Error;

use sqlite_bench::study::compare::Comparison;
use sqlite_bench::study::{self, overview};
use study_kit::output::{self, print};

use crate::cli::Command;

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Compare(comparison) => return compare(comparison),
        Command::Describe => print(&overview::arms())?,
        Command::Study(verb) => {
            return verb.carry_out(study::cases, |scenario, _| study::prepare(scenario), study::run);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(comparison: Comparison) -> Result<ExitCode, Error> {
    let comparison = comparison.checked()?;
    let rows = overview::measure(&comparison)?;
    print(&comparison.tables(&rows))?;
    Ok(output::code(rows.iter().all(|row| row.fault.is_none())))
}
