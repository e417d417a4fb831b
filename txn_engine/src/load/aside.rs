//! A connection beside the load, for questions.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::error::Error;
use crate::serve::Stats;

/// A server that does not answer within this is not there.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to a server that is asked how it fares.
pub struct Aside {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Aside {
    /// Opens it.
    ///
    /// # Errors
    /// If nothing listens there.
    pub fn open(address: SocketAddr) -> Result<Self, Error> {
        let connect = || {
            let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(stream)
        };
        let stream = connect().map_err(|source| Error::Connect { action: "connect to", address, source })?;
        Ok(Aside { address, stream: BufReader::new(stream) })
    }

    /// What the server has done and spent so far.
    ///
    /// # Errors
    /// If it does not say so.
    pub fn stats(&mut self) -> Result<Stats, Error> {
        let mut ask = || -> io::Result<Stats> {
            self.stream.get_mut().write_all(b"stats\n")?;
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            Ok(serde_json::from_str(&line)?)
        };
        ask().map_err(|source| Error::Connect { action: "ask", address: self.address, source })
    }
}
