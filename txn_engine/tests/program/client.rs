//! One connection to a server.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use serde_json::Value;

use crate::{PATIENCE, wait_for};

pub struct Client {
    pub stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).expect("the server listens"))
    }

    pub fn of(stream: TcpStream) -> Self {
        // A test that waits for what does not come fails, and does not hang.
        stream.set_read_timeout(Some(PATIENCE)).expect("it is not zero");
        stream.set_write_timeout(Some(PATIENCE)).expect("it is not zero");
        // Bytes go out as they are cut.
        stream.set_nodelay(true).expect("it is a TCP socket");
        let answers = BufReader::new(stream.try_clone().expect("there are file descriptors"));
        Client { stream, answers }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server takes what is sent");
    }

    /// The next answer, without its line break; `None` at the end.
    pub fn answer(&mut self) -> Option<String> {
        self.try_answer().expect("the connection is whole")
    }

    pub fn try_answer(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        assert_eq!(line.pop(), Some('\n'), "an answer is cut: {line}");
        Ok(Some(line))
    }

    pub fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\n"));
        self.answer().expect("the server answers")
    }

    /// Sends one line to a server that may be full; its answer, or nothing if it hangs up.
    pub fn try_ask(&mut self, line: &str) -> Option<String> {
        // The server may have turned us away already.
        let _ = self.stream.write_all(format!("{line}\n").as_bytes());
        self.try_answer().unwrap_or_else(|error| {
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "neither an answer nor an end");
            None
        })
    }

    /// Sends no more, and reads answers until the server ends, too.
    pub fn end(mut self) -> Vec<String> {
        self.stream.shutdown(Shutdown::Write).expect("the connection is whole");
        self.rest()
    }

    /// The same where no answer is left.
    pub fn ends(self) {
        assert_eq!(self.end(), Vec::<String>::new());
    }

    pub fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.answer()).collect()
    }

    pub fn stats(&mut self) -> Value {
        serde_json::from_str(&self.ask("stats")).expect("it is one line of JSON")
    }

    /// Waits until the server's system has taken all that was sent, whether the server reads it or not.
    pub fn wait_until_arrived(&self) {
        let port = |address: io::Result<SocketAddr>| address.expect("the connection is whole").port();
        let ours = format!(":{:04X} ", port(self.stream.local_addr()));
        let theirs = format!(":{:04X} ", port(self.stream.peer_addr()));
        wait_for("what was sent to arrive", || {
            // Elsewhere than on Linux there is no such file, and what is sent over the loopback interface arrives at once.
            let sockets = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
            let socket = sockets
                .lines()
                .find(|line| line.find(&ours).zip(line.find(&theirs)).is_some_and(|(ours, theirs)| ours < theirs));
            socket.is_none_or(|line| line.contains(" 00000000:"))
        });
    }
}
