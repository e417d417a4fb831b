//! Standard output: what is printed arrives, or the program fails.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if standard output was closed by whoever started the program.
pub fn check() -> Result<()> {
    ensure!(!CLOSED.load(Ordering::Relaxed), "cannot write to standard output: it is closed");
    Ok(())
}

/// Prints `text` and makes sure that all of it arrived.
pub fn print(text: &str) -> Result<()> {
    written(|| io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()))
}

/// Prints the help that was asked for; words that mean nothing end the program.
pub fn explain(typed: &clap::Error) -> Result<()> {
    if typed.use_stderr() { typed.exit() } else { written(|| typed.print()) }
}

/// Whether it arrived, unless nobody reads it any more.
fn written(write: impl FnOnce() -> io::Result<()>) -> Result<()> {
    check()?;
    match write() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.context("cannot write to standard output"),
    }
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
