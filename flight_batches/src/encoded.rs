//! Batches as messages, encoded once and shared by all requests.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_flight::FlightData;
use arrow_flight::error::FlightError;
use arrow_flight::utils::batches_to_flight_data;

use crate::budget::{Budget, slices};
use crate::table::Table;

/// Batches smaller than this have more header than values: encoded, they would take far more memory than the table.
const LEAST_BATCH_BYTES: usize = 64 << 10;

/// The messages of a table, for one size of batch at a time.
pub struct Encoded {
    table: Table,
    latest: Mutex<Option<(usize, Arc<Messages>)>>,
}

/// The messages of a table cut into batches of one size: first the schema, then those of each batch. Clones share their bytes.
pub type Messages = Vec<Vec<FlightData>>;

impl Encoded {
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
        let most = (Budget::MESSAGE_BYTES / self.table.row_bytes().max(1)).max(1);
        let mut messages = vec![Vec::new()];
        for number in 0..self.table.batches(rows) {
            let pieces: Vec<_> = slices(self.table.batch(number, rows), || most).collect();
            let mut of_batch = batches_to_flight_data(&self.table.schema(), &pieces)?;
            // Every call begins with the schema.
            messages[0] = vec![of_batch.remove(0)];
            messages.push(of_batch);
        }
        let messages = Arc::new(messages);
        *latest = Some((rows, Arc::clone(&messages)));
        Ok(Some(messages))
    }
}
