//! The load: thousands of connections that send rows at a given rate, whether the answers come or not.
//!
//! It is an open loop: when a row is due is settled before the first is sent, and how long its answer took is counted from then. A server
//! that stands still for a second therefore has a second of late answers in its record, not one. A thread sends and a thread receives, for
//! any number of connections. Every connection is a client of its own, with transaction ids of its own.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use study_kit::distribution::Distribution;

use crate::error::Error;

mod aside;
mod connections;
mod receiver;
mod schedule;
mod script;
mod sender;

pub use aside::Aside;
pub use script::Script;

use connections::{Connection, State};
use receiver::Receiver;
use schedule::Schedule;

/// How the rows are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// As of many clients that know nothing of each other.
    Poisson,
    /// One every so often.
    Constant,
}

impl FromStr for Arrivals {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "poisson" => Ok(Arrivals::Poisson),
            "constant" => Ok(Arrivals::Constant),
            _ => Err(Error::UnknownName {
                what: "arrivals",
                given: name.to_owned(),
                choices: "poisson, constant".to_owned(),
            }),
        }
    }
}

/// What is asked of the server.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where it is.
    pub address: SocketAddr,
    /// Connections.
    pub clients: usize,
    /// Rows per second over all of them.
    pub rate: f64,
    /// For how long rows are sent that count.
    pub duration: Duration,
    /// For how long before that, not counted.
    pub warm_up: Duration,
    /// How they are spread.
    pub arrivals: Arrivals,
    /// Of rows and times.
    pub seed: u64,
    /// The lowest transaction id.
    pub first_tx: u32,
    /// An answer that does not come within this after the last row has failed, and so has a connection whose first answer does not.
    pub patience: Duration,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
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
    pub response: Distribution,
    /// From when it was sent.
    pub service: Distribution,
    /// From when it was due to when it was sent: the load generator's own lateness.
    pub lateness: Distribution,
    /// How long it took until every connection had its first answer, or had none in time.
    pub connecting: Duration,
    /// From the first row that counts to the last answer.
    pub elapsed: Duration,
    /// Rows that the server has taken from each client, from its first on, warm-up included; `None` where the connection was not served, so
    /// that it is not known whether its first row was.
    pub taken: Vec<Option<u32>>,
}

impl Load {
    /// Puts the load on the server.
    ///
    /// # Errors
    /// If nothing listens at the address, or this machine cannot hold so many connections.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.run_and_tell(|_| {})
    }

    /// The same, and calls `tell` at the stages of it.
    ///
    /// # Errors
    /// As [`Load::run`].
    pub fn run_and_tell(&self, mut tell: impl FnMut(Stage)) -> Result<Outcome, Error> {
        crate::serve::raise_open_files();
        let begun = Instant::now();
        let connections: Arc<[Connection]> = (0..self.clients).map(|_| Connection::default()).collect();
        let mut scripts: Vec<Script> = (0..self.clients).map(|client| self.script(client)).collect();
        let mut receiver = Receiver::new(Arc::clone(&connections))?;
        connections::open_all(self, &connections, &mut scripts, &mut receiver)?;
        let connecting = begun.elapsed();
        tell(Stage::Connected);

        let start = Instant::now() + Duration::from_millis(20);
        let schedule = Schedule::new(self, start);
        let counted_from = start + self.warm_up;
        receiver.count_from(counted_from);
        let sender = sender::start(schedule, (counted_from, self.patience), Arc::clone(&connections), scripts)?;
        receiver.receive_until(|| sender.is_finished(), self.patience);
        let sent = sender.join().map_err(|panic| crate::arms::died(&*panic))?;
        let elapsed = counted_from.elapsed();
        tell(Stage::Answered);

        let answers = receiver.finish();
        let in_state = |state| connections.iter().filter(|connection| connection.state() == state).count() as u64;
        let rows_of = |(connection, rows): (&Connection, u32)| match connection.state() {
            State::Served | State::Broken => Some(rows),
            State::Refused => Some(0),
            State::Unserved => None,
        };
        Ok(Outcome {
            rows: sent.counted,
            accepted: answers.accepted,
            rejected: answers.rejected,
            failed: sent.counted - answers.accepted - answers.rejected,
            refused: in_state(State::Refused),
            refusal: answers.refusal,
            unserved: in_state(State::Unserved),
            response: answers.response,
            service: answers.service,
            lateness: sent.lateness,
            connecting,
            elapsed,
            taken: connections.iter().zip(sent.rows).map(rows_of).collect(),
        })
    }

    /// What the client of that number sends.
    #[must_use]
    pub fn script(&self, client: usize) -> Script {
        Script::new(self.seed, client, self.clients, self.first_tx)
    }

    /// The address that the connection of that number comes from: over the loopback interface there are many, each with ports of its own.
    fn source(&self, number: usize) -> Option<IpAddr> {
        /// So many addresses have ports for all connections, and for those of the runs before that are not forgotten yet.
        const SOURCES: usize = 200;
        let IpAddr::V4(address) = self.address.ip() else { return None };
        // macOS has one address there unless it was given more.
        (address.is_loopback() && cfg!(target_os = "linux")).then(|| {
            let last = u8::try_from(number % SOURCES + 2).unwrap_or(2);
            IpAddr::from([127, 0, 0, last])
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
