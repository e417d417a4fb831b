//! A server: lines of CSV over TCP, each answered with `ok` or the typed error.
//!
//! One engine, one way to read a row and one [`conversation`] for all modes; what differs is who waits for the bytes of a connection: a
//! thread of its own, one of a fixed pool, or a task of tokio. Each line is `type,client,tx,amount`; a header line as the first one is
//! welcome, so that a file can be sent as it is. `stats` is answered with what the server has spent so far, as JSON.

use std::net::{SocketAddr, TcpListener};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::error::Error;
use crate::session::Session;

pub mod conversation;
mod limits;
mod listen;
mod live;
mod stats;
mod tasks;
mod threads;

pub use limits::raise_open_files;
pub use stats::Stats;

use conversation::Desk;
use live::Live;
use stats::Counts;

/// Who waits for the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 5] = [Mode::Threads, Mode::Pool, Mode::Tokio, Mode::TokioCurrent, Mode::Null];

    /// The mode's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Threads => "threads",
            Mode::Pool => "pool",
            Mode::Tokio => "tokio",
            Mode::TokioCurrent => "tokio_current",
            Mode::Null => "null",
        }
    }
}

impl FromStr for Mode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| Error::UnknownName {
            what: "mode",
            given: name.to_owned(),
            choices: Mode::ALL.map(Mode::name).join(", "),
        })
    }
}

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who waits.
    pub mode: Mode,
    /// Where to listen; port 0 takes one that is free.
    pub address: SocketAddr,
    /// Threads of [`Mode::Pool`].
    pub pool: usize,
    /// More connections at once are refused; the machine's own limits hold besides.
    pub most_connections: Option<usize>,
}

/// What all connections share.
pub(crate) struct Shared {
    desk: Desk,
    counts: Counts,
    live: Live,
    /// How many connections there may be, and why no more.
    most: (usize, &'static str),
}

/// A server that runs.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    front: Front,
}

/// What accepts connections.
enum Front {
    Threads(threads::Acceptor),
    Tasks(tasks::Acceptor),
}

impl Server {
    /// Starts to serve `session`.
    ///
    /// # Errors
    /// If the address cannot be listened on, or a thread or the runtime cannot be started.
    pub fn start(options: &Options, session: Session) -> Result<Self, Error> {
        let listener = listen::listen(options.address)?;
        let address = local_address(&listener, options.address)?;
        let desk = match options.mode {
            Mode::Null => Desk::Null,
            _ => Desk::Engine(Box::new(Engine::resume(session))),
        };
        let most = limits::most_connections(options);
        let shared = Arc::new(Shared { desk, counts: Counts::default(), live: Live::default(), most });
        let front = match options.mode {
            Mode::Threads => Front::Threads(threads::Acceptor::start(listener, &shared, threads::Way::EachItsOwn)?),
            Mode::Pool => {
                Front::Threads(threads::Acceptor::start(listener, &shared, threads::Way::Pool(options.pool))?)
            }
            Mode::Tokio => Front::Tasks(tasks::Acceptor::start(listener, &shared, tasks::Workers::PerCore)?),
            Mode::TokioCurrent | Mode::Null => {
                Front::Tasks(tasks::Acceptor::start(listener, &shared, tasks::Workers::One)?)
            }
        };
        Ok(Server { address, shared, front })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has done and spent so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Accepts no more, answers every whole line that has arrived, closes the connections, and gives the state. Connections that do not
    /// take their answers within `grace` are cut off.
    #[must_use]
    pub fn drain(self, grace: Duration) -> Session {
        let deadline = Instant::now() + grace;
        let _running = match self.front {
            Front::Threads(acceptor) => {
                acceptor.stop();
                None
            }
            Front::Tasks(acceptor) => Some(acceptor.stop()),
        };
        // What has arrived can still be read; then the connection looks ended.
        self.shared.live.shut(std::net::Shutdown::Read);
        if !self.shared.live.wait_until_empty(deadline) {
            self.shared.live.shut(std::net::Shutdown::Both);
            self.shared.live.wait_until_empty(Instant::now() + grace);
        }
        match &self.shared.desk {
            Desk::Engine(engine) => engine.session(),
            Desk::Null => Session::default(),
        }
    }
}

fn local_address(listener: &TcpListener, address: SocketAddr) -> Result<SocketAddr, Error> {
    listener.local_addr().map_err(|source| Error::Listen { address, source })
}
