//! Standard output: what is printed arrives, or the program fails.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if standard output was closed by whoever started the program.
pub fn check() -> Result<()> {
    let open = if CLOSED.load(Ordering::Relaxed) { Err(io::Error::other("it is closed")) } else { Ok(()) };
    open.context("cannot write to standard output")
}

/// Prints `text` and makes sure that all of it arrived.
pub fn print(text: &str) -> Result<ExitCode> {
    check()?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the help that was asked for; what was typed wrongly ends the program with clap's own message.
pub fn explain(typed: &clap::Error) -> Result<ExitCode> {
    if typed.use_stderr() {
        typed.exit();
    }
    check()?;
    typed.print().context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
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
