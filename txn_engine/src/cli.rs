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
use crate::process::process_files;
use crate::session::{Claim, Session};
use crate::setup::Setup;
use crate::{accounts, generate, stress};

mod args;
mod network;
mod terminal;

use args::{AsyncWord, Cli, Engine, ProcessArgs, StressArgs, Word};
use terminal::{complain, expect_stdout, print, stream, unless_hung_up};

/// Does what was typed: `arguments` with the name of the program in front, as [`std::env::args_os`] gives them. Errors are printed.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => carry_out(cli),
        Err(error) if error.use_stderr() => {
            // If nobody listens there, nothing can be done about it.
            let _ = error.print();
            return ExitCode::from(2);
        }
        Err(help) => {
            let print = || unless_hung_up(help.print()).context("cannot write to standard output");
            expect_stdout().and_then(|()| print()).map(|()| true)
        }
    };
    match done {
        Ok(succeeded) => ExitCode::from(u8::from(!succeeded)),
        Err(error) => {
            complain(&error);
            ExitCode::from(2)
        }
    }
}

/// False if it ran, and found failures.
fn carry_out(cli: Cli) -> Result<bool, Error> {
    use Word::{Async, StressTest};
    // Said before anything is done that would have to be done again. The stress test prints on stderr.
    if !matches!(cli.command, Some(StressTest(_) | Async { command: Some(_), .. })) {
        expect_stdout()?;
    }
    match cli.command {
        None => process(cli.process, Setup::BEST_ALL_CORES),
        Some(Word::Async { command: Some(AsyncWord::StressTest(args)), .. }) => {
            stress_test(&args, ("async", Setup::ASYNC))
        }
        Some(Word::Async { process: args, .. }) => process(args, Setup::ASYNC),
        Some(Word::StressTest(args)) => stress_test(&args, ("sync", Setup::SYNC)),
        Some(Word::StressTable { file }) => stress_table(&file),
        Some(Word::Generate { rows, seed, shape }) => stream(|out| generate::write(&shape, rows, seed, out)),
        Some(Word::Serve(args)) => network::serve(&args),
        Some(Word::Load(args)) => network::load(&args),
        Some(Word::Clients(args)) => network::clients(&args),
    }
}

fn process(args: Option<ProcessArgs>, setup: Setup) -> Result<bool, Error> {
    // They are only left out where there is a command.
    let Some(ProcessArgs { file, engine, dump, load, strict }) = args else { return Ok(true) };
    let setup = engine.map_or(setup, |(_, setup)| setup);
    // Claimed before it is read: what another run dumps in between would be lost.
    let claim = dump.map(|dir| claim(&dir)).transpose()?;
    let session = load.as_deref().map(Session::read).transpose()?.unwrap_or_default();
    let outcome = process_files(setup, &[file], session)?;
    let listed = report_errors(&outcome.errors);
    let accounts = outcome.books.accounts();
    // The dump comes first, so that a reader who stalls does not cost us the session; each is tried, whatever became of the others.
    let dumped = claim.map_or(Ok(()), |claim| outcome.books.session().dump(claim));
    let printed = stream(|out| accounts::write_csv(&accounts, out));
    dumped?;
    printed?;
    listed?;
    Ok(!strict || outcome.errors.total() == 0)
}

/// The folder for a dump, from now to the end of the run.
fn claim(dir: &Path) -> Result<Claim, Error> {
    Ok(Session::claim(dir, |warning| complain(&warning.into()))?)
}

/// The first row errors and the counts of all, on stderr.
fn report_errors(errors: &ErrorLog) -> Result<(), Error> {
    let mut text = String::new();
    for (line, kind) in &errors.first {
        let _ = writeln!(text, "line {line}: {kind}");
    }
    if errors.total() > 0 {
        let counts =
            ErrorKind::ALL.iter().map(|&kind| (errors.count(kind), kind.name())).filter(|&(count, _)| count > 0);
        let counts: Vec<_> = counts.map(|(count, name)| format!("{count} {name}")).collect();
        let _ = writeln!(text, "{} rows rejected: {}", errors.total(), counts.join(", "));
    }
    // One write: stderr is not buffered.
    unless_hung_up(io::stderr().write_all(text.as_bytes())).context("cannot write to stderr")
}

fn stress_test(args: &StressArgs, engine: Engine) -> Result<bool, Error> {
    let (name, setup) = args.engine.unwrap_or(engine);
    let stress = stress::run(name, setup, args.rows, args.seed)?;
    let recorded = args.record.as_ref().map_or(Ok(()), |file| {
        // One write for the whole line: an interruption leaves it out or leaves it whole.
        let line = serde_json::to_string(&stress)? + "\n";
        let file_there = File::options().create(true).append(true).open(file);
        let written = file_there.and_then(|mut file| file.write_all(line.as_bytes()));
        written.with_context(|| format!("cannot write {}", file.display()))
    });
    let told = unless_hung_up(writeln!(io::stderr(), "{stress}")).context("cannot write to stderr");
    recorded.and(told).map(|()| true)
}

fn stress_table(file: &Path) -> Result<bool, Error> {
    let records = File::open(file).and_then(|records| stress::table(BufReader::new(records)));
    let table = records.with_context(|| format!("cannot read {}", file.display()))?;
    print(table.trim_end())
}
