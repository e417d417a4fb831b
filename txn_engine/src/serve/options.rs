//! How to serve.

use std::net::SocketAddr;

/// Who waits for the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
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
