//! `serve`: streams, signals and standard input at the edge, the library for the rest.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use tokio::signal;
use tokio::sync::oneshot;

use super::FOUND_FAILURES;
use super::arguments::Serving;
use super::output::print;
use crate::produce::{Mode, Pool};
use crate::serve::{self, Limits};
use crate::service::{Batches, Options};
use crate::slices::Memory;
use crate::table::{Shape, Table};

/// Serves until told to stop, by a signal or by the end of standard input.
pub fn serve(serving: &Serving) -> anyhow::Result<ExitCode> {
    let runtime = Runtime::new().context("no runtime can be started")?;
    // Listening comes first: that the port is in use should be said before the table is made.
    let listener = runtime.block_on(serve::listen(serving.addr))?;
    let address = listener.local_addr().context("the socket does not say where it listens")?;
    let shape = Shape { rows: serving.rows.get(), columns: serving.cols.get(), seed: serving.seed };
    let table = Table::new(shape).context("the table cannot be made")?;
    let options = Options {
        mode: serving.mode,
        prefetch: serving.prefetch,
        encoding: serving.encoding,
        memory: Memory { bytes: serving.memory.get().saturating_mul(1 << 20) },
    };
    let pool = if serving.mode == Mode::Pool { Some(Pool::new(serving.pool.get())?) } else { None };
    let batches = Batches::new(table, options, pool);
    print(&format!("listening on http://{address}\n"))?;
    let limits = Limits { streams_per_connection: serving.streams_per_connection.get(), grace: serving.grace };
    let in_time = runtime.block_on(async {
        let (drain, draining) = oneshot::channel::<()>();
        let served = serve::serve(listener, batches.clone(), limits, async { drop(draining.await) });
        tokio::select! {
            in_time = served => in_time,
            in_time = cut_off(&batches, drain, serving) => in_time,
        }
    });
    if !in_time {
        warn(&format!("cut off {} streams\n", batches.stats().streams));
    }
    // Threads that still sleep for a client that has gone are not waited for.
    runtime.shutdown_background();
    Ok(if in_time { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) })
}

/// Nobody reads standard error of a server that ends: no reason to stop draining.
fn warn(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Has the server drain when it is told to stop. Ready when streams are no longer waited for: after a second signal, or at once, which is
/// what it is for, if whoever started this has gone.
async fn cut_off(batches: &Batches, drain: oneshot::Sender<()>, serving: &Serving) -> bool {
    if serving.until_stdin_closes {
        tokio::select! { () = signalled() => {}, () = end_of_input() => {} }
        return true;
    }
    signalled().await;
    let left = batches.stats().streams;
    if left > 0 {
        let grace = serving.grace.as_secs_f64();
        warn(&format!("finishing {left} streams for at most {grace} s; interrupt once more to cut them off\n"));
    }
    drop(drain);
    signalled().await;
    false
}

async fn end_of_input() {
    let mut bytes = [0; 64];
    while matches!(tokio::io::stdin().read(&mut bytes).await, Ok(read) if read > 0) {}
}

/// Ready at an interrupt or a request to terminate.
async fn signalled() {
    tokio::select! { _ = signal::ctrl_c() => {}, () = terminated() => {} }
}

#[cfg(unix)]
async fn terminated() {
    match signal::unix::signal(signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        // Then the signal ends the process by itself.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
