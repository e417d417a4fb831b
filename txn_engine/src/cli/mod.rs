//! The program: what can be typed, and what each command does with files and streams at the edge.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Error};
use clap::Parser;

use crate::error::{ErrorKind, ErrorLog};
use crate::process::{Options, process_files};
use crate::session::Session;
use crate::setup::Setup;
use crate::stress::Stress;
use crate::{accounts, generate, stress};

mod args;
mod network;
mod output;

use args::{AsyncWord, Cli, Engine, ProcessArgs, StressArgs, Word};
use output::{code, print, stream};

/// Does what was typed: `arguments` with the name of the program in front, as [`std::env::args_os`] gives them. Errors are printed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => carry_out(cli).unwrap_or_else(|error| output::report(&error)),
        Err(error) => {
            // If nobody listens there, nothing can be done about it.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

fn carry_out(cli: Cli) -> Result<ExitCode, Error> {
    match cli.command {
        None => cli.process.map_or(Ok(ExitCode::SUCCESS), |args| process(&args, Setup::BEST_ALL_CORES)),
        Some(Word::Async { command: Some(AsyncWord::StressTest(args)), .. }) => {
            stress_test(&args, ("async", Setup::ASYNC))
        }
        Some(Word::Async { process: Some(args), .. }) => process(&args, Setup::ASYNC),
        Some(Word::Async { .. }) => Ok(ExitCode::SUCCESS),
        Some(Word::StressTest(args)) => stress_test(&args, ("sync", Setup::SYNC)),
        Some(Word::StressTable { file }) => stress_table(&file),
        Some(Word::Generate { rows, seed, shape }) => {
            stream(|out| generate::write(&shape, rows, seed, out)).map(|()| ExitCode::SUCCESS)
        }
        Some(Word::Serve(args)) => network::serve(&args),
        Some(Word::Load(args)) => network::load(&args),
        Some(Word::Clients(args)) => network::clients(&args),
    }
}

fn process(args: &ProcessArgs, setup: Setup) -> Result<ExitCode, Error> {
    let setup = args.engine.map_or(setup, |(_, setup)| setup);
    let session = args.load.as_deref().map(Session::read).transpose()?.unwrap_or_default();
    let outcome = process_files(setup, std::slice::from_ref(&args.file), Options { session, ..Options::default() })?;
    report_errors(&outcome.errors)?;
    let strict_failure = args.strict && outcome.errors.total() > 0;
    let accounts = outcome.books.accounts();
    // The dump comes first, so that a reader who hangs up does not cost us the session; if it fails the accounts are still printed.
    let dumped = args.dump.as_deref().map_or(Ok(()), |dir| outcome.books.session().dump(dir));
    let printed = stream(|out| accounts::write_csv(&accounts, out));
    // A reader who hangs up is no failure; a lost session is, and must be said.
    dumped?;
    printed?;
    Ok(code(!strict_failure))
}

/// The first row errors and the counts of all, on stderr.
fn report_errors(errors: &ErrorLog) -> Result<(), Error> {
    let mut text = String::new();
    for (line, kind) in &errors.first {
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

fn stress_test(args: &StressArgs, engine: Engine) -> Result<ExitCode, Error> {
    let (name, setup) = args.engine.unwrap_or(engine);
    let stress = stress::run(name, setup, args.rows, args.seed)?;
    eprintln!("{stress}");
    if let Some(file) = &args.record {
        append(&stress, file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn append(stress: &Stress, file: &Path) -> io::Result<()> {
    // One write for the whole line: an interruption leaves it out or leaves it whole.
    let line = serde_json::to_string(stress)? + "\n";
    File::options().create(true).append(true).open(file)?.write_all(line.as_bytes())
}

fn stress_table(file: &Path) -> Result<ExitCode, Error> {
    let records = File::open(file).and_then(|records| stress::table(BufReader::new(records)));
    let table = records.with_context(|| format!("cannot read {}", file.display()))?;
    print(table.trim_end()).map(|()| ExitCode::SUCCESS)
}
