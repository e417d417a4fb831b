//! The command line: parse, dispatch, print the error once with its chain.

use std::ffi::OsString;
use std::io::{self, Write};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::runtime::Runtime;

mod bench;
#[cfg(feature = "plot")]
mod plot;
mod serve;
mod terminal;

const FOUND_FAILURES: u8 = 1;
const COULD_NOT_RUN: u8 = 2;

const UNPRINTED: &str = "cannot write to standard output";

const EXAMPLES: &str = "Examples:
  flight_batches serve --mode async --addr 127.0.0.1:8815
  flight_batches bench --delays 0.01 --requests 10,100 --out results.csv
  flight_batches bench --endpoint http://10.0.0.7:8815 --endpoint http://10.0.0.7:8816
  flight_batches plot results.csv --out plots

Exit codes: 0 done, 1 requests failed or streams were cut off, 2 could not run.";

/// Serves Arrow record batches that take a while to come, and puts thousands of real streams on such servers.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, disable_help_subcommand = true)]
enum Command {
    /// Serve the table over Arrow Flight until interrupted; streams in flight are finished
    Serve(serve::Serving),
    /// Measure servers over a grid of delays, rows and requests, and write results.csv
    Bench(bench::Benching),
    /// Draw `throughput_1ms.png` and its kin from results.csv
    #[cfg(feature = "plot")]
    Plot(plot::Plotting),
}

/// A connection takes a file, and by default a program may open 1,024. What cannot be raised stays as it is.
fn raise_open_files() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Tries the threads first, a worker for each processor and one for what blocks: where tokio cannot start one it panics, and waits forever for
/// those that it has.
fn runtime() -> anyhow::Result<Runtime> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get) + 1;
    let gate = Mutex::new(());
    let tried = thread::scope(|scope| {
        // All are there at once.
        let _closed = gate.lock();
        (0..threads).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, || drop(gate.lock())).map(drop))
    });
    tried.and_then(|()| Runtime::new()).context("no runtime can be started")
}

/// Runs the command that `arguments` are, without the name of the program in front: for `main`, and for programs that start themselves as
/// a server with the word `serve`.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    settle_allocator();
    raise_open_files();
    let arguments = std::iter::once(OsString::from("flight_batches")).chain(arguments);
    let command = match Command::try_parse_from(arguments) {
        Err(refusal) if refusal.use_stderr() => {
            // If nobody listens there, nothing can be done about it.
            let _ = refusal.print();
            return ExitCode::from(COULD_NOT_RUN);
        }
        command => command,
    };
    // Every command prints its result. That it cannot is said before an hour of measuring.
    let done = terminal::check_stdout().context(UNPRINTED).and_then(|()| match command {
        Ok(Command::Serve(serving)) => serve::serve(&serving),
        Ok(Command::Bench(benching)) => bench::bench(&benching),
        #[cfg(feature = "plot")]
        Ok(Command::Plot(plotting)) => plot::plot(&plotting).map(|()| ExitCode::SUCCESS),
        Err(help) => printed(help.print()).map(|()| ExitCode::SUCCESS),
    });
    done.unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "flight_batches: {}", format!("{error:#}").replace(['\n', '\r'], " "));
        ExitCode::from(COULD_NOT_RUN)
    })
}

/// Makes the allocator keep what is freed, as it does in a program that has run for a while: glibc gives free memory at the end of its heap
/// back unless it has seen a larger block go, and then takes it anew with a page fault per 4 KiB. The block is never touched.
fn settle_allocator() {
    const BLOCK_BYTES: usize = 16 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
}

/// Prints `text` and makes sure that all of it arrived.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Whoever reads our output may have had enough of it: that is no failure of ours, and hides none.
fn printed(written: io::Result<()>) -> anyhow::Result<()> {
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if written.as_ref().is_err_and(gone) { Ok(()) } else { written.context(UNPRINTED) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "give seconds, 0 or more".to_owned())
}
