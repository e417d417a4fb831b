//! What a client asks for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The longest delay per batch that is served, in seconds: a typing error is no reason to hold a stream for a year.
pub const LONGEST_DELAY_S: f64 = 3600.0;

/// A request for batches, as JSON: `{"records_per_batch": 10000, "batch_generation_delay": 0.01}`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// Rows of a batch, 1 to those of the table.
    pub records_per_batch: usize,
    /// Seconds that each batch takes to come, 0 to 3600; 0 if left out.
    #[serde(default)]
    pub batch_generation_delay: f64,
    /// How many batches, all of them full and from the start of the table again behind its end; without it the table once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<usize>,
}

/// Why a ticket is refused.
#[derive(Debug, thiserror::Error)]
pub enum TicketError {
    #[error("the ticket is not JSON like {{\"records_per_batch\": 10000, \"batch_generation_delay\": 0.01}}: {0}")]
    Json(#[from] serde_json::Error),
    #[error("records_per_batch is {given}: a batch has 1 to {most} rows")]
    Rows { given: usize, most: usize },
    #[error("batch_generation_delay is {0}: it is 0 to {LONGEST_DELAY_S} seconds")]
    Delay(f64),
    #[error("batches is 0: ask for one at least, or leave it out")]
    NoBatches,
}

impl Ticket {
    /// Reads a ticket for a table of `rows`.
    ///
    /// # Errors
    /// If it is not one, or asks for what the table cannot give.
    pub fn parse(bytes: &[u8], rows: usize) -> Result<Self, TicketError> {
        if !bytes.trim_ascii_start().starts_with(b"{") {
            // serde would take a list for the fields in their order.
            return Err(TicketError::Json(serde::de::Error::custom("not an object")));
        }
        let ticket: Ticket = serde_json::from_slice(bytes)?;
        if ticket.records_per_batch == 0 || ticket.records_per_batch > rows {
            return Err(TicketError::Rows { given: ticket.records_per_batch, most: rows });
        }
        if !(0.0..=LONGEST_DELAY_S).contains(&ticket.batch_generation_delay) {
            return Err(TicketError::Delay(ticket.batch_generation_delay));
        }
        if ticket.batches == Some(0) {
            return Err(TicketError::NoBatches);
        }
        Ok(ticket)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers always serialise; a NaN becomes null, which is refused when it is read.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn delay(&self) -> Duration {
        Duration::from_secs_f64(self.batch_generation_delay.clamp(0.0, LONGEST_DELAY_S))
    }
}
