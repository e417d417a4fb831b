//! The command line.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::compare::{self, Comparison};
use crate::design::{Arm, find};

const ABOUT: &str =
    "Compares ways to reach SQLite from async Rust: what do reads wait for while a write holds the database?";
const EXAMPLES: &str = "Examples:
  sqlite_bench
  sqlite_bench describe
  sqlite_bench compare --arm wal_threads,spawn_blocking --holds 100ms,1s --rate 100

Without arguments: compare with its defaults, which prints the tables of the published document for this machine in two minutes.

Exit codes: 0 done, 1 ran and found failures, 2 could not run.";
const COMPARE_EXAMPLES: &str = "Examples:
  sqlite_bench compare --holds 100ms
  sqlite_bench compare --arm wal_threads --arm spawn_blocking --holds 20ms,1s --duration 5s
  sqlite_bench compare --arm tokio_rusqlite,wal_threads --rate 100
  sqlite_bench compare --databases 40 --readers 2 --holds 500ms --directory /var/tmp

Lists are separated by commas; times have a unit: us, ms, s or min. A write that has begun is waited for, so that a run
lasts up to a hold longer than its window. A figure with ! is of a run with failures, which the last lines name.
`describe` says what each arm is. Databases that are files lie in a folder sqlite_bench-*, gone at the end; Ctrl-C leaves it.
Exit codes: 0 done, 1 an arm lost a write or failed operations, 2 could not run.";
const DESCRIBE_EXAMPLES: &str = "Examples:
  sqlite_bench describe
  sqlite_bench describe | grep WAL";

#[derive(Debug, Parser)]
#[command(name = "sqlite_bench", version, about = ABOUT, after_help = EXAMPLES, disable_help_subcommand = true)]
enum Command {
    /// Run chosen arms in a chosen setting and print the tables of the published document
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Comparison),
    /// Say what each arm is
    #[command(after_help = DESCRIBE_EXAMPLES)]
    Describe,
}

/// Carries out a command line, of which the first word is the program, where `arms` can be chosen from. Prints an error once.
pub fn run(arms: &[&'static Arm], arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    carry_out(arms, arguments.into_iter().collect()).unwrap_or_else(|error| {
        // If nobody listens there, nothing can be done about it.
        let _ = writeln!(io::stderr(), "error: {}", format!("{error:#}").replace('\n', " "));
        ExitCode::from(2)
    })
}

fn carry_out(arms: &[&'static Arm], mut arguments: Vec<OsString>) -> Result<ExitCode> {
    // Before anything is measured: every command prints, and nothing of it would arrive.
    ensure!(!CLOSED.load(Ordering::Relaxed), "cannot write to standard output: it is closed");
    if arguments.len() < 2 {
        arguments.push("compare".into());
    }
    let known = arms.to_owned();
    let parser = Command::command().mut_subcommand("compare", |compare| {
        compare.mut_arg("arms", |given| given.value_parser(move |name: &str| find(&known, name)))
    });
    let matches = parser.get_matches_from(arguments);
    match Command::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()) {
        Command::Describe => {
            let line = |arm: &&Arm| format!("{:<18}{:<18}{}\n", arm.name, arm.role, arm.text);
            print(&arms.iter().map(line).collect::<String>())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Compare(comparison) => {
            let comparison = comparison.checked()?;
            let rows = compare::measure(&comparison)?;
            print(&compare::tables(&comparison, &rows))?;
            Ok(ExitCode::from(u8::from(rows.iter().any(|row| row.fault.is_some()))))
        }
    }
}

/// Prints `text` and makes sure that all of it arrived.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads our output has had enough of it: that is no failure of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to standard output"),
    }
}

/// Whether whoever started the program closed standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before Rust's own start, which puts /dev/null in the place of a closed standard output: what is written there is lost without an error.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static AT_START: extern "C" fn() = {
    extern "C" fn look() {
        use std::os::fd::AsFd;
        const EBADF: i32 = 9;
        let copied = io::stdout().as_fd().try_clone_to_owned();
        CLOSED.store(copied.is_err_and(|error| error.raw_os_error() == Some(EBADF)), Ordering::Relaxed);
    }
    look
};
