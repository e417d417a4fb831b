//! The verbs of a study as words of its command line.

use std::process::ExitCode;

use clap::Subcommand;

use crate::case::Case;
use crate::error::Error;
use crate::output;
use crate::profile::Profile;
use crate::record::Record;
use crate::request::{RunArgs, RunRequest};

/// What the measuring layer asks of a study; a study has it beside words of its own, with `#[command(flatten)]`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the study's test cases, tab-separated
    Arms {
        /// smoke, quick or full
        #[arg(long, default_value = "quick")]
        profile: Profile,
    },
    /// Write a scenario's input
    Prepare {
        /// The scenario, as `arms` lists it
        #[arg(long)]
        scenario: String,
        /// Seed of the input
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Run one test case once and record it
    Run(RunArgs),
}

impl Verb {
    /// Does what was asked for: prints the cases, calls `prepare` with scenario and seed, or calls `run` and writes its record. A record of
    /// a failure is exit code 1.
    ///
    /// # Errors
    /// Those of `prepare` and `run`, and if the cases or the record cannot be written.
    pub fn carry_out<P, R, E>(
        self,
        cases: impl FnOnce(Profile) -> Vec<Case>,
        prepare: impl FnOnce(&str, u64) -> Result<(), P>,
        run: impl FnOnce(&RunRequest) -> Result<Record, R>,
    ) -> Result<ExitCode, E>
    where
        E: From<P> + From<R> + From<Error>,
    {
        match self {
            Verb::Arms { profile } => {
                let lines: Vec<String> = cases(profile).iter().map(|case| format!("{case}\n")).collect();
                output::print(&lines.concat())?;
            }
            Verb::Prepare { scenario, seed } => prepare(&scenario, seed)?,
            Verb::Run(args) => {
                let (request, file) = args.into_request();
                let record = run(&request)?;
                record.write(file.as_deref())?;
                return Ok(output::code(record.succeeded()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use clap::Parser;

    use super::*;
    use crate::record::Observation;

    #[derive(Parser)]
    struct Toy {
        #[command(subcommand)]
        verb: Verb,
    }

    /// Carries out what was typed; the exit code, and what was called.
    fn typed(words: &[&str]) -> (String, String) {
        let calls = RefCell::new(String::new());
        let prepare = |scenario: &str, seed| {
            calls.replace(format!("prepare {scenario} {seed}"));
            Ok::<(), Error>(())
        };
        let run = |request: &RunRequest| {
            calls.replace(format!("run {}", request.arm));
            let fails = request.arm == "broken";
            let result = if fails { Err("it broke".to_owned()) } else { Ok(Observation::default()) };
            Ok::<Record, Error>(Record::new("toy", request, result))
        };
        let verb = Toy::try_parse_from([&["toy"], words].concat()).unwrap().verb;
        let code: Result<ExitCode, Error> = verb.carry_out(|_| Vec::new(), prepare, run);
        (format!("{:?}", code.unwrap()), calls.into_inner())
    }

    #[test]
    fn a_verb_has_the_defaults_of_the_contract() {
        assert_eq!(typed(&["prepare", "--scenario", "n_1"]).1, "prepare n_1 0");
        let parsed = |words: &[&str]| Toy::try_parse_from(words).unwrap().verb;
        assert!(matches!(parsed(&["toy", "arms"]), Verb::Arms { profile: Profile::Quick }));
        let Verb::Run(args) = parsed(&["toy", "run", "--scenario", "n_1", "--arm", "a"]) else {
            panic!("another verb")
        };
        let (request, file) = args.into_request();
        assert_eq!((request.seed, request.block, request.run.as_str(), file), (0, 0, "manual", None));
    }

    #[test]
    fn a_failure_is_recorded_and_exit_code_1() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("records");
        let words =
            |arm| ["run", "--scenario", "n_1", "--arm", arm, "--record", file.to_str().unwrap()].map(str::to_owned);
        let code = |arm| typed(&words(arm).each_ref().map(String::as_str)).0;
        assert_eq!(code("a"), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(code("broken"), format!("{:?}", ExitCode::from(output::FOUND_FAILURES)));
        let records = std::fs::read_to_string(&file).unwrap();
        assert_eq!(records.lines().map(|line| line.contains("it broke")).collect::<Vec<_>>(), [false, true]);
    }
}
