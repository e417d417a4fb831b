//! What each command does: streams, signals and files at the edge, the library for the rest.

use std::fs::File;
use std::future::Future;
use std::io::{self, BufReader, Write};
use std::net::TcpListener;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Error, ensure};
use tokio::io::AsyncReadExt;

use flight_batches::bench::{Grid, Target};
use flight_batches::produce::{Mode, Pool};
use flight_batches::results;
use flight_batches::serve::{Listener, ServeError};
use flight_batches::service::{Batches, Options};
use flight_batches::slices::Memory;
use flight_batches::study::{self, overview};
use flight_batches::table::{Shape, Table};
use flight_batches::{loopback, plot};
use study_kit::output::{self, print};
use study_kit::server::Server;
use study_kit::usage::settle_allocator;

use crate::cli::{Benching, Command, Listening, Plotting, Serving};

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Serve(serving) => serve(&serving)?,
        Command::Bench(benching) => return bench(&benching),
        Command::Plot(plotting) => draw(&plotting)?,
        Command::Loopback(listening) => send_bytes(&listening)?,
        Command::Study(verb) => return verb.carry_out(study::cases, study::prepare, study::run),
        Command::Overview => print(&overview::tables()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn serve(serving: &Serving) -> Result<(), Error> {
    settle_allocator();
    let runtime = tokio::runtime::Runtime::new().context("no runtime can be started")?;
    // Listening comes first: that the port is in use should be said before the table is made.
    let listener = runtime.block_on(Listener::bind(serving.listening.addr))?;
    let address = listener.address().context("the socket does not say where it listens")?;
    let shape = Shape { rows: serving.rows.get(), columns: serving.cols.get(), seed: serving.seed };
    let table = Table::new(shape).context("the table cannot be made")?;
    let options = Options {
        mode: serving.mode,
        prefetch: serving.prefetch.0,
        encoding: serving.encoding,
        memory: Memory { bytes: serving.memory.get().saturating_mul(1 << 20) },
    };
    let pool = if serving.mode == Mode::Pool { Some(Pool::new(serving.pool.get())?) } else { None };
    let batches = Batches::new(table, options, pool);
    print(&format!("listening on http://{address}\n"))?;
    let until_stdin_closes = serving.listening.until_stdin_closes;
    let streams = batches.clone();
    runtime.block_on(async {
        let stop = async move {
            stopped(until_stdin_closes).await;
            let left = streams.health().streams;
            if left > 0 && !until_stdin_closes {
                // Nobody reads standard error of a server that ends: no reason to stop draining.
                let _ = writeln!(io::stderr(), "finishing {left} streams; interrupt once more to cut them off");
            }
        };
        let (stopping, stop) = begin(stop);
        tokio::select! {
            served = listener.serve(batches, stop) => served.map_err(Error::from),
            () = cut_off(stopping, until_stdin_closes) => Ok(()),
        }
    })?;
    // Threads that still sleep for a client that has gone are not waited for.
    runtime.shutdown_background();
    Ok(())
}

/// Splits a future in two: its end is seen by both.
fn begin(future: impl Future<Output = ()>) -> (tokio::sync::oneshot::Receiver<()>, impl Future<Output = ()>) {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    (receiver, async move {
        future.await;
        // The other one may have no interest any more.
        let _ = sender.send(());
    })
}

/// Ready when streams are no longer waited for: after a second signal, or at once if whoever started this has gone.
async fn cut_off(stopping: tokio::sync::oneshot::Receiver<()>, until_stdin_closes: bool) {
    if stopping.await.is_err() {
        std::future::pending::<()>().await;
    }
    if !until_stdin_closes {
        stopped(false).await;
    }
}

/// Ready at an interrupt, a request to terminate, or if asked for at the end of standard input.
async fn stopped(until_stdin_closes: bool) {
    let end_of_input = async {
        if until_stdin_closes {
            let mut input = tokio::io::stdin();
            let mut bytes = [0; 64];
            while matches!(input.read(&mut bytes).await, Ok(read) if read > 0) {}
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated() => {}
        () = end_of_input => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        // Then the signal ends the process by itself.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

fn send_bytes(listening: &Listening) -> Result<(), Error> {
    let address = listening.addr;
    let listener = TcpListener::bind(address).map_err(|source| ServeError::Listen { address, source })?;
    print(&format!("listening on http://{}\n", listener.local_addr()?))?;
    std::thread::spawn(move || loopback::serve(&listener));
    let runtime = tokio::runtime::Runtime::new().context("no runtime can be started")?;
    runtime.block_on(stopped(listening.until_stdin_closes));
    runtime.shutdown_background();
    Ok(())
}

fn bench(benching: &Benching) -> Result<ExitCode, Error> {
    let seconds = |name: &str, value: f64| {
        Duration::try_from_secs_f64(value).with_context(|| format!("{name} is {value}: give seconds, 0 or more"))
    };
    let Benching { rows, requests, delays, .. } = benching;
    ensure!(!rows.contains(&0) && !requests.contains(&0), "rows and requests are 1 or more");
    ensure!(benching.window > 0.0, "window is {}: give seconds, more than 0", benching.window);
    for &delay in delays {
        seconds("a delay", delay)?;
    }
    settle_allocator();
    let grid = Grid {
        delays_s: delays.clone(),
        rows: rows.clone(),
        requests: requests.clone(),
        batches: benching.batches.map(NonZero::get),
        window: seconds("window", benching.window)?,
        warm_up: seconds("warm-up", benching.warm_up)?,
        connections: benching.connections.get(),
        patience: seconds("patience", benching.patience)?,
    };
    let runtime = tokio::runtime::Runtime::new().context("no runtime can be started")?;
    let (servers, endpoints) = servers(&benching.endpoint)?;
    let targets = runtime.block_on(Target::find(&endpoints))?;
    // Lines are written as they come, so that an interruption loses none; the name is right when all are there.
    let unfinished = benching.out.with_extension("csv.part");
    let cannot = |path: &Path| format!("cannot write {}", path.display());
    let file = File::create(&unfinished).with_context(|| cannot(&unfinished))?;
    let mut writer = results::Writer::new(file);
    let (mut cells, mut failures) = (0, 0);
    let measured = grid.measure(&targets, |row| {
        cells += 1;
        failures += row.failures;
        writer.write(row)
    });
    runtime.block_on(measured).with_context(|| cannot(&unfinished))?;
    drop(servers);
    std::fs::rename(&unfinished, &benching.out).with_context(|| cannot(&benching.out))?;
    print(&format!("{cells} cells in {}, {failures} failed requests\n", benching.out.display()))?;
    Ok(output::code(failures == 0))
}

/// The servers that are asked for, or one of each kind, which end with what is returned.
fn servers(endpoints: &[String]) -> Result<(Vec<Server>, Vec<String>), Error> {
    if !endpoints.is_empty() {
        return Ok((Vec::new(), endpoints.to_vec()));
    }
    let mut servers = Vec::new();
    for (mode, prefetch) in [("async", "all"), ("sync", "0")] {
        let words = ["serve", "--until-stdin-closes", "--addr", "127.0.0.1:0", "--mode", mode, "--prefetch", prefetch];
        servers.push(Server::of_this_program(&words.map(str::to_owned))?);
    }
    let endpoints = servers.iter().map(|server| server.address().to_owned()).collect();
    Ok((servers, endpoints))
}

fn draw(plotting: &Plotting) -> Result<(), Error> {
    let shown = |path: &Path| path.display().to_string();
    let file = File::open(&plotting.results).with_context(|| format!("cannot read {}", shown(&plotting.results)))?;
    let rows = results::read(BufReader::new(file)).with_context(|| shown(&plotting.results))?;
    let files = plot::draw(&rows, &plotting.out)?;
    let names: Vec<String> = files.iter().map(|file| shown(file)).collect();
    print(&(names.join("\n") + "\n"))?;
    Ok(())
}
