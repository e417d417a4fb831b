//! The thread that sends: each row when it is due, whether those before it were answered or not.

use std::collections::BTreeMap;
use std::io::ErrorKind::WouldBlock;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::script::Script;
use super::{Connection, GLANCE, State, Times, Waiting, no_times, record};

/// Sends, and knows what was sent.
pub(super) struct Sender<'a> {
    connections: &'a [Connection],
    scripts: Vec<Script>,
    /// What the system did not take, of the connections of which there is something.
    unsent: BTreeMap<usize, Vec<u8>>,
    pub(super) counted: u64,
    /// Of each client, with its first one.
    pub(super) rows: Vec<u32>,
    /// From when a row was due to when it was sent.
    pub(super) lateness: Times,
}

impl<'a> Sender<'a> {
    /// Goes on with `scripts` where connections were opened, each with its first row.
    pub(super) fn new(connections: &'a [Connection], scripts: Vec<Script>) -> Self {
        let rows = connections.iter().map(|connection| u32::from(connection.stream.get().is_some())).collect();
        Sender { connections, scripts, unsent: BTreeMap::new(), counted: 0, rows, lateness: no_times() }
    }

    /// Sends all rows of the schedule, and then for so long what was not taken before.
    pub(super) fn run(
        mut self,
        schedule: impl Iterator<Item = (Instant, usize)>,
        counted_from: Instant,
        patience: Duration,
    ) -> Self {
        // Linux may be 50 us late for any timer unless it is told that this one matters.
        #[cfg(target_os = "linux")]
        let _ = nix::sys::prctl::set_timerslack(1);
        let mut line = Vec::new();
        for (due, number) in schedule {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            if due >= counted_from {
                self.counted += 1;
                record(&mut self.lateness, now - due);
            }
            line.clear();
            self.catch_up();
            self.send(number, Waiting { due, sent: now }, &mut line);
        }
        let ended = Instant::now();
        while !self.unsent.is_empty() && ended.elapsed() < patience {
            thread::sleep(GLANCE);
            self.catch_up();
        }
        self
    }

    fn send(&mut self, number: usize, row: Waiting, line: &mut Vec<u8>) {
        let connection = &self.connections[number];
        let mut fate = connection.fate();
        // Its rows fail, one by one.
        let (State::Served, Some(stream)) = (fate.state, connection.stream.get()) else { return };
        // Before it is sent: the answer may be there before this thread goes on.
        fate.waiting.push_back(row);
        drop(fate);
        // Writing to a vector cannot fail.
        let _ = self.scripts[number].next_row().write(line);
        self.rows[number] += 1;
        if let Some(unsent) = self.unsent.get_mut(&number) {
            unsent.extend_from_slice(line);
            return;
        }
        let sent = taken_now(stream, line);
        if sent < line.len() {
            self.unsent.insert(number, line[sent..].to_vec());
        }
    }

    /// Sends what was not taken before, as far as it is taken now.
    fn catch_up(&mut self) {
        let connections = self.connections;
        self.unsent.retain(|&number, unsent| {
            let Some(stream) = connections[number].stream.get() else { return false };
            unsent.drain(..taken_now(stream, unsent));
            !unsent.is_empty()
        });
    }
}

/// How many bytes the system takes without waiting. A connection that is broken takes all: that it is the receiver sees.
fn taken_now(mut stream: &TcpStream, bytes: &[u8]) -> usize {
    stream.write(bytes).unwrap_or_else(|error| if error.kind() == WouldBlock { 0 } else { bytes.len() })
}
