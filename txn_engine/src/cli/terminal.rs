//! What the person at the terminal gets to read.

use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Error, ensure};

/// One line with `error` and its causes on stderr; if nobody listens there, nothing can be done about it.
pub(super) fn complain(error: &Error) {
    let _ = writeln!(io::stderr(), "txn_engine: {}", format!("{error:#}").replace(['\n', '\r'], " "));
}

/// What came of writing to whoever reads our output. They may have had enough of it: that is no failure of ours.
pub(super) fn unless_hung_up(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Runs `write` on buffered standard output and makes sure that all of it arrived, unless its reader hangs up.
pub(super) fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<bool, Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = unless_hung_up(write(&mut out).and_then(|()| out.flush()));
    written.context("cannot write to standard output").map(|()| true)
}

pub(super) fn print(text: &str) -> Result<bool, Error> {
    stream(|out| writeln!(out, "{text}"))
}

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if whoever started the program has closed its standard output.
pub(super) fn expect_stdout() -> Result<(), Error> {
    ensure!(!STDOUT_CLOSED.load(Ordering::Relaxed), "cannot write to standard output: it is closed");
    Ok(())
}

/// Runs before Rust's own start, which puts /dev/null where standard output is closed: what is written there is lost without an error.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = {
    use nix::fcntl::{FcntlArg, fcntl};
    extern "C" fn look() {
        STDOUT_CLOSED.store(fcntl(io::stdout(), FcntlArg::F_GETFD).is_err(), Ordering::Relaxed);
    }
    look
};
