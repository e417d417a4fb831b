//! Batches as messages, encoded once and shared by all requests.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_flight::FlightData;
use arrow_flight::error::FlightError;
use arrow_flight::utils::batches_to_flight_data;

use crate::slices::slices;
use crate::table::Table;

/// A message has at most so many bytes of values, as have those of the other encoding.
const MESSAGE_BYTES: usize = 1 << 20;

/// Batches smaller than this have more header than values: encoded, they would take far more memory than the table.
const LEAST_BATCH_BYTES: usize = 64 << 10;

/// The messages of a table, for one size of batch at a time.
pub struct Encoded {
    table: Table,
    latest: Mutex<Option<(usize, Arc<Messages>)>>,
}

/// The messages of a table cut into batches of one size. Clones of a message share its bytes.
pub struct Messages {
    /// What a stream begins with.
    pub schema: FlightData,
    /// Of each batch.
    pub batches: Vec<Vec<FlightData>>,
}

impl Encoded {
    /// Of `table`, nothing yet.
    pub fn new(table: Table) -> Self {
        Encoded { table, latest: Mutex::default() }
    }

    /// The messages for batches of so many rows, made when they are first asked for: about as much memory as the table has. `None` if
    /// they would take more, or requests still share those of another size: who asks then encodes for itself.
    ///
    /// # Errors
    /// If they cannot be encoded.
    pub fn of(&self, rows: usize) -> Result<Option<Arc<Messages>>, FlightError> {
        if rows * self.table.row_bytes() < LEAST_BATCH_BYTES.min(self.table.bytes()) {
            return Ok(None);
        }
        // Held while encoding: two first requests must not do it twice.
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some((size, messages)) if *size == rows => return Ok(Some(Arc::clone(messages))),
            Some((_, messages)) if Arc::strong_count(messages) > 1 => return Ok(None),
            _ => *latest = None,
        }
        let most = (MESSAGE_BYTES / self.table.row_bytes().max(1)).max(1);
        let encode = |number| {
            let pieces: Vec<_> = slices(self.table.batch(number, rows), || most).collect();
            batches_to_flight_data(&self.table.schema(), &pieces)
        };
        let mut batches = (0..self.table.batches(rows)).map(encode).collect::<Result<Vec<_>, _>>()?;
        let mut schema = None;
        for messages in &mut batches {
            // Every call begins with the schema.
            schema = Some(messages.remove(0));
        }
        let schema = schema.ok_or_else(|| FlightError::protocol("the table has no batches"))?;
        let messages = Arc::new(Messages { schema, batches });
        *latest = Some((rows, Arc::clone(&messages)));
        Ok(Some(messages))
    }
}
