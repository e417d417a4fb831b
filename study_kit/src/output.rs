//! What a program says: what is printed arrives, or the program fails and says why.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, anyhow, ensure};

pub const FOUND_FAILURES: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if standard output was closed by whoever started the program.
pub fn check() -> Result<()> {
    ensure!(!CLOSED.load(Ordering::Relaxed), "cannot write to standard output: it is closed");
    Ok(())
}

/// Prints `text` and makes sure that all of it arrived.
pub fn print(text: &str) -> Result<ExitCode> {
    written(|| io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()))
}

/// Prints the help that was asked for; words that mean nothing end the program.
pub fn explain(typed: &clap::Error) -> Result<ExitCode> {
    if typed.use_stderr() { typed.exit() } else { written(|| typed.print()) }
}

fn written(write: impl FnOnce() -> io::Result<()>) -> Result<ExitCode> {
    check()?;
    match write() {
        // Whoever reads our output has had enough of it: that is no failure of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS).context("cannot write to standard output"),
    }
}

/// A name of which there is none, and those there are.
pub fn unknown<'a>(what: &str, given: &str, choices: impl IntoIterator<Item = &'a str>) -> anyhow::Error {
    anyhow!("unknown {what} '{given}': choose one of {}", choices.into_iter().collect::<Vec<_>>().join(", "))
}

/// An error with its causes in one line.
pub fn one_line(error: &anyhow::Error) -> String {
    format!("{error:#}").replace(['\n', '\r'], " ")
}

/// Prints `error` and says how to exit.
pub fn report(error: &anyhow::Error) -> ExitCode {
    // If nobody listens there, nothing can be done about it.
    let _ = writeln!(io::stderr(), "error: {}", one_line(error));
    ExitCode::from(COULD_NOT_RUN)
}

/// Runs before Rust's own start, which puts /dev/null where standard output is closed: then what is written is lost without an error.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static AT_START: extern "C" fn() = {
    extern "C" fn look() {
        use std::os::fd::AsFd;
        CLOSED.store(io::stdout().as_fd().try_clone_to_owned().is_err(), Ordering::Relaxed);
    }
    look
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        assert!(written(|| Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        assert!(written(|| Err(io::ErrorKind::StorageFull.into())).is_err());
    }
}
