//! Messages on their way out without a copy of their values.
//!
//! tonic's encoder copies every message into a buffer of its own. Here only what precedes the values is written, and all goes out as the pieces
//! of a [`Rope`], byte for byte what tonic would have sent.

use std::any::Any;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::iter;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_flight::FlightData;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use prost::Message as _;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::{Response, Status};

/// A message whose values may lie in pieces, each where it is.
#[derive(Debug, Default)]
pub struct Message {
    /// All but the values.
    pub head: FlightData,
    pub values: Vec<Bytes>,
    /// Is dropped when the transport has dropped the message.
    pub(crate) held: Option<Box<dyn Any + Send + Sync>>,
}

impl From<FlightData> for Message {
    fn from(mut head: FlightData) -> Self {
        let values = vec![std::mem::take(&mut head.data_body)];
        Message { head, values, held: None }
    }
}

/// Copies the values, unless they are in one piece.
impl From<Message> for FlightData {
    fn from(Message { head, mut values, held }: Message) -> Self {
        let bytes = if values.len() == 1 { values.remove(0) } else { values.concat().into() };
        FlightData { data_body: Bytes::from_owner(Kept { bytes, _held: held }), ..head }
    }
}

struct Kept {
    bytes: Bytes,
    _held: Option<Box<dyn Any + Send + Sync>>,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

type Messages = BoxStream<'static, Result<Message, Status>>;

/// Travels with a response whose body is to be made of these messages. The first clone that is asked has them: without [`in_pieces`], as in a
/// server of tonic's, that is tonic's encoder, which takes a clone as its stream.
#[derive(Clone)]
pub struct Outgoing(Arc<Mutex<Option<Messages>>>);

impl Outgoing {
    /// A response with these messages, each a [`Message`] or a [`FlightData`].
    pub fn response<M: Into<Message> + 'static>(
        messages: impl Stream<Item = Result<M, Status>> + Send + 'static,
    ) -> Response<BoxStream<'static, Result<FlightData, Status>>> {
        let outgoing = Outgoing(Arc::new(Mutex::new(Some(messages.map_ok(Into::into).boxed()))));
        let travels = outgoing.clone();
        let later = move || outgoing.take().unwrap_or_else(|| stream::empty().boxed()).map_ok(FlightData::from);
        let mut response = Response::new(stream::once(async move { later() }).flatten().boxed());
        response.extensions_mut().insert(travels);
        response
    }

    fn take(&self) -> Option<Messages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Bytes in pieces, which the transport hands to the system together.
#[derive(Debug, Default)]
pub struct Rope {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    _held: Option<Box<dyn Any + Send + Sync>>,
}

impl FromIterator<Bytes> for Rope {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let pieces: VecDeque<Bytes> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        Rope { bytes: pieces.iter().map(Bytes::len).sum(), pieces, _held: None }
    }
}

impl Buf for Rope {
    fn remaining(&self) -> usize {
        self.bytes
    }

    fn chunk(&self) -> &[u8] {
        self.pieces.front().map_or(&[], Bytes::as_ref)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let filled = slices.iter_mut().zip(&self.pieces).map(|(slice, piece)| *slice = IoSlice::new(piece));
        filled.count()
    }

    fn advance(&mut self, mut count: usize) {
        self.bytes -= count;
        while let Some(piece) = self.pieces.front_mut().filter(|_| count > 0) {
            let of_piece = count.min(piece.len());
            piece.advance(of_piece);
            count -= of_piece;
            // What has been sent is let go at once.
            self.pieces.pop_front_if(|piece| piece.is_empty());
        }
    }
}

/// A response as it goes out: if messages travel with it as [`Outgoing`] these in their pieces, otherwise what tonic has made.
pub fn in_pieces(mut response: http::Response<Body>) -> http::Response<UnsyncBoxBody<Rope, Status>> {
    match response.extensions_mut().remove::<Outgoing>().and_then(|outgoing| outgoing.take()) {
        Some(messages) => response.map(|_| StreamBody::new(frames(messages)).boxed_unsync()),
        None => {
            response.map(|body| body.map_frame(|frame| frame.map_data(|data| Rope::from_iter([data]))).boxed_unsync())
        }
    }
}

/// What a body is made of: the messages, at the end the status.
fn frames(messages: Messages) -> impl Stream<Item = Result<Frame<Rope>, Status>> + Send {
    stream::unfold(Some(messages), async |messages| {
        let mut messages = messages?;
        let sent = messages.next().await.unwrap_or_else(|| Err(Status::ok(""))).and_then(rope);
        Some(match sent {
            Ok(rope) => (Ok(Frame::data(rope)), Some(messages)),
            Err(status) => {
                let mut trailers = http::HeaderMap::new();
                (status.add_header(&mut trailers).map(|()| Frame::trailers(trailers)), None)
            }
        })
    })
}

/// A message as gRPC sends it, without compression: what precedes the values, and the values.
///
/// # Errors
/// If it is longer than gRPC can say.
fn rope(Message { head, values, held }: Message) -> Result<Rope, Status> {
    /// Whether it is compressed, and its length.
    const PREFIX_BYTES: usize = 1 + 4;
    /// Field 1000, the last of the message, as bytes with their length before them.
    const VALUES_KEY: usize = 1000 << 3 | 2;
    const MOST_VARINT_BYTES: usize = 10;

    let values_bytes = values.iter().map(Bytes::len).sum::<usize>();
    let mut bytes = BytesMut::with_capacity(PREFIX_BYTES + head.encoded_len() + 2 * MOST_VARINT_BYTES);
    bytes.put_bytes(0, PREFIX_BYTES);
    let unwritten = |error: prost::EncodeError| Status::internal(error.to_string());
    head.encode(&mut bytes).map_err(unwritten)?;
    if values_bytes > 0 {
        // Both are numbers of variable length, which is what prost calls a length delimiter.
        prost::encode_length_delimiter(VALUES_KEY, &mut bytes).map_err(unwritten)?;
        prost::encode_length_delimiter(values_bytes, &mut bytes).map_err(unwritten)?;
    }
    let length = bytes.len() - PREFIX_BYTES + values_bytes;
    let length =
        u32::try_from(length).map_err(|_| Status::resource_exhausted(format!("a message of {length} bytes")))?;
    (&mut bytes[1..PREFIX_BYTES]).put_u32(length);
    Ok(Rope { _held: held, ..iter::once(bytes.freeze()).chain(values).collect() })
}
