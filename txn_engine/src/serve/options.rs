//! How to serve.

use std::net::SocketAddr;

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
}
