//! A connection beside the load, for questions.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result};
use txn_engine::serve::Stats;

/// A server that does not answer within this is not there.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a server that is asked how it fares.
pub struct Aside(BufReader<TcpStream>);

impl Aside {
    /// Opens it.
    pub fn open(address: &str) -> Result<Self> {
        let address = address.parse().context("the server listens nowhere")?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE).context("cannot connect to the server")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Aside(BufReader::new(stream)))
    }

    /// What the server has done and spent so far.
    pub fn stats(&mut self) -> Result<Stats> {
        self.0.get_mut().write_all(b"stats\n").context("cannot ask the server")?;
        let mut line = String::new();
        self.0.read_line(&mut line).context("the server does not answer")?;
        serde_json::from_str(&line).context("the server does not say how it fares")
    }
}
