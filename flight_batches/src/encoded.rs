//! Batches as messages, encoded once and shared by all requests.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_flight::error::{FlightError, Result};
use arrow_flight::{FlightData, SchemaAsIpc};
use arrow_ipc::writer::IpcWriteOptions;
use bytes::BytesMut;
use tokio::sync::{OnceCell, oneshot};
use tokio::task::spawn_blocking;
use tonic::Status;

use crate::budget::{Budget, slices};
use crate::direct::Encoder;
use crate::table::Table;

/// Batches smaller than this have more header than values: encoded, they would take far more memory than the table.
const LEAST_BATCH_BYTES: usize = 64 << 10;

/// The messages of a table, for one size of batch at a time.
pub struct Encoded {
    table: Table,
    latest: Mutex<Option<Latest>>,
}

/// The messages of a table cut into batches of one size: first the schema, then those of each batch. Clones share their bytes.
pub type Messages = Vec<Vec<FlightData>>;

/// Is held by the requests that wait for the messages, and by the thread that encodes them.
type Once = OnceCell<Arc<Messages>>;

/// With the rows of a batch.
type Latest = (usize, Arc<Once>);

impl Encoded {
    pub fn new(table: Table) -> Self {
        Encoded { table, latest: Mutex::default() }
    }

    /// The messages for batches of so many rows, made when they are first asked for: about as much memory as the table has. `None` if
    /// they would take more, or those of another size are being made or still shared: who asks then encodes for itself.
    ///
    /// # Errors
    /// If they cannot be encoded.
    pub async fn of(&self, rows: usize) -> Result<Option<Arc<Messages>>> {
        let Some((once, replaced)) = self.once(rows) else { return Ok(None) };
        let encoding = async || {
            let (sender, encoded) = oneshot::channel();
            let (table, kept) = (self.table.clone(), Arc::clone(&once));
            // Encoding the whole table is no work for a thread that serves.
            spawn_blocking(move || {
                drop(replaced);
                let messages = encode(&table, rows, || sender.is_closed());
                // Whoever asked may have gone.
                let _ = sender.send(messages);
                drop(kept);
            });
            let lost = |_| FlightError::protocol("encoding the table panicked");
            encoded.await.map_err(lost)?.map(Arc::new)
        };
        once.get_or_try_init(encoding).await.cloned().map(Some)
    }

    /// Where the messages of that size are or will be, and what was there before. `None` if those of another size are needed.
    fn once(&self, rows: usize) -> Option<(Arc<Once>, Option<Latest>)> {
        if rows * self.table.row_bytes() < LEAST_BATCH_BYTES.min(self.table.bytes()) {
            return None;
        }
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((size, once)) if *size == rows => Some((Arc::clone(once), None)),
            Some((_, once)) if is_shared(once) || once.get().is_some_and(is_shared) => None,
            _ => {
                let once = Arc::default();
                let replaced = latest.replace((rows, Arc::clone(&once)));
                Some((once, replaced))
            }
        }
    }
}

fn is_shared<T>(shared: &Arc<T>) -> bool {
    Arc::strong_count(shared) > 1
}

/// # Errors
/// If it is no longer needed, or cannot be done.
fn encode(table: &Table, rows: usize, is_gone: impl Fn() -> bool) -> Result<Messages> {
    /// Of a column of a message.
    const MOST_PADDING_BYTES: usize = 64;

    let schema = table.schema();
    let columns = schema.fields().len();
    let most = (Budget::MESSAGE_BYTES / table.row_bytes().max(1)).max(1);
    // Every call begins with the schema.
    let mut messages = vec![vec![SchemaAsIpc::new(&schema, &IpcWriteOptions::default()).into()]];
    let mut encoder = Encoder::new(schema)?;
    // One block, which goes back to the system as a whole: of thousands an allocator keeps what each thread has freed.
    let padding = table.batches(rows) * rows.div_ceil(most) * columns * MOST_PADDING_BYTES;
    let mut block = BytesMut::with_capacity(table.bytes() + padding);
    for number in 0..table.batches(rows) {
        let mut of_batch = Vec::new();
        for piece in slices(table.batch(number, rows), || most) {
            if is_gone() {
                return Err(Status::cancelled("nobody asks any more").into());
            }
            encoder.take(piece)?;
            while let Some(message) = encoder.next()? {
                message.values.iter().for_each(|values| block.extend_from_slice(values));
                of_batch.push(FlightData { data_body: block.split().freeze(), ..message.head });
            }
        }
        messages.push(of_batch);
    }
    Ok(messages)
}
