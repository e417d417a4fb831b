//! The thread that receives: it takes the answers of all connections as they come.

use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::{Connection, Fate, GLANCE, State, Times, no_times, record};
use crate::error::Error;

pub(super) struct Receiver<'a> {
    poll: Poll,
    events: Events,
    connections: &'a [Connection],
    /// The start of an answer whose end has not come, of each connection.
    partial: Vec<Vec<u8>>,
    input: Vec<u8>,
    /// Answers to rows that were due from then on count.
    pub(super) counted_from: Option<Instant>,
    pub(super) accepted: u64,
    pub(super) rejected: u64,
    pub(super) refusal: Option<String>,
    pub(super) response: Times,
    pub(super) service: Times,
}

impl<'a> Receiver<'a> {
    pub(super) fn new(connections: &'a [Connection]) -> Result<Self, Error> {
        let poll = Poll::new().map_err(Error::Thread)?;
        Ok(Receiver {
            poll,
            events: Events::with_capacity(1024),
            partial: vec![Vec::new(); connections.len()],
            connections,
            input: vec![0; 64 << 10],
            counted_from: None,
            accepted: 0,
            rejected: 0,
            refusal: None,
            response: no_times(),
            service: no_times(),
        })
    }

    pub(super) fn watch(&mut self, number: usize) -> Result<(), Error> {
        let Some(stream) = self.connections[number].stream.get() else { return Ok(()) };
        let socket = stream.as_raw_fd();
        self.poll.registry().register(&mut SourceFd(&socket), Token(number), Interest::READABLE).map_err(Error::Thread)
    }

    /// Receives for as long as `wanted`, but no longer than `patience`.
    pub(super) fn receive_while(&mut self, wanted: impl Fn() -> bool, patience: Duration) {
        let begun = Instant::now();
        while wanted() && begun.elapsed() < patience {
            self.receive();
        }
    }

    /// Receives until `sent` all, and then until all is answered, but no longer than `patience`.
    pub(super) fn receive_until(&mut self, sent: impl Fn() -> bool, patience: Duration) {
        while !sent() {
            self.receive();
        }
        let connections = self.connections;
        self.receive_while(|| connections.iter().any(|connection| connection.waits(State::Served)), patience);
    }

    fn receive(&mut self) {
        if self.poll.poll(&mut self.events, Some(GLANCE)).is_err() {
            // Interrupted by a signal: the next call waits again.
            return;
        }
        let ready: Vec<usize> = self.events.iter().map(|event| event.token().0).collect();
        for number in ready {
            self.read(number);
        }
    }

    /// Reads what has come on a connection, to the end: it is reported once.
    fn read(&mut self, number: usize) {
        let connection = &self.connections[number];
        let Some(mut stream) = connection.stream.get() else { return };
        loop {
            match stream.read(&mut self.input) {
                Ok(length @ 1..) => {
                    let now = Instant::now();
                    self.partial[number].extend_from_slice(&self.input[..length]);
                    let answers = std::mem::take(&mut self.partial[number]);
                    let mut rest = answers.as_slice();
                    while let Some(end) = memchr::memchr(b'\n', rest) {
                        self.answer(connection, &rest[..end], now);
                        rest = &rest[end + 1..];
                    }
                    if !rest.is_empty() {
                        self.partial[number] = rest.to_vec();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => {
                    let mut fate = connection.fate();
                    if fate.state == State::Served {
                        fate.state = State::Broken;
                    }
                    // What waits is not answered any more.
                    fate.waiting.clear();
                    return;
                }
            }
        }
    }

    fn answer(&mut self, connection: &Connection, answer: &[u8], now: Instant) {
        let mut fate = connection.fate();
        if let Some(reason) = answer.strip_prefix(b"busy: ") {
            *fate = Fate { state: State::Refused, ..Fate::default() };
            self.refusal.get_or_insert_with(|| String::from_utf8_lossy(reason).into_owned());
            return;
        }
        let Some(row) = fate.waiting.pop_front() else { return };
        if fate.state == State::Unserved {
            fate.state = State::Served;
        }
        drop(fate);
        if self.counted_from.is_none_or(|from| row.due < from) {
            return;
        }
        if answer == b"ok" {
            self.accepted += 1;
        } else {
            self.rejected += 1;
        }
        record(&mut self.response, now.saturating_duration_since(row.due));
        record(&mut self.service, now.saturating_duration_since(row.sent));
    }
}
