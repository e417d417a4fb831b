//! What each command does: files and streams at the edge, the library for the rest.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use anyhow::{Context, Error};

use study_kit::record;
use txn_engine::arms::{Options, process_files};
use txn_engine::session::Session;
use txn_engine::study::{self, StudyError, overview};
use txn_engine::{ErrorKind, ErrorLog, accounts, generate, stress};

use crate::cli::{Command, Process};
use crate::network;

/// Ran, and found failures.
pub const FOUND_FAILURES: u8 = 1;
/// Could not run.
const COULD_NOT_RUN: u8 = 2;

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
        Command::StressTable { file } => print(|out| write_text(out, &stress::table(&file)?))?,
        Command::Generate { rows, seed, shape } => {
            print(|out| generate::write(&shape, rows, seed, out).context("cannot write the rows"))?;
        }
        Command::Serve(args) => network::serve(&args)?,
        Command::Load(args) => return network::load(&args),
        Command::Clients(args) => network::clients(&args)?,
        Command::Arms(profile) => print(|out| {
            study::cases(profile).iter().try_for_each(|case| writeln!(out, "{case}")).context("cannot write the cases")
        })?,
        Command::Prepare { scenario, seed } => study::prepare(&scenario, seed)?,
        Command::Run(request, file) => {
            let (record, succeeded) = study::run(&request)?;
            record.write(file.as_deref())?;
            if !succeeded {
                return Ok(ExitCode::from(FOUND_FAILURES));
            }
        }
        Command::Overview => print(|out| write_text(out, &overview::tables()?))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints `error` with its causes in one line and says how to exit.
pub fn report(error: &Error) -> ExitCode {
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    eprintln!("txn_engine: {error:#}");
    ExitCode::from(COULD_NOT_RUN)
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let io = cause.downcast_ref::<io::Error>().or(match cause.downcast_ref::<StudyError>() {
        Some(StudyError::File { source, .. }) => Some(source),
        _ => None,
    });
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
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
    let printed = print(|out| accounts::write_csv(&accounts, out).context("cannot write the accounts"));
    // A reader who hangs up is no failure; a lost session is, and must be said.
    dumped?;
    printed?;
    Ok(if strict_failure { ExitCode::from(FOUND_FAILURES) } else { ExitCode::SUCCESS })
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

/// Runs `write` on buffered standard output and makes sure that all of it arrived.
pub fn print(write: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush().context("cannot write to standard output")
}

fn write_text(out: &mut dyn Write, text: &str) -> Result<(), Error> {
    out.write_all(text.as_bytes()).context("cannot write to standard output")
}
