//! Messages on their way out without a copy of their values.
//!
//! tonic's encoder writes every message into a buffer of its own, values and all, which is the largest part of what a server spends on a
//! batch. Here the values stay where they are: of each message only what precedes them is written, and both go out as two pieces of the
//! response's body. What arrives is byte for byte what tonic would have sent, which a test holds against tonic's encoder.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_flight::FlightData;
use bytes::{BufMut, Bytes, BytesMut};
use futures::stream::{self, BoxStream, Stream, StreamExt};
use http_body::Frame;
use http_body_util::StreamBody;
use prost::Message;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::{Response, Status};

/// The messages of a response.
pub type Messages = BoxStream<'static, Result<FlightData, Status>>;

/// Travels with a response whose body is to be made of these messages. The first clone that is asked has them: without [`uncopied`] that
/// is tonic's encoder, which takes a clone as its stream.
#[derive(Clone)]
pub struct Outgoing(Arc<Mutex<Option<Messages>>>);

impl Outgoing {
    /// A response with these messages.
    pub fn response(messages: Messages) -> Response<Messages> {
        let outgoing = Outgoing(Arc::new(Mutex::new(Some(messages))));
        let travels = outgoing.clone();
        let later = move || outgoing.take().unwrap_or_else(|| stream::empty().boxed());
        let mut response = Response::new(stream::once(async move { later() }).flatten().boxed());
        response.extensions_mut().insert(travels);
        response
    }

    fn take(&self) -> Option<Messages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Gives a response the body that travels with it as [`Outgoing`], if one does: for [`tower::util::MapResponseLayer`].
pub fn uncopied(mut response: http::Response<Body>) -> http::Response<Body> {
    let outgoing = response.extensions_mut().remove::<Outgoing>();
    if let Some(messages) = outgoing.and_then(|outgoing| outgoing.take()) {
        *response.body_mut() = Body::new(StreamBody::new(frames(messages)));
    }
    response
}

/// What a body is made of: two pieces per message, at the end the status.
fn frames(messages: Messages) -> impl Stream<Item = Result<Frame<Bytes>, Status>> + Send {
    let parts = stream::unfold(Some(messages), async |messages| {
        let mut messages = messages?;
        let sent = messages.next().await.unwrap_or_else(|| Err(Status::ok(""))).and_then(pieces);
        Some(match sent {
            Ok(pieces) => {
                let filled = pieces.into_iter().filter(|piece| !piece.is_empty());
                (filled.map(|piece| Ok(Frame::data(piece))).collect(), Some(messages))
            }
            Err(status) => (vec![trailers(&status)], None),
        })
    });
    parts.flat_map(stream::iter)
}

fn trailers(status: &Status) -> Result<Frame<Bytes>, Status> {
    let mut trailers = http::HeaderMap::new();
    status.add_header(&mut trailers)?;
    Ok(Frame::trailers(trailers))
}

/// A message as gRPC sends it, without compression: what precedes the values, and the values.
///
/// # Errors
/// If it is longer than gRPC can say.
fn pieces(mut message: FlightData) -> Result<[Bytes; 2], Status> {
    /// Whether it is compressed, and its length.
    const PREFIX_BYTES: usize = 1 + 4;
    /// Field 1000, the last of the message, as bytes with their length before them.
    const VALUES_KEY: usize = 1000 << 3 | 2;
    const MOST_VARINT_BYTES: usize = 10;

    let values = std::mem::take(&mut message.data_body);
    let mut head = BytesMut::with_capacity(PREFIX_BYTES + message.encoded_len() + 2 * MOST_VARINT_BYTES);
    head.put_bytes(0, PREFIX_BYTES);
    let unwritten = |error: prost::EncodeError| Status::internal(error.to_string());
    message.encode(&mut head).map_err(unwritten)?;
    if !values.is_empty() {
        // Both are numbers of variable length, which is what prost calls a length delimiter.
        prost::encode_length_delimiter(VALUES_KEY, &mut head).map_err(unwritten)?;
        prost::encode_length_delimiter(values.len(), &mut head).map_err(unwritten)?;
    }
    let length = head.len() - PREFIX_BYTES + values.len();
    let length =
        u32::try_from(length).map_err(|_| Status::resource_exhausted(format!("a message of {length} bytes")))?;
    (&mut head[1..PREFIX_BYTES]).put_u32(length);
    Ok([head.freeze(), values])
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_flight::FlightDescriptor;
    use proptest::prelude::*;
    use tonic::codec::{Codec, EncodeBody, SingleMessageCompressionOverride};
    use tonic_prost::ProstCodec;

    type Sent = (Vec<u8>, Option<http::HeaderMap>);

    /// Everything that a body sends.
    async fn sent(body: impl http_body::Body<Data = Bytes, Error = Status>) -> Sent {
        let mut body = std::pin::pin!(body);
        let (mut bytes, mut trailers) = (Vec::new(), None);
        while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await {
            match frame.unwrap().into_data() {
                Ok(data) => bytes.extend_from_slice(&data),
                Err(frame) => trailers = frame.into_trailers().ok(),
            }
        }
        (bytes, trailers)
    }

    fn messages() -> impl Strategy<Value = Vec<FlightData>> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from);
        let descriptor =
            proptest::option::of("[a-z]{0,9}").prop_map(|path| path.map(|path| FlightDescriptor::new_path(vec![path])));
        // Lengths of values on both sides of where a number takes one byte more.
        let values = prop_oneof![bytes(), (0..40_000usize).prop_map(|length| Bytes::from(vec![7; length]))];
        let message = (descriptor, bytes(), bytes(), values).prop_map(
            |(flight_descriptor, data_header, app_metadata, data_body)| FlightData {
                flight_descriptor,
                data_header,
                app_metadata,
                data_body,
            },
        );
        proptest::collection::vec(message, 0..5)
    }

    proptest! {
        #[test]
        fn what_goes_out_is_what_tonic_sends(messages in messages(), failed in any::<bool>()) {
            let items: Vec<Result<FlightData, Status>> =
                messages.into_iter().map(Ok).chain(failed.then(|| Err(Status::data_loss("gone")))).collect();
            let encoder = ProstCodec::<FlightData, FlightData>::default().encoder();
            let (ours, theirs) = futures::executor::block_on(async {
                let ours = sent(StreamBody::new(frames(stream::iter(items.clone()).boxed()))).await;
                let theirs = EncodeBody::new_server(encoder, stream::iter(items), None, SingleMessageCompressionOverride::default(), Some(usize::MAX));
                (ours, sent(theirs).await)
            });
            prop_assert_eq!(ours, theirs);
        }
    }
}
