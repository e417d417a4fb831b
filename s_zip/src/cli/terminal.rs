//! What the person at the terminal gets to read.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Error};

/// One line on stderr; if nobody listens there, nothing can be done about it.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "s_zip: {message}");
}

/// Runs `write` on buffered standard output and makes sure that all of it arrived.
pub fn print(write: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    out.flush().context("cannot write to standard output")
}
