//! `serve`: streams, signals and standard input at the edge, the library for the rest.

use std::io::{self, Write};

use anyhow::Context;
use tokio::io::AsyncReadExt;
use tokio::runtime::Runtime;
use tokio::signal;
use tokio::sync::oneshot;

use super::arguments::Serving;
use super::output::print;
use crate::produce::{Mode, Pool};
use crate::serve;
use crate::service::{Batches, Options};
use crate::slices::Memory;
use crate::table::{Shape, Table};

/// Serves until told to stop, by a signal or by the end of standard input.
pub fn serve(serving: &Serving) -> anyhow::Result<()> {
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
    runtime.block_on(async {
        let (drain, draining) = oneshot::channel::<()>();
        let served = serve::serve(listener, batches.clone(), async { drop(draining.await) });
        tokio::select! {
            served = served => served,
            () = cut_off(&batches, drain, serving.until_stdin_closes) => Ok(()),
        }
    })?;
    // Threads that still sleep for a client that has gone are not waited for.
    runtime.shutdown_background();
    Ok(())
}

/// Has the server drain when it is told to stop. Ready when streams are no longer waited for: after a second signal, or at once if whoever
/// started this has gone.
async fn cut_off(batches: &Batches, drain: oneshot::Sender<()>, until_stdin_closes: bool) {
    if until_stdin_closes {
        tokio::select! { () = signalled() => {}, () = end_of_input() => {} }
        return;
    }
    signalled().await;
    let left = batches.health().streams;
    if left > 0 {
        // Nobody reads standard error of a server that ends: no reason to stop draining.
        let _ = writeln!(io::stderr(), "finishing {left} streams; interrupt once more to cut them off");
    }
    drop(drain);
    signalled().await;
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
