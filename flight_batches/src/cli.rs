//! The command line: parse, dispatch, print the error once with its chain.
//!
//! | module | what it is for |
//! |---|---|
//! | `arguments` | what can be typed |
//! | `serve` | the server: signals and standard input at its edge |
//! | `child` | servers that `bench` starts itself |
//! | `output` | standard output that arrives whole |

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tokio::runtime::Runtime;

mod arguments;
mod child;
mod output;
mod serve;

use self::arguments::{Benching, Cli, Command, Plotting};
use self::child::Server;
use self::output::print;
use crate::bench::Target;
use crate::{plot, results};

/// Ran, and found failures.
const FOUND_FAILURES: u8 = 1;
/// Could not run.
const COULD_NOT_RUN: u8 = 2;

/// Runs the command that `arguments` are, without the name of the program in front: for `main`, and for programs that start themselves as
/// a server with the word `serve`.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    settle_allocator();
    let arguments = std::iter::once(OsString::from("flight_batches")).chain(arguments);
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => match cli.command {
            Command::Serve(serving) => serve::serve(&serving),
            Command::Bench(benching) => bench(&benching),
            Command::Plot(plotting) => draw(&plotting).map(|()| ExitCode::SUCCESS),
        },
        Err(refusal) => {
            // If nobody listens there, nothing can be done about it.
            let _ = refusal.print();
            return if refusal.use_stderr() { ExitCode::from(COULD_NOT_RUN) } else { ExitCode::SUCCESS };
        }
    };
    done.unwrap_or_else(|error| {
        let gone = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
        if error.chain().any(|cause| cause.downcast_ref().is_some_and(gone)) {
            // Whoever reads our output has had enough of it: that is no failure of ours.
            return ExitCode::SUCCESS;
        }
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

fn bench(benching: &Benching) -> anyhow::Result<ExitCode> {
    let runtime = Runtime::new().context("no runtime can be started")?;
    let mut own = Vec::new();
    if benching.endpoint.is_empty() {
        // As published: a queue without bound ahead of the sender, and none.
        own.push(Server::start(&["--mode", "async", "--prefetch", "all"])?);
        own.push(Server::start(&["--mode", "sync", "--prefetch", "0"])?);
    }
    let endpoints: Vec<&str> =
        own.iter().map(|server| &server.endpoint).chain(&benching.endpoint).map(String::as_str).collect();
    let targets = runtime.block_on(Target::find(&endpoints))?;
    // Lines are written as they come, so that an interruption loses none; the name is right when all are there.
    let unfinished = benching.out.with_extension("csv.part");
    let cannot = |path: &Path| format!("cannot write {}", path.display());
    let file = File::create(&unfinished).with_context(|| cannot(&unfinished))?;
    let mut writer = results::Writer::new(file);
    let (mut cells, mut failures) = (0, 0);
    let measured = benching.grid.measure(&targets, |row| {
        cells += 1;
        failures += row.failures;
        writer.write(row)
    });
    runtime.block_on(measured).with_context(|| cannot(&unfinished))?;
    fs::rename(&unfinished, &benching.out).with_context(|| cannot(&benching.out))?;
    print(&format!("{cells} cells in {}, {failures} failed requests\n", benching.out.display()))?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) })
}

fn draw(plotting: &Plotting) -> anyhow::Result<()> {
    let path = plotting.results.display();
    let file = File::open(&plotting.results).with_context(|| format!("cannot read {path}"))?;
    let rows = results::read(BufReader::new(file)).with_context(|| path.to_string())?;
    let files = plot::draw(&rows, &plotting.out)?;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    print(&(names.join("\n") + "\n"))
}
