//! Servers for tests: in this process, or as the program itself.

#![allow(dead_code, reason = "every test binary uses its own part")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::{FlightClient, Ticket as FlightTicket};
use futures::TryStreamExt;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::net::TcpListener;
use tonic::transport::{Channel, Endpoint};

use flight_batches::load::{Connections, Delivery, Load};
use flight_batches::produce::{Mode, Pool};
use flight_batches::serve::{self, Limits};
use flight_batches::service::{Batches, Encoding, Options};
use flight_batches::table::{Shape, Table};
use flight_batches::ticket::Ticket;

pub const PATIENCE: Duration = Duration::from_mins(1);

/// A server in this process.
pub struct Served {
    pub endpoint: String,
    pub batches: Batches,
}

pub fn options(mode: Mode, prefetch: usize, encoding: Encoding) -> Options {
    Options { mode, prefetch, encoding, memory: 256 << 20 }
}

pub async fn serve(shape: Shape, options: Options, pool: usize) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let pool = (options.mode == Mode::Pool).then(|| Pool::new(pool).unwrap());
    let batches = Batches::new(Table::new(shape).unwrap(), options, pool);
    tokio::spawn(serve::serve(listener, batches.clone(), Limits::default(), std::future::pending()));
    Served { endpoint, batches }
}

pub async fn channel(endpoint: &str) -> Channel {
    Endpoint::from_shared(endpoint.to_owned()).unwrap().connect().await.unwrap()
}

pub async fn connect(endpoint: &str, count: usize) -> Connections {
    Connections::open(endpoint, count).await.unwrap()
}

/// Waits until so many streams are in flight at a server.
pub async fn streams(endpoint: &str, want: usize) {
    let connections = connect(endpoint, 1).await;
    let deadline = Instant::now() + 5 * PATIENCE;
    loop {
        let streams = connections.stats().await.unwrap().streams;
        if streams == want {
            return;
        }
        assert!(Instant::now() < deadline, "{streams} streams instead of {want}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub fn ticket(records: usize, delay: f64, batches: Option<usize>) -> Ticket {
    Ticket { records_per_batch: records, batch_generation_delay: delay, batches }
}

/// What comes of a load of which no request fails.
pub async fn run(load: &Load, connections: &Connections) -> Delivery {
    let delivery = load.run(connections).await;
    assert!(delivery.failures.is_empty(), "{:?}", delivery.failures);
    delivery
}

/// What a request is answered with, decoded by arrow-flight's own client.
pub async fn ask(endpoint: &str, ticket: Ticket) -> Result<FlightRecordBatchStream, FlightError> {
    FlightClient::new(channel(endpoint).await).do_get(FlightTicket::new(ticket.to_bytes())).await
}

/// All of it.
pub async fn fetch(endpoint: &str, ticket: Ticket) -> Result<Vec<RecordBatch>, FlightError> {
    ask(endpoint, ticket).await?.try_collect().await
}

/// The program as a server.
pub struct Program {
    pub child: Child,
    pub endpoint: String,
}

pub fn program(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flight_batches"));
    command.args(arguments.split_whitespace());
    command
}

impl Program {
    pub fn start(arguments: &str) -> Self {
        Program::of(program(&format!("serve --addr 127.0.0.1:0 {arguments}")))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let endpoint = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
        Program { child, endpoint }
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for its end; what it said on standard error.
    pub fn end(mut self) -> (ExitStatus, String) {
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap(), said)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
