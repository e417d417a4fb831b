//! The load: thousands of connections that send rows at a given rate, whether the answers come or not.
//!
//! When a row is due is settled before the first is sent, and how long its answer took is counted from then: a server that stands still for a
//! second has a second of late answers in its record, not one. A thread sends and a thread receives, for any number of connections.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Serialize, Serializer};
use socket2::{Domain, Protocol, Socket, Type};

#[cfg(feature = "cli")]
use crate::arguments::{clients, rate, seconds};
use crate::error::{Error, joined};
use crate::limits::{self, MOST_CLIENTS};

mod receiver;
mod script;
mod sender;

pub use script::Script;

use receiver::Receiver;
use sender::Sender;

/// How the rows are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Arrivals {
    /// As of many clients that know nothing of each other.
    Poisson,
    /// One every so often.
    Constant,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Load {
    /// Host and port of the server; of a name's addresses the first that answers is taken
    #[cfg_attr(feature = "cli", arg(long = "addr", default_value = "127.0.0.1:8820", value_name = "HOST:PORT"))]
    pub address: String,
    /// Connections, each a client with an account of its own
    #[cfg_attr(feature = "cli", arg(long, default_value = "100", value_name = "N", value_parser = clients))]
    pub clients: usize,
    /// Rows per second over all of them
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 1000.0, value_parser = rate))]
    pub rate: f64,
    /// Seconds that count
    #[cfg_attr(feature = "cli", arg(long, default_value = "10", value_name = "SECONDS", value_parser = seconds))]
    pub duration: Duration,
    /// Seconds before them
    #[cfg_attr(feature = "cli", arg(long, default_value = "1", value_name = "SECONDS", value_parser = seconds))]
    pub warm_up: Duration,
    /// How the rows are spread over time
    #[cfg_attr(feature = "cli", arg(long, default_value = "poisson"))]
    pub arrivals: Arrivals,
    /// Same seed, same rows at the same times
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 0))]
    pub seed: u64,
    /// The lowest transaction id: above those that the server has seen
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 1, value_name = "ID"))]
    pub first_tx: u32,
    /// Seconds after which an answer has failed to come, and so has a connection whose first answer does not
    #[cfg_attr(feature = "cli", arg(long, default_value = "10", value_name = "SECONDS", value_parser = seconds))]
    pub patience: Duration,
}

#[derive(Debug, Serialize)]
pub struct Answers {
    /// Rows that counted.
    pub rows: u64,
    /// Of these, answered with `ok`.
    pub accepted: u64,
    /// Of these, answered with a row error.
    pub rejected: u64,
    /// Of these, not answered: the connection was refused, broken or silent.
    pub failed: u64,
    /// Connections that were answered with `busy`.
    pub refused: u64,
    /// Why the first of these was.
    pub refusal: Option<String>,
    /// Connections that could not be made, or were closed or silent before their first answer.
    pub unserved: u64,
    /// From when a row was due to its answer.
    #[serde(serialize_with = "in_quantiles")]
    pub response: Times,
    /// From when it was sent.
    #[serde(serialize_with = "in_quantiles")]
    pub service: Times,
    /// From when it was due to when it was sent: the load generator's own lateness.
    #[serde(serialize_with = "in_quantiles")]
    pub lateness: Times,
    /// How long it took until every connection had its first answer, or had none in time, in seconds.
    pub connecting_s: f64,
    /// From the first row that counts to the last answer.
    #[serde(skip)]
    pub elapsed: Duration,
    /// Rows that the server has taken from each client, from its first on, warm-up included; `None` where the connection was not served, so
    /// that it is not known whether its first row was.
    #[serde(skip)]
    pub taken: Vec<Option<u32>>,
}

fn in_quantiles<S: Serializer>(times: &Times, out: S) -> Result<S::Ok, S::Error> {
    // Without times there is no quantile.
    let ms = |ns: f64| (!times.is_empty()).then(|| ns / 1e6);
    let quantile_ms = |share| ms(times.value_at_quantile(share) as f64);
    let quantiles = [("p50_ms", 0.5), ("p99_ms", 0.99), ("p999_ms", 0.999), ("max_ms", 1.0)];
    let quantiles = quantiles.map(|(name, share)| (name, quantile_ms(share)));
    out.collect_map(quantiles.into_iter().chain([("mean_ms", ms(times.mean()))]))
}

impl Load {
    pub fn script(&self, client: usize) -> Script {
        Script::new(self.seed, client, self.clients, self.first_tx)
    }

    /// Puts the load on the server. Calls `tell` when every connection has had its first answer or will have none, and when all answers are
    /// there or overdue; the connections are still open then.
    pub fn run(&self, mut tell: impl FnMut()) -> Result<Answers, Error> {
        let most = limits::most_files().min(MOST_CLIENTS);
        if self.clients > most {
            return Err(Error::TooManyClients { clients: self.clients, most });
        }
        let begun = Instant::now();
        let connections: Vec<Connection> = (0..self.clients).map(|_| Connection::default()).collect();
        let mut scripts: Vec<Script> = (0..self.clients).map(|client| self.script(client)).collect();
        let mut receiver = Receiver::new(&connections)?;
        open_all(self, &connections, &mut scripts, &mut receiver)?;
        let connecting_s = begun.elapsed().as_secs_f64();
        tell();

        let start = Instant::now() + Duration::from_millis(20);
        let counted_from = start + self.warm_up;
        receiver.counted_from = Some(counted_from);
        let sender = Sender::new(&connections, scripts);
        let schedule = self.schedule(start);
        let sent = thread::scope(|scope| {
            let run = || sender.run(schedule, counted_from, self.patience);
            let sender = Builder::new().name("sender".to_owned()).spawn_scoped(scope, run).map_err(Error::Thread)?;
            receiver.receive_until(|| sender.is_finished(), self.patience);
            joined(sender.join())
        })?;
        let elapsed = counted_from.elapsed();
        tell();

        let states: Vec<State> = connections.iter().map(|connection| connection.fate().state).collect();
        let in_state = |wanted| states.iter().filter(|&&state| state == wanted).count() as u64;
        let rows_of = |(state, rows): (&State, u32)| match state {
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
            connecting_s,
            elapsed,
            taken: states.iter().zip(sent.rows).map(rows_of).collect(),
        })
    }
}

/// Connections that are opened before the first answers of all of them are waited for: below what any system lets wait to be accepted.
const BATCH: usize = 128;

/// Between two looks at whether to go on, or at what was not taken.
const GLANCE: Duration = Duration::from_millis(5);

/// For the first answers of a batch, after one in which none came.
const PATIENCE_WITH_THE_SILENT: Duration = Duration::from_millis(50);

/// Opens the connections, some at a time, and waits until each of them has had the answer to its first row.
fn open_all(
    load: &Load,
    connections: &[Connection],
    scripts: &mut [Script],
    receiver: &mut Receiver,
) -> Result<(), Error> {
    // The first says whether there is anybody at all; later ones may be refused.
    let connect = || {
        let none = Err(io::Error::other("it has no address"));
        let open = |address| Ok((address, open(load, address, 0)?));
        load.address.to_socket_addrs()?.fold(none, |tried, address| tried.or_else(|_| open(address)))
    };
    let (address, first) = connect().map_err(|source| Error::Connect { address: load.address.clone(), source })?;
    let mut first = Some(first);
    let mut line = Vec::new();
    let mut patience = load.patience;
    for (start, batch) in (0..).step_by(BATCH).zip(connections.chunks(BATCH)) {
        for (number, connection) in (start..).zip(batch) {
            let opened = first.take().map_or_else(|| open(load, address, number), Ok);
            let Ok(stream) = opened else { continue };
            line.clear();
            // Writing to a vector cannot fail.
            let _ = scripts[number].next_row().write(&mut line);
            let now = Instant::now();
            connection.fate().waiting.push_back(Waiting { due: now, sent: now });
            let mut stream = connection.stream.get_or_init(|| stream);
            receiver.watch(number)?;
            // A refused connection may be closed already; its reader will see it.
            let _ = stream.write_all(&line);
        }
        let is_undecided = |connection: &Connection| connection.waits(State::Unserved);
        receiver.receive_while(|| batch.iter().any(is_undecided), patience);
        // A server that has stopped to take connections is not waited for with every batch anew.
        let is_silent = batch.iter().all(is_undecided);
        patience = if is_silent { PATIENCE_WITH_THE_SILENT.min(load.patience) } else { load.patience };
    }
    Ok(())
}

fn open(load: &Load, address: SocketAddr, number: usize) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(source) = source(address, number) {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.connect_timeout(&address.into(), load.patience.max(Duration::from_millis(1)))?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// The address that the connection of that number comes from: over the loopback interface there are many, each with ports of its own.
fn source(server: SocketAddr, number: usize) -> Option<IpAddr> {
    /// So many addresses have ports for all connections, and for those of the runs before that are not forgotten yet.
    const SOURCES: usize = 200;
    // macOS has one address there unless it was given more.
    let has_many = server.is_ipv4() && server.ip().is_loopback() && cfg!(target_os = "linux");
    has_many.then(|| [127, 0, 0, u8::try_from(number % SOURCES + 2).unwrap_or(2)].into())
}

/// Times in nanoseconds, three digits of each; longer ones than an hour count as one.
pub type Times = Histogram<u64>;

fn no_times() -> Times {
    const HOUR_NS: u64 = 3_600_000_000_000;
    // The bounds are constants.
    Times::new_with_bounds(1, HOUR_NS, 3).unwrap_or_else(|_| unreachable!("an hour is above a nanosecond"))
}

fn record(times: &mut Times, time: Duration) {
    times.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Unserved,
    Served,
    Refused,
    Broken,
}

#[derive(Default)]
struct Connection {
    /// Set when it is opened.
    stream: OnceLock<TcpStream>,
    fate: Mutex<Fate>,
}

#[derive(Default)]
struct Fate {
    state: State,
    /// Rows without an answer, in the order in which they were sent.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    due: Instant,
    sent: Instant,
}

impl Connection {
    fn fate(&self) -> MutexGuard<'_, Fate> {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waits(&self, state: State) -> bool {
        let fate = self.fate();
        fate.state == state && !fate.waiting.is_empty()
    }
}
