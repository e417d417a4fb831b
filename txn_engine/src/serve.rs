//! A server: lines of CSV over TCP, each answered with `ok` or the typed error.
//!
//! One engine and one conversation for all modes; what differs is who waits for the bytes of a connection. Each line is
//! `type,client,tx,amount`; a header as the very first one is welcome; `stats` is answered with what the server has spent so far, as JSON.
//!
//! `ok` says that the row is applied in memory. Nothing is durable before [`Server::drain`] has given the state and the caller has dumped it.

use std::net::{Shutdown, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use tokio::runtime::Builder;

use crate::accounts::Books as _;
#[cfg(feature = "cli")]
use crate::arguments::seconds;
use crate::engine::Engine;
use crate::error::Error;
use crate::limits;
use crate::session::Session;

mod conversation;
mod live;
mod shared;
mod tasks;
mod threads;

pub use crate::limits::raise_open_files;
pub use shared::Stats;

use shared::{Counts, Shared, Stop};

/// A look at all connections takes some of this.
const SHORTEST_STEP: Duration = Duration::from_millis(10);
/// No connection that was cut off takes nearly as long to apply the rows that it has read.
const LAST_ROWS: Duration = Duration::from_secs(10);

/// Who waits for the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum Mode {
    /// A thread per connection.
    Threads,
    /// One of so many threads, for as long as the connection lasts; connections wait for one in the order of their arrival.
    Pool,
    /// A task per connection, on a worker per core.
    Tokio,
    /// A task per connection, all on one thread.
    TokioCurrent,
    /// As `TokioCurrent`, but every line is answered with `ok` unread: what a load generator can do at best.
    Null,
}

/// How to serve.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Options {
    /// Who waits for the bytes of a connection
    #[cfg_attr(feature = "cli", arg(long, default_value = "tokio"))]
    pub mode: Mode,
    /// Host and port to listen at; port 0 takes one that is free, of a name's addresses the first that can be had
    #[cfg_attr(feature = "cli", arg(long = "addr", default_value = "127.0.0.1:8820", value_name = "HOST:PORT"))]
    pub address: String,
    /// Threads of the mode pool
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 64, value_name = "THREADS"))]
    pub pool: usize,
    /// Seconds after which a connection is closed that sends nothing, or does not take its answers; 0 for never
    #[cfg_attr(feature = "cli", arg(long, default_value = "300", value_name = "SECONDS", value_parser = seconds))]
    pub idle: Duration,
}

/// A server that runs until it is drained, or dropped: then its connections are cut off.
pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    /// Taken when it ends.
    stop: Option<Stop>,
}

impl Server {
    /// Starts to serve `session`.
    pub fn start(options: &Options, session: Session) -> Result<Self, Error> {
        let listen = || {
            let listener = TcpListener::bind(&options.address)?;
            // Again, for a longer queue than std's; the kernel's own limit (`net.core.somaxconn`) holds besides.
            SockRef::from(&listener).listen(65_535)?;
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) =
            listen().map_err(|source| Error::Listen { address: options.address.clone(), source })?;
        let engine = (options.mode != Mode::Null).then(|| Engine::resume(session));
        if options.mode == Mode::Pool {
            limits::expect_threads(options.pool)?;
        }
        let (files, threads) = (limits::most_files(), limits::most_threads());
        let most = if options.mode == Mode::Threads && threads < files {
            (threads, "no more threads can be started (vm.max_map_count)")
        } else {
            (files, "no more files can be opened (ulimit -n)")
        };
        let step = (!options.idle.is_zero()).then(|| (options.idle / live::IDLE_STEPS).max(SHORTEST_STEP));
        let shared = Arc::new(Shared { engine, counts: Counts::default(), live: Arc::default(), most, step });
        let front = match options.mode {
            Mode::Threads => threads::start(listener, &shared, None),
            Mode::Pool => threads::start(listener, &shared, Some(options.pool)),
            Mode::Tokio => tasks::start(listener, &shared, Builder::new_multi_thread(), limits::workers()),
            Mode::TokioCurrent | Mode::Null => tasks::start(listener, &shared, Builder::new_current_thread(), 0),
        }?;
        Ok(Server { address, shared, stop: Some(front) })
    }

    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Accepts no more, answers the whole lines that have arrived on connections being served, closes them, and gives the state. Connections
    /// that wait for a thread or to be accepted are closed unanswered; those that do not take their answers within `grace` are cut off.
    ///
    /// Blocks for `grace` at most, and then until the rows that were read are applied, which is given 10 seconds or `grace` again.
    #[must_use]
    pub fn drain(mut self, grace: Duration) -> Session {
        let _running = self.stop.take().and_then(|stop| stop());
        let live = &self.shared.live;
        // What has arrived can still be read; then the connection looks ended.
        live.shut(Shutdown::Read);
        if !live.wait_until_empty(grace) {
            live.shut(Shutdown::Both);
            // Accounts and transactions that still change would not agree.
            live.wait_until_empty(grace.max(LAST_ROWS));
        }
        self.shared.engine.as_ref().map(Engine::session).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.live.shut(Shutdown::Both);
    }
}
