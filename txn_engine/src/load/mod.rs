//! The load: thousands of connections that send rows at a given rate, whether the answers come or not.
//!
//! It is an open loop: when a row is due is settled before the first is sent, and how long its answer took is counted from then. A server
//! that stands still for a second therefore has a second of late answers in its record, not one. A thread sends and a thread receives, for
//! any number of connections. Every connection is a client of its own, with transaction ids of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, died};
use crate::limits;

mod connections;
mod opening;
mod receiver;
mod schedule;
mod script;
mod sender;
mod settings;

pub use connections::Times;
pub use script::Script;
pub use settings::{Arrivals, Load, MOST_CLIENTS};

use connections::{Connection, State};
use receiver::Receiver;
use schedule::Schedule;

/// What came of it.
#[derive(Debug)]
pub struct Answers {
    /// Rows that counted.
    pub rows: u64,
    /// Of these, answered with `ok`.
    pub accepted: u64,
    /// Of these, answered with a row error.
    pub rejected: u64,
    /// Of these, not answered: the connection was refused, broken or silent.
    pub failed: u64,
    /// Connections that were refused in words.
    pub refused: u64,
    /// The first words of refusal.
    pub refusal: Option<String>,
    /// Connections that could not be made, or were closed or silent before their first answer.
    pub unserved: u64,
    /// From when a row was due to its answer.
    pub response: Times,
    /// From when it was sent.
    pub service: Times,
    /// From when it was due to when it was sent: the load generator's own lateness.
    pub lateness: Times,
    /// How long it took until every connection had its first answer, or had none in time.
    pub connecting: Duration,
    /// From the first row that counts to the last answer.
    pub elapsed: Duration,
    /// Rows that the server has taken from each client, from its first on, warm-up included; `None` where the connection was not served, so
    /// that it is not known whether its first row was.
    pub taken: Vec<Option<u32>>,
}

impl Load {
    /// Puts the load on the server, and calls `tell` at the stages of it.
    ///
    /// # Errors
    /// If nothing listens at the address, or this machine cannot hold so many connections.
    pub fn run(&self, mut tell: impl FnMut(Stage)) -> Result<Answers, Error> {
        let most = limits::most_files().min(MOST_CLIENTS);
        if self.clients > most {
            return Err(Error::TooManyClients { clients: self.clients, most });
        }
        let begun = Instant::now();
        let connections: Arc<[Connection]> = (0..self.clients).map(|_| Connection::default()).collect();
        let mut scripts: Vec<Script> = (0..self.clients).map(|client| self.script(client)).collect();
        let mut receiver = Receiver::new(Arc::clone(&connections))?;
        opening::open_all(self, &connections, &mut scripts, &mut receiver)?;
        let connecting = begun.elapsed();
        tell(Stage::Connected);

        let start = Instant::now() + Duration::from_millis(20);
        let schedule = Schedule::new(self, start);
        let counted_from = start + self.warm_up;
        receiver.counted_from = Some(counted_from);
        let sender = sender::start(schedule, (counted_from, self.patience), Arc::clone(&connections), scripts)?;
        receiver.receive_until(|| sender.is_finished(), self.patience);
        let sent = sender.join().map_err(|panic| died(&*panic))?;
        let elapsed = counted_from.elapsed();
        tell(Stage::Answered);

        let in_state = |state| connections.iter().filter(|connection| connection.state() == state).count() as u64;
        let rows_of = |(connection, rows): (&Connection, u32)| match connection.state() {
            State::Served | State::Broken => Some(rows),
            State::Refused => Some(0),
            State::Unserved => None,
        };
        Ok(Answers {
            rows: sent.counted,
            accepted: receiver.accepted,
            rejected: receiver.rejected,
            failed: sent.counted - receiver.accepted - receiver.rejected,
            refused: in_state(State::Refused),
            refusal: receiver.refusal,
            unserved: in_state(State::Unserved),
            response: receiver.response,
            service: receiver.service,
            lateness: sent.lateness,
            connecting,
            elapsed,
            taken: connections.iter().zip(sent.rows).map(rows_of).collect(),
        })
    }
}

/// Where a load is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Every connection has had its first answer, or will have none.
    Connected,
    /// All answers are there, or are overdue; the connections are still open.
    Answered,
}
