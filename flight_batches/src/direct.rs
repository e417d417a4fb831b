//! Batches as messages, made for each request anew, whose values are sent from where the batch has them.
//!
//! arrow-flight's encoder copies every value into the body of its message; arrow-ipc can leave them where they are. What arrives is byte
//! for byte the same, which a test holds against arrow-flight's encoder.

use std::ops::Deref;

use arrow_array::{Array, RecordBatch};
use arrow_flight::FlightData;
use arrow_flight::encode::{FlightDataEncoderBuilder, GRPC_TARGET_MAX_FLIGHT_SIZE_BYTES};
use arrow_flight::error::{FlightError, Result};
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use bytes::Bytes;
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};

use crate::budget::slices;
use crate::uncopied::Message;

/// Below this a copy costs less than a piece of its own on the way out.
const LEAST_PIECE_BYTES: usize = 4 << 10;

/// The messages of `batches`, all of which have `schema`; of a large batch several. Dictionaries are replaced by their values, with a copy
/// of them all.
pub fn messages(
    schema: SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
) -> BoxStream<'static, Result<Message>> {
    let pieces = batches.map_ok(|batch| {
        let rows = rows_of_a_message(&batch);
        stream::iter(slices(batch, move || rows).map(Ok))
    });
    one_for_each(schema, pieces.try_flatten())
}

/// The same with a message for each batch, all of which have rows.
pub(crate) fn one_for_each(
    schema: SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
) -> BoxStream<'static, Result<Message>> {
    let stock = stock(schema.clone());
    let is_dictionary = |field: &&Field| matches!(field.data_type(), DataType::Dictionary(..));
    // With dictionaries a batch is more than one message.
    let has_none = !schema.flattened_fields().iter().any(is_dictionary);
    let Some(mut ipc) = StreamEncoder::try_new(&schema).ok().filter(|_| has_none) else {
        return stock.build(batches).map_ok(Message::from).boxed();
    };
    // Without a batch that is the schema, with which the encoder of the others begins, too.
    let first = stock.build(stream::empty()).map_ok(Message::from);
    let mut begun = false;
    let encoded = batches.map(move |batch| -> Result<Message> {
        let batch = batch?;
        if schema != batch.schema() {
            return Err(ArrowError::SchemaError("a batch has another schema than its stream".to_owned()).into());
        }
        let mut buffers = ipc.encode(&batch)?.into_iter();
        if !std::mem::replace(&mut begun, true) {
            header(&mut buffers)?;
        }
        let data_header = header(&mut buffers)?;
        let head = FlightData { data_header, ..FlightData::default() };
        Ok(Message { head, values: joined(buffers), ..Message::default() })
    });
    first.chain(encoded).boxed()
}

/// arrow-flight's encoder for messages of a batch each.
pub(crate) fn stock(schema: SchemaRef) -> FlightDataEncoderBuilder {
    // It takes a slice for as large as what is behind it and would cut it into hundreds of messages.
    FlightDataEncoderBuilder::new().with_schema(schema).with_max_flight_data_size(usize::MAX)
}

/// As many as arrow-flight puts into one, if it knew how much of what is behind a batch is the batch's own.
fn rows_of_a_message(batch: &RecordBatch) -> usize {
    let bytes = batch.columns().iter().map(|column| column.to_data().get_slice_memory_size());
    let bytes = bytes.sum::<std::result::Result<usize, _>>().unwrap_or_else(|_| batch.get_array_memory_size());
    batch.num_rows().div_ceil(bytes.div_ceil(GRPC_TARGET_MAX_FLIGHT_SIZE_BYTES).max(1))
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
