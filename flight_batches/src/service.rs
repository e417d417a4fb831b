//! The Flight service: one flight, the table, by tickets that say how it is cut and how long each batch takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest,
    HandshakeResponse, PollInfo, PutResult, SchemaAsIpc, SchemaResult, Ticket as FlightTicket,
};
use arrow_ipc::writer::IpcWriteOptions;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use tonic::{Request, Response, Status, Streaming};

use crate::budget::Budget;
use crate::direct::{self, stock};
use crate::encoded::{Encoded, Messages};
use crate::produce::{Mode, Order, Pool, Waiting, produce};
use crate::slices::{Memory, slices};
use crate::stats::{Process, Stats};
use crate::table::Table;
use crate::ticket::Ticket;
use crate::uncopied::{Message, Outgoing};

/// The name of the only flight.
pub const FLIGHT: &str = "table";

/// How batches become messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Encoding {
    /// For every request anew; the values are sent from where the table has them.
    Direct,
    /// By arrow-flight's encoder, for every request anew.
    Stock,
    /// Once per size of batch; all requests share the bytes.
    Shared,
}

/// How requests are served.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Who waits for a batch.
    pub mode: Mode,
    /// Batches that are worked on ahead.
    pub prefetch: usize,
    /// How batches become messages.
    pub encoding: Encoding,
    /// What the messages of all streams may take.
    pub memory: Memory,
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
    /// Streams in flight.
    streams: AtomicUsize,
    /// Most of them at once.
    most_streams: AtomicUsize,
    /// All that ever began.
    begun_streams: AtomicUsize,
}

/// A stream in flight, counted for as long as this lives.
struct InFlight(Arc<Inner>);

impl InFlight {
    fn begin(inner: &Arc<Inner>) -> Self {
        let now = inner.streams.fetch_add(1, Ordering::SeqCst) + 1;
        inner.most_streams.fetch_max(now, Ordering::SeqCst);
        inner.begun_streams.fetch_add(1, Ordering::SeqCst);
        InFlight(Arc::clone(inner))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::SeqCst);
    }
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
            streams: AtomicUsize::new(0),
            most_streams: AtomicUsize::new(0),
            begun_streams: AtomicUsize::new(0),
        };
        Batches { inner: Arc::new(inner) }
    }

    /// The numbers of the batches that answer `ticket`, as they come.
    fn numbers(&self, ticket: &Ticket) -> Result<BoxStream<'static, usize>, Status> {
        let Inner { table, options, pool, .. } = &*self.inner;
        let rows = ticket.records_per_batch;
        // Whoever counts the batches gets full ones, from the start of the table again behind its end.
        let (batches, cycle) = match ticket.batches {
            Some(batches) => (batches, table.full_batches(rows).max(1)),
            None => (table.batches(rows), table.batches(rows).max(1)),
        };
        let waiting = Arc::clone(&self.inner.waiting);
        let order = Order { batches, delay: ticket.delay(), prefetch: options.prefetch, waiting };
        let numbers = produce(options.mode, pool.as_ref(), order)
            .map_err(|error| Status::resource_exhausted(error.to_string()))?;
        Ok(numbers.map(move |number| number % cycle).boxed())
    }

    /// The messages of batches of so many rows, if all requests are to share them.
    async fn encoded(&self, rows: usize) -> Result<Option<Arc<Messages>>, Status> {
        let inner = Arc::clone(&self.inner);
        if inner.options.encoding != Encoding::Shared {
            return Ok(None);
        }
        // Encoding the whole table is no work for a thread that serves.
        let encoded = tokio::task::spawn_blocking(move || inner.encoded.of(rows)).await;
        encoded
            .map_err(|error| Status::internal(error.to_string()))?
            .map_err(|error| Status::internal(error.to_string()))
    }

    /// The messages that answer `ticket`.
    async fn messages(&self, ticket: &Ticket) -> Result<BoxStream<'static, Result<Message, Status>>, Status> {
        let rows = ticket.records_per_batch;
        let shared = self.encoded(rows).await?;
        let numbers = self.numbers(ticket)?;
        match shared {
            None => {
                let inner = Arc::clone(&self.inner);
                let (encoding, row_bytes) = (inner.options.encoding, inner.table.row_bytes());
                // Header and padding of a column are within that of 32 of its values.
                let direct = Memory::DIRECT_MESSAGE_BYTES.saturating_sub(32 * row_bytes).max(Memory::MESSAGE_BYTES);
                let most = if encoding == Encoding::Stock { Memory::MESSAGE_BYTES } else { direct };
                let pieces = numbers.flat_map(move |number| {
                    let (batch, inner) = (inner.table.batch(number, rows), Arc::clone(&inner));
                    // Each piece is cut when the one before has gone.
                    stream::iter(slices(batch, move || {
                        inner.budget.rows(inner.streams.load(Ordering::Relaxed), row_bytes, most)
                    }))
                });
                let (schema, pieces) = (self.inner.table.schema(), pieces.map(Ok));
                let anew = match encoding {
                    Encoding::Stock => stock(schema).build(pieces).map_ok(Message::from).boxed(),
                    Encoding::Direct | Encoding::Shared => direct::one_for_each(schema, pieces),
                };
                Ok(self.inner.budget.within(anew.map_err(Status::from)).boxed())
            }
            Some(shared) => {
                let schema = shared.schema.clone();
                let messages = numbers.flat_map(move |number| stream::iter(shared.batches[number].clone()));
                Ok(stream::once(async { schema }).chain(messages).map(Message::from).map(Ok).boxed())
            }
        }
    }

    fn info(&self) -> Result<FlightInfo, Status> {
        let ticket = Ticket {
            records_per_batch: self.inner.table.rows().min(10_000),
            batch_generation_delay: 0.0,
            batches: None,
        };
        let endpoint = FlightEndpoint::new().with_ticket(FlightTicket::new(ticket.to_bytes()));
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let info = FlightInfo::new()
            .try_with_schema(&self.inner.table.schema())
            .map_err(|error| Status::internal(error.to_string()))?;
        Ok(info
            .with_descriptor(FlightDescriptor::new_path(vec![FLIGHT.to_owned()]))
            .with_endpoint(endpoint)
            .with_total_records(count(self.inner.table.rows()))
            .with_total_bytes(count(self.inner.table.bytes())))
    }

    /// What `do_action("stats")` answers.
    pub fn stats(&self) -> Stats {
        let Inner { options, waiting, start, streams, most_streams, begun_streams, .. } = &*self.inner;
        Stats {
            mode: options.mode.to_string(),
            streams: streams.load(Ordering::SeqCst),
            most_streams: most_streams.load(Ordering::SeqCst),
            begun_streams: begun_streams.load(Ordering::SeqCst),
            waited: waiting.so_far(),
            process: Process::now(*start),
        }
    }
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
    type HandshakeStream = BoxStream<'static, Result<HandshakeResponse, Status>>;
    type ListFlightsStream = BoxStream<'static, Result<FlightInfo, Status>>;
    type DoGetStream = BoxStream<'static, Result<FlightData, Status>>;
    type DoPutStream = BoxStream<'static, Result<PutResult, Status>>;
    type DoActionStream = BoxStream<'static, Result<arrow_flight::Result, Status>>;
    type ListActionsStream = BoxStream<'static, Result<ActionType, Status>>;
    type DoExchangeStream = BoxStream<'static, Result<FlightData, Status>>;

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(Status::unimplemented("nobody needs to log in"))
    }

    async fn list_flights(&self, _: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        let info = self.info()?;
        Ok(Response::new(stream::once(async move { Ok(info) }).boxed()))
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        named(request.get_ref())?;
        Ok(Response::new(self.info()?))
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        Err(Status::unimplemented("the flight is ready: ask for its info"))
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        named(request.get_ref())?;
        let options = IpcWriteOptions::default();
        let schema = SchemaAsIpc::new(&self.inner.table.schema(), &options).try_into();
        schema.map(Response::new).map_err(|error: arrow_schema::ArrowError| Status::internal(error.to_string()))
    }

    async fn do_get(&self, request: Request<FlightTicket>) -> Result<Response<Self::DoGetStream>, Status> {
        let ticket = Ticket::parse(&request.get_ref().ticket, self.inner.table.rows())
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let in_flight = InFlight::begin(&self.inner);
        let messages = self.messages(&ticket).await?;
        // The stream owns what counts it.
        let messages = messages.inspect(move |_| {
            let _ = &in_flight;
        });
        Ok(Outgoing::response(messages))
    }

    async fn do_put(&self, _: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        Err(Status::unimplemented("the table is read-only"))
    }

    async fn do_action(&self, request: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        match request.get_ref().r#type.as_str() {
            "stats" => {
                let body = arrow_flight::Result::new(
                    // Numbers and plain text always serialise.
                    serde_json::to_vec(&self.stats()).unwrap_or_default(),
                );
                Ok(Response::new(stream::once(async move { Ok(body) }).boxed()))
            }
            other => Err(Status::invalid_argument(format!("there is no action '{}': stats", other.escape_debug()))),
        }
    }

    async fn list_actions(&self, _: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        let stats =
            ActionType { r#type: "stats".to_owned(), description: "counts of streams, lateness of timers".to_owned() };
        Ok(Response::new(stream::iter([Ok(stats)]).boxed()))
    }

    async fn do_exchange(&self, _: Request<Streaming<FlightData>>) -> Result<Response<Self::DoExchangeStream>, Status> {
        Err(Status::unimplemented("the table is read-only"))
    }
}
