//! The Flight service: one flight, the table, by tickets that say how it is cut and how long each batch takes.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest,
    HandshakeResponse, PollInfo, PutResult, SchemaAsIpc, SchemaResult, Ticket as FlightTicket,
};
use arrow_ipc::writer::IpcWriteOptions;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use strum::{EnumString, VariantArray, VariantNames};
use tonic::{Request, Response, Status, Streaming};

use crate::budget::{Budget, slices};
use crate::direct;
use crate::encoded::Encoded;
use crate::produce::{Mode, Order, Pool, Waiting, produce};
use crate::stats::{Gauge, Process, Stats};
use crate::table::Table;
use crate::ticket::Ticket;
use crate::uncopied::{Message, Outgoing};

/// The name of the only flight.
pub const FLIGHT: &str = "table";

type Answer<T> = Result<Response<T>, Status>;
type Answers<T> = BoxStream<'static, Result<T, Status>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, EnumString, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Encoding {
    /// For every request anew; the values are sent from where the table has them.
    Direct,
    /// By arrow-flight's encoder, for every request anew.
    Stock,
    /// Once per size of batch; all requests share the bytes.
    Shared,
}

#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub mode: Mode,
    /// Batches that are worked on ahead.
    pub prefetch: usize,
    pub encoding: Encoding,
    /// Bytes that the messages of all streams may take.
    pub memory: usize,
}

/// The service. Clones share everything.
#[derive(Clone)]
pub struct Batches {
    inner: Arc<Inner>,
}

struct Inner {
    table: Table,
    encoded: Encoded,
    options: Options,
    budget: Arc<Budget>,
    pool: Option<Pool>,
    waiting: Arc<Waiting>,
    start: Instant,
    streams: Arc<Gauge>,
    begun_streams: AtomicUsize,
    is_stopping: AtomicBool,
}

impl Batches {
    /// Serves `table`; `pool` is needed by [`Mode::Pool`].
    pub fn new(table: Table, options: Options, pool: Option<Pool>) -> Self {
        let inner = Inner {
            encoded: Encoded::new(table.clone()),
            table,
            budget: Budget::new(options.memory),
            options,
            pool,
            waiting: Arc::default(),
            start: Instant::now(),
            streams: Arc::default(),
            begun_streams: AtomicUsize::default(),
            is_stopping: AtomicBool::default(),
        };
        Batches { inner: Arc::new(inner) }
    }

    /// Lets no stream begin any more: a client may ask for one on its connection until it knows that the server stops.
    pub fn stop(&self) {
        self.inner.is_stopping.store(true, Ordering::SeqCst);
    }

    /// The numbers of the batches that answer `ticket`, as they come.
    fn numbers(&self, ticket: &Ticket) -> Result<BoxStream<'static, usize>, Status> {
        let Inner { table, options, pool, waiting, .. } = &*self.inner;
        let rows = ticket.records_per_batch;
        // Whoever counts the batches gets full ones, from the start of the table again behind its end.
        let cycle = if ticket.batches.is_some() { table.rows() / rows } else { table.batches(rows) };
        let batches = ticket.batches.unwrap_or(cycle);
        let waiting = Arc::clone(waiting);
        let order = Order { batches, delay: ticket.delay(), prefetch: options.prefetch, waiting };
        let refused = |error| Status::resource_exhausted(format!("no thread can be started for this request: {error}"));
        let numbers = produce(options.mode, pool.as_ref(), order).map_err(refused)?;
        Ok(numbers.map(move |number| number % cycle).boxed())
    }

    /// The messages that answer `ticket`.
    async fn messages(&self, ticket: &Ticket) -> Result<Answers<Message>, Status> {
        let rows = ticket.records_per_batch;
        let (encoding, row_bytes) = (self.inner.options.encoding, self.inner.table.row_bytes());
        if encoding == Encoding::Shared
            && let Some(shared) = self.inner.encoded.of(rows).await.map_err(internal)?
        {
            let parts = stream::iter([0]).chain(self.numbers(ticket)?.map(|number| number + 1));
            let messages = parts.flat_map(move |part| stream::iter(shared[part].clone()));
            return Ok(messages.map(Message::from).map(Ok).boxed());
        }
        // Header and padding of a column are within that of 32 of its values.
        let direct = Budget::DIRECT_MESSAGE_BYTES.saturating_sub(32 * row_bytes).max(Budget::MESSAGE_BYTES);
        let most = if encoding == Encoding::Stock { Budget::MESSAGE_BYTES } else { direct };
        let inner = Arc::clone(&self.inner);
        let pieces = self.numbers(ticket)?.flat_map(move |number| {
            let (batch, inner) = (inner.table.batch(number, rows), Arc::clone(&inner));
            // Each piece is cut when the one before has gone.
            let rows = move || inner.budget.rows(inner.streams.now.load(Ordering::SeqCst), row_bytes, most);
            stream::iter(slices(batch, rows))
        });
        let (schema, pieces) = (self.inner.table.schema(), pieces.map(Ok));
        let anew = match encoding {
            Encoding::Stock => {
                // It takes a slice for as large as what is behind it and would cut it into hundreds of messages.
                let encoder = FlightDataEncoderBuilder::new().with_schema(schema).with_max_flight_data_size(usize::MAX);
                encoder.build(pieces).map_ok(Message::from).boxed()
            }
            Encoding::Direct | Encoding::Shared => direct::messages(schema, pieces),
        };
        Ok(self.inner.budget.within(anew.map_err(Status::from)).boxed())
    }

    fn info(&self) -> Result<FlightInfo, Status> {
        let table = &self.inner.table;
        let records_per_batch = table.rows().min(10_000);
        let ticket = Ticket { records_per_batch, batch_generation_delay: 0.0, batches: None };
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let info = FlightInfo::new().try_with_schema(&table.schema()).map_err(internal)?;
        Ok(info
            .with_descriptor(FlightDescriptor::new_path(vec![FLIGHT.to_owned()]))
            .with_endpoint(FlightEndpoint::new().with_ticket(FlightTicket::new(ticket.to_bytes())))
            .with_total_records(count(table.rows()))
            .with_total_bytes(count(table.bytes())))
    }

    /// What `do_action("stats")` answers.
    pub fn stats(&self) -> Stats {
        let Inner { options, waiting, start, streams, begun_streams, .. } = &*self.inner;
        let timers = waiting.timers.load(Ordering::Relaxed);
        Stats {
            mode: options.mode.to_string(),
            streams: streams.now.load(Ordering::SeqCst),
            most_streams: streams.most.load(Ordering::SeqCst),
            begun_streams: begun_streams.load(Ordering::SeqCst),
            timers,
            mean_lateness_ns: waiting.late_ns.load(Ordering::Relaxed) / timers.max(1),
            most_lateness_ns: waiting.latest_ns.load(Ordering::Relaxed),
            most_waiting_threads: waiting.threads.most.load(Ordering::SeqCst),
            process: Process::now(*start),
        }
    }
}

fn internal(error: impl Display) -> Status {
    Status::internal(error.to_string())
}

/// The flight that `descriptor` names, which may be only one.
fn named(descriptor: &FlightDescriptor) -> Result<(), Status> {
    if descriptor.path == [FLIGHT] || descriptor.cmd == FLIGHT {
        return Ok(());
    }
    Err(Status::not_found(format!("there is one flight, with the path [\"{FLIGHT}\"]")))
}

#[tonic::async_trait]
impl FlightService for Batches {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = Answers<FlightData>;
    type DoPutStream = Answers<PutResult>;
    type DoActionStream = Answers<arrow_flight::Result>;
    type ListActionsStream = Answers<ActionType>;
    type DoExchangeStream = Answers<FlightData>;

    async fn handshake(&self, _: Request<Streaming<HandshakeRequest>>) -> Answer<Self::HandshakeStream> {
        Err(Status::unimplemented("nobody needs to log in"))
    }

    async fn list_flights(&self, _: Request<Criteria>) -> Answer<Self::ListFlightsStream> {
        Ok(Response::new(stream::iter([Ok(self.info()?)]).boxed()))
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Answer<FlightInfo> {
        named(request.get_ref())?;
        Ok(Response::new(self.info()?))
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Answer<PollInfo> {
        Err(Status::unimplemented("the flight is ready: ask for its info"))
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Answer<SchemaResult> {
        named(request.get_ref())?;
        let options = IpcWriteOptions::default();
        let schema = SchemaAsIpc::new(&self.inner.table.schema(), &options).try_into();
        schema.map(Response::new).map_err(|error: arrow_schema::ArrowError| internal(error))
    }

    async fn do_get(&self, request: Request<FlightTicket>) -> Answer<Self::DoGetStream> {
        if self.inner.is_stopping.load(Ordering::SeqCst) {
            return Err(Status::unavailable("the server is stopping"));
        }
        let ticket = Ticket::parse(&request.get_ref().ticket, self.inner.table.rows())
            .map_err(|error| refused(&error.to_string()))?;
        let in_flight = Arc::new(self.inner.streams.count());
        self.inner.begun_streams.fetch_add(1, Ordering::SeqCst);
        let messages = self.messages(&ticket).await?;
        // It is counted until the last of its bytes has gone out.
        let messages = messages.map_ok(move |message| {
            let held = Box::new((message.held, Arc::clone(&in_flight)));
            Message { held: Some(held), ..message }
        });
        Ok(Outgoing::response(messages))
    }

    async fn do_put(&self, _: Request<Streaming<FlightData>>) -> Answer<Self::DoPutStream> {
        Err(Status::unimplemented("the table is read-only"))
    }

    async fn do_action(&self, request: Request<Action>) -> Answer<Self::DoActionStream> {
        let action = &request.get_ref().r#type;
        if action != "stats" {
            return Err(refused(&format!("there is no action '{}': stats", action.escape_debug())));
        }
        let stats = serde_json::to_vec(&self.stats()).map_err(internal)?;
        Ok(Response::new(stream::iter([Ok(arrow_flight::Result::new(stats))]).boxed()))
    }

    async fn list_actions(&self, _: Request<Empty>) -> Answer<Self::ListActionsStream> {
        let stats =
            ActionType { r#type: "stats".to_owned(), description: "counts of streams, lateness of timers".to_owned() };
        Ok(Response::new(stream::iter([Ok(stats)]).boxed()))
    }

    async fn do_exchange(&self, _: Request<Streaming<FlightData>>) -> Answer<Self::DoExchangeStream> {
        Err(Status::unimplemented("the table is read-only"))
    }
}

/// What a client is told of what it asked for, which the text may quote: it goes out in a header, and a long one breaks the connection with all of its
/// streams.
fn refused(text: &str) -> Status {
    const MOST_CHARS: usize = 500;
    let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(end, _)| end);
    Status::invalid_argument(if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() })
}
