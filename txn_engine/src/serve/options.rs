//! How to serve.

use std::net::SocketAddr;
use std::time::Duration;

#[cfg(feature = "cli")]
use crate::arguments::seconds;
use crate::limits;

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
    /// Where to listen; port 0 takes one that is free
    #[cfg_attr(feature = "cli", arg(long = "addr", default_value = "127.0.0.1:8820", value_name = "ADDRESS"))]
    pub address: SocketAddr,
    /// Threads of the mode pool
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 64, value_name = "THREADS"))]
    pub pool: usize,
    /// Refuse more connections at once than this; the machine's limits hold besides
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub most_connections: Option<usize>,
    /// Seconds after which a connection is closed that sends nothing, or does not take its answers; 0 for never
    #[cfg_attr(feature = "cli", arg(long, default_value = "300", value_name = "SECONDS", value_parser = seconds))]
    pub idle: Duration,
}

impl Options {
    /// How many connections there may be at once, and what stands against more.
    pub(super) fn most(&self) -> (usize, &'static str) {
        let mut most = (limits::most_files(), "no more files can be opened (ulimit -n)");
        if let (Mode::Threads, Some(threads)) = (self.mode, limits::most_threads())
            && threads < most.0
        {
            most = (threads, "no more threads can be started (vm.max_map_count)");
        }
        match self.most_connections {
            Some(asked) if asked < most.0 => (asked, "there are as many connections as allowed (--most-connections)"),
            _ => most,
        }
    }
}
