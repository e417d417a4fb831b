//! `serve`: streams, signals and standard input at the edge, the library for the rest.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZero;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantNames;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::{FOUND_FAILURES, print, seconds};
use crate::produce::{Mode, Pool};
use crate::serve::{self, Limits};
use crate::service::{Batches, Encoding, Options};
use crate::table::{Shape, Table};

/// What `serve` serves, and how.
#[derive(Debug, Args)]
pub struct Serving {
    /// Address to listen on; port 0 takes one that is free. Other machines are let in only if you say so: 0.0.0.0:8815
    #[arg(long, default_value = "127.0.0.1:8815")]
    addr: SocketAddr,
    /// Stop when standard input ends: for programs that start this one
    #[arg(long, hide = true)]
    until_stdin_closes: bool,
    /// Who waits for a batch: a task, a thread per request, one of a pool, a thread of the runtime's, the worker that polls
    #[arg(long, default_value = "async", value_parser = one_of::<Mode>())]
    mode: Mode,
    /// Threads of the mode pool
    #[arg(long, default_value = "8")]
    pool: NonZero<usize>,
    /// Batches worked on ahead of the one that is asked for, or all
    #[arg(long, default_value = "1", value_parser = prefetch)]
    prefetch: usize,
    /// direct (for each request, values from where they are), stock (by arrow-flight) or shared (once, all requests share the bytes)
    #[arg(long, default_value = "direct", value_parser = one_of::<Encoding>())]
    encoding: Encoding,
    /// Rows of the table
    #[arg(long, default_value = "1000000")]
    rows: NonZero<usize>,
    /// Columns of the table
    #[arg(long, default_value = "50")]
    cols: NonZero<usize>,
    /// Seed of the table's values
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// MiB that the messages of all streams may take until they are sent, and 64 KiB for each stream besides
    #[arg(long, default_value = "256")]
    memory: NonZero<usize>,
    /// Streams of one connection at once; who asks for more on it waits
    #[arg(long, default_value = "1000")]
    streams_per_connection: NonZero<u32>,
    /// Seconds that streams in flight have to end after an interrupt or SIGTERM; then they are cut off, and the exit code is 1
    #[arg(long, default_value = "10", value_parser = seconds)]
    grace: Duration,
}

/// The value of a closed set by its name; a wrong one is refused with the choices.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = strum::ParseError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|name| name.parse())
}

fn prefetch(text: &str) -> Result<usize, String> {
    let batches = if text == "all" { Some(usize::MAX) } else { text.parse().ok() };
    batches.ok_or_else(|| "a number of batches, or all".to_owned())
}

/// Serves until told to stop, by a signal or by the end of standard input.
pub fn serve(serving: &Serving) -> anyhow::Result<ExitCode> {
    let runtime = Runtime::new().context("no runtime can be started")?;
    // Listening comes first: that the port is in use should be said before the table is made.
    let cannot = || format!("cannot listen on {}: choose another with --addr", serving.addr);
    let listener = runtime.block_on(TcpListener::bind(serving.addr)).with_context(cannot)?;
    let address = listener.local_addr().context("the socket does not say where it listens")?;
    let shape = Shape { rows: serving.rows.get(), columns: serving.cols.get(), seed: serving.seed };
    let table = Table::new(shape).context("the table cannot be made")?;
    let options = Options {
        mode: serving.mode,
        prefetch: serving.prefetch,
        encoding: serving.encoding,
        memory: serving.memory.get().saturating_mul(1 << 20),
    };
    let pool = (serving.mode == Mode::Pool).then(|| Pool::new(serving.pool.get())).transpose();
    let batches = Batches::new(table, options, pool.context("the threads of the pool cannot be started")?);
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
        let (mut input, mut nowhere) = (tokio::io::stdin(), tokio::io::sink());
        tokio::select! { () = signalled() => {}, _ = tokio::io::copy(&mut input, &mut nowhere) => {} }
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

/// Ready at an interrupt or a request to terminate.
async fn signalled() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            // Then the signal ends the process by itself.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! { _ = ctrl_c() => {}, () = terminated => {} }
}
