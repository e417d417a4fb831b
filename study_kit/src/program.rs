//! The program of a study: the verbs of docs/FORMAT.md.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use strum::VariantNames;

use crate::case::{self, Profile};
use crate::original::Original;
use crate::output::{self, FOUND_FAILURES, print, report, unknown};
use crate::page;
use crate::probe;
use crate::record::Request;
use crate::run;
use crate::study::Study;

const EXAMPLES: &str =
    "Without arguments: every case of the document's tables once, in a process of its own, and the tables.
Examples: `arms --profile full`, `prepare --scenario S`, `run --scenario S --arm A --versus B`.
Exit codes: 0 done, 1 ran and found failures, 2 could not run.";

#[derive(Parser)]
#[command(about = "The measurement of one study", after_help = EXAMPLES, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    /// List the test cases: scenario, arm, build, expected seconds, arguments; tab-separated
    Arms {
        /// smoke, quick, full or originals
        #[arg(long, default_value = "quick", value_parser = profile)]
        profile: Profile,
    },
    /// Write a scenario's input
    Prepare {
        /// The scenario, as arms lists it
        #[arg(long)]
        scenario: String,
        /// Seed of the input
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Run one test case once and record it
    Run(Request),
    /// List where the authors' own code comes from: name, URL, commit, licence and build commands; tab-separated
    Originals,
    /// Say in half a second how fast the machine is: name and value per line, tab-separated
    Probe,
    #[command(external_subcommand)]
    Word(Vec<OsString>),
}

fn profile(name: &str) -> Result<Profile> {
    name.parse().map_err(|_| unknown("profile", name, Profile::VARIANTS.iter().copied()))
}

pub fn main<S: Study>() -> ExitCode {
    let matches = Cli::command().bin_name(format!("{}_study", S::NAME)).try_get_matches();
    let done = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => carry_out::<S>(cli.verb),
        Err(typed) => output::explain(&typed),
    };
    done.unwrap_or_else(|error| report(&error))
}

fn carry_out<S: Study>(verb: Option<Verb>) -> Result<ExitCode> {
    match verb {
        // Found out now, not after minutes of work.
        None => output::check().and_then(|()| print(&page::overview::<S>()?)),
        Some(Verb::Arms { profile }) => print(&case::lines(S::SCENARIOS, profile)),
        Some(Verb::Prepare { scenario, seed }) => {
            S::prepare(&case::find(S::SCENARIOS, &scenario)?.setting, seed)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Verb::Run(request)) => {
            let record = run::run::<S>(&request)?;
            record.write(request.record.as_deref())?;
            Ok(record.error.map_or(ExitCode::SUCCESS, |_| ExitCode::from(FOUND_FAILURES)))
        }
        Some(Verb::Originals) => print(&Original::parse(S::ORIGINAL)?.lines()),
        Some(Verb::Probe) => print(&probe::facts()?),
        Some(Verb::Word(arguments)) => Ok(S::word(&arguments)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_has_the_defaults_of_the_contract() {
        let typed = |words: &str| Cli::try_parse_from(words.split(' ')).map(|cli| cli.verb);
        assert!(matches!(typed("toy arms"), Ok(Some(Verb::Arms { profile: Profile::Quick }))));
        assert!(matches!(typed("toy prepare --scenario n_1"), Ok(Some(Verb::Prepare { seed: 0, .. }))));
        assert!(matches!(typed("toy probe"), Ok(Some(Verb::Probe))));
        let Ok(Some(Verb::Run(request))) = typed("toy run --scenario n_1 --arm a") else { panic!("another verb") };
        assert_eq!((request.seed, request.block, request.run.as_str(), request.record), (0, 0, "manual", None));
        assert!(matches!(typed("toy serve --addr x"), Ok(Some(Verb::Word(words))) if words.len() == 3));
        let error = typed("toy arms --profile all").err().unwrap().to_string();
        assert!(error.contains("choose one of smoke, quick, full, originals"), "{error}");
    }
}
