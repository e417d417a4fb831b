//! `serve`: streams, signals and standard input at the edge, the library for the rest.

use std::io::{self, Write};
use std::num::NonZero;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use futures::stream::{self, Stream, StreamExt};
use strum::VariantNames;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::{FOUND_FAILURES, print, runtime, seconds};
use crate::produce::{Mode, Pool};
use crate::serve::{self, Limits};
use crate::service::{Batches, Encoding, Options};
use crate::table::{Shape, Table};

/// What `serve` serves, and how.
#[derive(Debug, Args)]
pub struct Serving {
    /// Address to listen on, like localhost:8815; port 0 takes one that is free. Other machines are let in only if you say so: 0.0.0.0:8815
    #[arg(long, default_value = "127.0.0.1:8815")]
    addr: String,
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
    /// Seconds that streams in flight have to end after an interrupt, SIGTERM or SIGHUP; then they are cut off, and the exit code is 1
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
    let runtime = runtime()?;
    // Listening comes first: that the port is in use should be said before the table is made.
    let cannot = || format!("cannot listen on {}: choose another with --addr", serving.addr);
    let listener = runtime.block_on(TcpListener::bind(&serving.addr)).with_context(cannot)?;
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
    // Whoever reads that it listens may stop it.
    let mut stops = runtime.block_on(async { stops() }).context("cannot watch for signals")?;
    print(&format!("listening on http://{address}\n"))?;
    let limits = Limits { streams_per_connection: serving.streams_per_connection.get(), grace: serving.grace };
    let in_time = runtime.block_on(async {
        let (drain, draining) = oneshot::channel::<()>();
        let served = serve::serve(listener, batches.clone(), limits, async { drop(draining.await) });
        tokio::select! {
            in_time = served => in_time,
            in_time = cut_off(&batches, drain, &mut stops, serving) => in_time,
        }
    });
    let left = if in_time { 0 } else { batches.stats().streams };
    if left > 0 {
        warn(&format!("cut off {left} streams\n"));
    }
    // Threads that still sleep for a client that has gone are not waited for.
    runtime.shutdown_background();
    Ok(if left == 0 { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) })
}

/// Nobody reads standard error of a server that ends: no reason to stop draining.
fn warn(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Has the server drain when it is told to stop. Ready when streams are no longer waited for: after a second signal, or at once, which is
/// what it is for, if whoever started this has gone.
async fn cut_off(
    batches: &Batches,
    drain: oneshot::Sender<()>,
    stops: &mut (impl Stream<Item = ()> + Unpin),
    serving: &Serving,
) -> bool {
    if serving.until_stdin_closes {
        let (mut input, mut nowhere) = (tokio::io::stdin(), tokio::io::sink());
        tokio::select! { _ = stops.next() => {}, _ = tokio::io::copy(&mut input, &mut nowhere) => {} }
        return true;
    }
    stops.next().await;
    let left = batches.stats().streams;
    if left > 0 {
        let grace = serving.grace.as_secs_f64();
        warn(&format!("finishing {left} streams for at most {grace} s; interrupt once more to cut them off\n"));
    }
    drop(drain);
    stops.next().await;
    false
}

/// An item for each interrupt, request to terminate and hangup, unless hangups are to be ignored.
fn stops() -> io::Result<impl Stream<Item = ()> + Unpin> {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    kinds.extend((!ignores_hangup()).then(SignalKind::hangup));
    let signals = kinds.into_iter().map(signal).collect::<io::Result<Vec<_>>>()?;
    Ok(stream::select_all(
        signals.into_iter().map(|mut signal| stream::poll_fn(move |context| signal.poll_recv(context))),
    ))
}

/// Whether whoever started this program wants hangups ignored, as nohup does.
fn ignores_hangup() -> bool {
    #[cfg(target_os = "linux")]
    return procfs::process::Process::myself()
        .and_then(|process| process.status())
        .is_ok_and(|status| status.sigign & 1 == 1);
    #[cfg(not(target_os = "linux"))]
    false
}
