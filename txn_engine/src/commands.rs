//! What each command does: files and streams at the edge, the library for the rest.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::{Context, Error};

use study_kit::output::{self, print, stream};
use study_kit::record;
use txn_engine::arms::{Options, process_files};
use txn_engine::session::Session;
use txn_engine::study::{self, overview};
use txn_engine::{ErrorKind, ErrorLog, accounts, generate, stress};

use crate::cli::{Command, Process};
use crate::network;

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Process(process) => return self::process(process),
        Command::Stress { rows, seed, arm, record } => {
            let stress = stress::run(arm, rows, seed)?;
            eprintln!("{stress}");
            if let Some(file) = record {
                record::append_line(&stress, Some(&file))?;
            }
        }
        Command::StressTable { file } => print(&stress::table(&file)?)?,
        Command::Generate { rows, seed, shape } => {
            stream(|out| generate::write(&shape, rows, seed, out).context("cannot write the rows"))?;
        }
        Command::Serve(args) => network::serve(&args)?,
        Command::Load(args) => return network::load(&args),
        Command::Clients(args) => network::clients(&args)?,
        Command::Study(verb) => return verb.carry_out(study::cases, study::prepare, study::run),
        Command::Overview => print(&overview::tables()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn process(process: Process) -> Result<ExitCode, Error> {
    let Process { file, arm, dump, load, strict } = process;
    let session = load.as_deref().map(Session::load).transpose()?.unwrap_or_default();
    let outcome = process_files(arm, &[file], Options { session, ..Options::default() })?;
    report_errors(&outcome.errors)?;
    let strict_failure = strict && outcome.errors.total() > 0;
    let accounts = outcome.accounts();
    // The dump comes first, so that a reader who hangs up does not cost us the session; if it fails the accounts are still printed.
    let dumped = match dump {
        Some(dir) => outcome.into_session().dump(&dir),
        None => Ok(()),
    };
    let printed = stream(|out| accounts::write_csv(&accounts, out).context("cannot write the accounts"));
    // A reader who hangs up is no failure; a lost session is, and must be said.
    dumped?;
    printed?;
    Ok(output::code(!strict_failure))
}

/// The first row errors and the counts of all, on stderr.
fn report_errors(errors: &ErrorLog) -> Result<(), Error> {
    let mut text = String::new();
    for (line, kind) in errors.first() {
        let _ = writeln!(text, "line {line}: {kind}");
    }
    if errors.total() > 0 {
        let counts: Vec<_> = ErrorKind::ALL
            .iter()
            .filter(|&&kind| errors.count(kind) > 0)
            .map(|&kind| format!("{} {}", errors.count(kind), kind.name()))
            .collect();
        let _ = writeln!(text, "{} rows rejected: {}", errors.total(), counts.join(", "));
    }
    // One write: stderr is not buffered.
    io::stderr().write_all(text.as_bytes()).context("cannot write to stderr")
}
