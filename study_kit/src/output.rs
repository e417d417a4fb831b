//! Standard output that arrives whole, and errors of one line.

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::error;

/// Ran, and found failures.
pub const FOUND_FAILURES: u8 = 1;
/// Could not run.
pub const COULD_NOT_RUN: u8 = 2;

/// 0 if it succeeded, else 1.
#[must_use]
pub fn code(succeeded: bool) -> ExitCode {
    if succeeded { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) }
}

/// Prints `text` to standard output and makes sure that all of it arrived.
///
/// # Errors
/// If it did not.
pub fn print(text: &str) -> Result<(), error::Error> {
    stream(|out| out.write_all(text.as_bytes()).map_err(not_written))
}

/// Runs `write` on buffered standard output and makes sure that all of it arrived: for what is too long to be kept.
///
/// # Errors
/// Those of `write`, and if not all arrived.
pub fn stream<E: From<error::Error>>(write: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out)?;
    Ok(out.flush().map_err(not_written)?)
}

fn not_written(source: io::Error) -> error::Error {
    error::file_error("write to", Path::new("standard output"), source)
}

/// Prints `error` with its causes in one line behind `program` and says how to exit.
pub fn report(program: &str, error: &(dyn Error + 'static)) -> ExitCode {
    // Whoever reads our output has had enough of it: that is no failure of ours.
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    // If nobody listens there, nothing can be done about it.
    let _ = writeln!(io::stderr(), "{program}: {}", error::one_line(error));
    ExitCode::from(COULD_NOT_RUN)
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_no_failure() {
        let error = |kind| not_written(io::Error::from(kind));
        let code = |kind| format!("{:?}", report("toy", &error(kind)));
        assert_eq!(code(io::ErrorKind::BrokenPipe), format!("{:?}", ExitCode::SUCCESS));
        assert_eq!(code(io::ErrorKind::StorageFull), format!("{:?}", ExitCode::from(COULD_NOT_RUN)));
    }
}
