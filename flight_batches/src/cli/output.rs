//! Standard output that arrives whole.

use std::io::{self, Write};

use anyhow::Context;

/// Prints `text` and makes sure that all of it arrived.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
