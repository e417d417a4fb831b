//! One stream of a load: it asks, counts, checks and drops.

use std::collections::HashMap;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::utils::flight_data_to_arrow_batch;
use arrow_flight::{FlightData, Ticket as FlightTicket};
use arrow_ipc::MessageHeader;
use arrow_schema::{Schema, SchemaRef};
use futures::FutureExt;
use tonic::Status;
use tonic::transport::Channel;

use super::delivery::{Shared, record};
use super::{Extent, Load};
use crate::ticket::Ticket;

/// A stream is under way when it has brought so many batches: before, it fills what lies between the two ends.
const UNDER_WAY: usize = 2;

/// A request that failed is followed by the next after so long: a server that refuses must not be hammered.
const PAUSE: Duration = Duration::from_millis(100);

/// Of so many streams the whole first batch of every request is compared, of the others the first message of all: the few that are looked at
/// closely do not cost what would be measured.
const CLOSELY: usize = 8;

pub(super) struct Stream {
    pub(super) number: usize,
    pub(super) client: FlightServiceClient<Channel>,
    pub(super) load: Load,
    pub(super) shared: Arc<Shared>,
}

impl Stream {
    /// One request, to its end, or requests one after the other for ever.
    pub(super) async fn run(mut self) {
        let mut batches = 0;
        loop {
            // arrow-ipc panics at some of what is no message.
            let done = AssertUnwindSafe(self.request(&mut batches)).catch_unwind().await;
            let done = done.unwrap_or_else(|_| Err(broken("reading it panicked")));
            let failed = done.map_err(|failure| self.shared.delivery().failures.push(failure)).is_err();
            if self.load.extent == Extent::Whole {
                return;
            }
            if failed {
                // Nobody waits for it.
                self.brings(UNDER_WAY, &mut batches);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Counts batches of the stream, and says so when it is under way.
    fn brings(&self, more: usize, batches: &mut usize) {
        let before = std::mem::replace(batches, *batches + more);
        if before < UNDER_WAY && *batches >= UNDER_WAY {
            self.shared.under_way.add_permits(1);
        }
    }

    async fn request(&mut self, batches: &mut usize) -> Result<(), Status> {
        let sent = Instant::now();
        // What began before the window has no time in it.
        let mut last = self.shared.counts().then_some(sent);
        let Load { ticket, patience, table_rows, .. } = self.load;
        let asked = self.client.do_get(FlightTicket::new(ticket.to_bytes()));
        let mut messages = patient(patience, asked).await??.into_inner();
        let closely = self.number < CLOSELY;
        let first = if closely { self.load.first.clone() } else { self.load.first.take() };
        let mut reader =
            Reader { ticket, first, table_rows, closely, schema: None, row_bytes: None, batches: 0, rows: 0 };
        let shared = &self.shared;
        let mut counted = 0;
        let mut kept = Vec::new();
        let mut batch = |reader: &Reader| {
            if reader.batches > counted {
                counted = reader.batches;
                self.brings(1, batches);
                let now = Instant::now();
                shared.count(|delivery| {
                    delivery.batches += 1;
                    delivery.last_batch = Some(now);
                    let times = if reader.batches == 1 { &mut delivery.first_batch } else { &mut delivery.gap };
                    if let Some(last) = last {
                        record(times, now - last);
                    }
                });
                last = shared.counts().then_some(now);
            }
        };
        while let Some(message) = patient(patience, messages.message()).await?? {
            if let Some(bytes) = reader.take(&message, shared)? {
                shared.count(|delivery| {
                    delivery.bytes += bytes;
                    delivery.bytes_per_stream[self.number] += bytes;
                });
                batch(&reader);
            }
            if self.load.keeps {
                kept.push(message.data_body);
            }
        }
        reader.end()?;
        batch(&reader);
        shared.count(|delivery| record(&mut delivery.latency, sent.elapsed()));
        Ok(())
    }
}

async fn patient<T>(patience: Duration, answer: impl Future<Output = T>) -> Result<T, Status> {
    let late = |_| Status::deadline_exceeded(format!("nothing came for {} s", patience.as_secs_f64()));
    tokio::time::timeout(patience, answer).await.map_err(late)
}

fn broken(why: impl Display) -> Status {
    Status::data_loss(format!("a message that is none: {why}"))
}

/// Puts messages together to batches and checks them.
struct Reader {
    ticket: Ticket,
    /// What the first batch must be, if it is compared: whole, or its first message.
    first: Option<RecordBatch>,
    table_rows: Option<usize>,
    closely: bool,
    schema: Option<SchemaRef>,
    /// Bytes of the values of a row; of an unknown type the message is taken for its values.
    row_bytes: Option<usize>,
    /// Batches that were whole.
    batches: usize,
    /// Rows of the batch that is not.
    rows: usize,
}

impl Reader {
    /// Bytes of the values of a message; `None` of the schema and of dictionaries.
    fn take(&mut self, data: &FlightData, shared: &Shared) -> Result<Option<u64>, Status> {
        let header = arrow_ipc::root_as_message(&data.data_header).map_err(broken)?;
        if header.header_type() == MessageHeader::Schema {
            let schema = Schema::try_from(data).map_err(broken)?;
            self.row_bytes = schema.fields().iter().map(|field| field.data_type().primitive_width()).sum();
            shared.delivery().row_bytes = self.row_bytes.filter(|&bytes| bytes > 0);
            self.schema = Some(Arc::new(schema));
            return Ok(None);
        }
        if header.header_type() == MessageHeader::DictionaryBatch {
            return Ok(None);
        }
        let batch = header.header_as_record_batch().ok_or_else(|| broken("neither a schema nor a batch"))?;
        let rows = usize::try_from(batch.length()).map_err(broken)?;
        let bytes = self.row_bytes.map_or(data.data_body.len(), |width| width.saturating_mul(rows));
        if batch.compression().is_none() && data.data_body.len() < bytes {
            return Err(broken(format!("{rows} rows in {} bytes", data.data_body.len())));
        }
        let is_compared = self.batches == 0 && (self.closely || self.rows == 0);
        if let Some(first) = self.first.as_ref().filter(|_| is_compared) {
            let schema = self.schema.clone().ok_or_else(|| broken("a batch before the schema"))?;
            let batch = flight_data_to_arrow_batch(data, schema, &HashMap::new()).map_err(broken)?;
            let begin = self.rows.min(first.num_rows());
            let want = first.slice(begin, rows.min(first.num_rows() - begin));
            if batch.columns() != want.columns() {
                let end = self.rows + rows;
                return Err(Status::data_loss(format!("rows {} to {end} of the first batch are wrong", self.rows)));
            }
            shared.delivery().compared += 1;
        }
        let want = self.ticket.records_per_batch;
        self.rows += rows;
        if self.rows > want {
            return Err(Status::data_loss(format!("a batch of {} rows instead of {want}", self.rows)));
        }
        if self.rows == want {
            self.rows = 0;
            self.batches += 1;
        }
        Ok(Some(bytes as u64))
    }

    /// The stream has ended: were all batches there?
    fn end(&mut self) -> Result<(), Status> {
        let came = self.batches * self.ticket.records_per_batch + self.rows;
        if let (Some(want), None) = (self.table_rows, self.ticket.batches)
            && came != want
        {
            return Err(Status::data_loss(format!("{came} rows instead of {want}")));
        }
        if self.rows > 0 {
            // The last batch of a table may be shorter; who counts batches gets full ones.
            if self.ticket.batches.is_some() {
                return Err(Status::data_loss(format!("a last batch of {} rows", self.rows)));
            }
            self.batches += 1;
        }
        match self.ticket.batches {
            Some(want) if want != self.batches => {
                Err(Status::data_loss(format!("{} batches instead of {want}", self.batches)))
            }
            _ if self.batches == 0 => Err(Status::data_loss("no batches")),
            _ => Ok(()),
        }
    }
}
