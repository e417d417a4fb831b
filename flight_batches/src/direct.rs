//! Batches as messages, made for each request anew, whose values are sent from where the batch has them.
//!
//! They are byte for byte those of arrow-flight's encoder, which copies every value; but for values that no row refers to, and messages that
//! clients do not take.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_flight::encode::GRPC_TARGET_MAX_FLIGHT_SIZE_BYTES;
use arrow_flight::error::{FlightError, Result};
use arrow_flight::{FlightData, SchemaAsIpc};
use arrow_ipc::writer::{IpcWriteOptions, StreamEncoder};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use bytes::Bytes;
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};

mod packed;

use packed::{is_loose, packed};

use crate::budget::{Budget, slices};
use crate::uncopied::Message;

/// Below this a copy costs less than a piece of its own on the way out.
const LEAST_PIECE_BYTES: usize = 4 << 10;

/// Where columns are packed, no more rows at once than this: the values of a dictionary may take far more memory than the batch.
const MOST_PACKED_ROWS: usize = 16 << 10;

/// The messages of `batches`, all of which have `schema`, of at most [`Budget::DIRECT_MESSAGE_BYTES`] or a single row. Dictionaries are replaced by
/// their values; of views, list views and dense unions those that a row refers to are copied. The stream ends with the first error.
pub fn messages(
    schema: SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
) -> BoxStream<'static, Result<Message>> {
    let encoder = match Encoder::new(schema) {
        Ok(encoder) => encoder,
        Err(error) => return stream::iter([Err(error)]).boxed(),
    };
    let first = FlightData::from(SchemaAsIpc::new(&encoder.sent, &IpcWriteOptions::default()));
    let rest = stream::try_unfold((encoder, batches.boxed()), async |(mut encoder, mut batches)| {
        loop {
            if let Some(message) = encoder.next()? {
                return Ok(Some((message, (encoder, batches))));
            }
            let Some(batch) = batches.try_next().await? else { return Ok(None) };
            encoder.take(batch)?;
        }
    });
    stream::iter([Ok(Message::from(first))]).chain(rest).boxed()
}

/// Makes messages of one batch after the other.
pub(crate) struct Encoder {
    schema: SchemaRef,
    sent: Schema,
    /// Whether columns must be packed.
    is_loose: bool,
    ipc: StreamEncoder,
    begun: bool,
    pieces: VecDeque<RecordBatch>,
}

impl Encoder {
    pub(crate) fn new(schema: SchemaRef) -> Result<Self> {
        let is_loose = schema.flattened_fields().iter().any(|field| is_loose(field.data_type()));
        let mut sent = schema.as_ref().clone();
        if is_loose {
            sent.fields = packed(RecordBatch::new_empty(Arc::clone(&schema)), 0)?.schema().fields().clone();
        }
        let ipc = StreamEncoder::try_new(&sent)?;
        Ok(Encoder { schema, sent, is_loose, ipc, begun: false, pieces: VecDeque::new() })
    }

    pub(crate) fn take(&mut self, batch: RecordBatch) -> Result<()> {
        if self.schema != batch.schema() {
            return Err(ArrowError::SchemaError("a batch has another schema than its stream".to_owned()).into());
        }
        let rows = if self.is_loose { MOST_PACKED_ROWS } else { usize::MAX };
        self.pieces.extend(slices(batch, || rows));
        Ok(())
    }

    pub(crate) fn next(&mut self) -> Result<Option<Message>> {
        while let Some(mut piece) = self.pieces.pop_front() {
            let most = if piece.num_rows() == 1 { usize::MAX } else { Budget::DIRECT_MESSAGE_BYTES };
            if self.is_loose {
                match packed(piece.clone(), most) {
                    Err(ArrowError::OffsetOverflowError(bytes)) if bytes > most => {
                        self.cut(piece, bytes);
                        continue;
                    }
                    packed => piece = packed?,
                }
            }
            let message = self.message(&piece)?;
            let bytes = message.head.data_header.len() + message.values.iter().map(Bytes::len).sum::<usize>();
            if bytes <= most {
                return Ok(Some(message));
            }
            self.cut(piece, bytes);
        }
        Ok(None)
    }

    /// Only by now it is known that its rows take so many bytes.
    fn cut(&mut self, piece: RecordBatch, bytes: usize) {
        let rows = piece.num_rows().div_ceil(bytes.div_ceil(GRPC_TARGET_MAX_FLIGHT_SIZE_BYTES));
        self.pieces = slices(piece, || rows).chain(self.pieces.drain(..)).collect();
    }

    fn message(&mut self, piece: &RecordBatch) -> Result<Message> {
        let mut buffers = self.ipc.encode(piece)?.into_iter();
        if !std::mem::replace(&mut self.begun, true) {
            // The schema, which has gone out.
            header(&mut buffers)?;
        }
        let head = FlightData { data_header: header(&mut buffers)?, ..FlightData::default() };
        Ok(Message { head, values: joined(buffers), ..Message::default() })
    }
}

/// What an IPC message begins with, without its length before and its padding behind.
fn header<B: Deref<Target = [u8]> + Into<Bytes>>(buffers: &mut impl Iterator<Item = B>) -> Result<Bytes> {
    let unexpected = || FlightError::protocol("arrow-ipc frames its messages in another way");
    // A mark and the length.
    let prefix = buffers.next().and_then(|prefix| prefix.get(4..)?.try_into().ok()).ok_or_else(unexpected)?;
    let header = buffers.next().ok_or_else(unexpected)?;
    let padding = (u32::from_le_bytes(prefix) as usize).checked_sub(header.len()).ok_or_else(unexpected)?;
    if padding > 0 && buffers.next().is_none_or(|bytes| bytes.len() != padding) {
        return Err(unexpected());
    }
    Ok(header.into())
}

/// Small buffers are copied into one with their neighbours.
fn joined<B: Deref<Target = [u8]> + Into<Bytes>>(buffers: impl Iterator<Item = B>) -> Vec<Bytes> {
    let (mut joined, mut small) = (Vec::new(), Vec::new());
    for buffer in buffers {
        if buffer.len() < LEAST_PIECE_BYTES {
            small.extend_from_slice(&buffer);
        } else {
            joined.extend([Bytes::from(std::mem::take(&mut small)), buffer.into()]);
        }
    }
    joined.push(small.into());
    joined.retain(|piece| !piece.is_empty());
    joined
}
