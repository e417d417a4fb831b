//! What the person at the terminal gets to read.

use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error};

use crate::name::printable;

const NO_STDOUT: &str = "cannot write to standard output";

/// One line on stderr; if nobody listens there, nothing can be done about it.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "s_zip: {}", printable(message));
}

/// What is wrong with the words that were typed, or the help that they ask for.
pub fn explain(error: &clap::Error) -> Result<(), Error> {
    let plain = error.render().to_string();
    let safe: Vec<String> = plain.lines().map(printable).collect();
    if !error.use_stderr() {
        check_stdout().context(NO_STDOUT)?;
    }
    // In colors, unless a word among them could bring its own.
    let told = if plain.lines().eq(&safe) { error.print() } else { writeln!(io::stderr(), "{}", safe.join("\n")) };
    // If nobody listens to complaints, nothing can be done about it.
    if error.use_stderr() { Ok(()) } else { arrived(told) }
}

/// Runs `write` on buffered standard output and makes sure that all of it arrived, or that nobody wants more.
pub fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    check_stdout().context(NO_STDOUT)?;
    let mut out = BufWriter::new(io::stdout().lock());
    arrived(write(&mut out).and_then(|()| out.flush()))
}

fn arrived(told: io::Result<()>) -> Result<(), Error> {
    match told {
        // Whoever reads it has had enough of it: that is no failure of ours.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        told => told.context(NO_STDOUT),
    }
}

static STDIN_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if standard input was closed by whoever started the program.
pub fn check_stdin() -> io::Result<()> {
    is_open(&STDIN_CLOSED)
}

/// Fails if standard output was closed by whoever started the program.
pub fn check_stdout() -> io::Result<()> {
    is_open(&STDOUT_CLOSED)
}

fn is_open(closed: &AtomicBool) -> io::Result<()> {
    if closed.load(Ordering::Relaxed) { Err(io::Error::other("it is closed")) } else { Ok(()) }
}

/// Runs before Rust's own start, which puts /dev/null where a standard stream is closed: what is read is empty then, and what is written is lost, without
/// an error.
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static AT_START: extern "C" fn() = {
    extern "C" fn look() {
        STDIN_CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdin()).is_err(), Ordering::Relaxed);
        STDOUT_CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err(), Ordering::Relaxed);
    }
    look
};
