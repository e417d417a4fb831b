//! What goes out in pieces, beside what tonic sends.

use std::io::IoSlice;

use arrow_flight::{FlightData, FlightDescriptor};
use bytes::{Buf, Bytes};
use flight_batches::uncopied::{Message, Outgoing, in_pieces};
use futures::stream;
use http_body_util::BodyExt;
use proptest::prelude::*;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, EncodeBody, SingleMessageCompressionOverride};
use tonic::codegen::http::{HeaderMap, Response};
use tonic_prost::ProstCodec;

/// Everything that a body sends.
async fn sent(body: impl http_body::Body<Data = impl Buf, Error = Status>) -> (Vec<u8>, Option<HeaderMap>) {
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned();
    let (mut data, mut bytes) = (body.aggregate(), Vec::new());
    // As the transport takes it: some pieces at once.
    while data.has_remaining() {
        let mut pieces = [IoSlice::new(&[]); 3];
        let filled = data.chunks_vectored(&mut pieces);
        let some: Vec<u8> = pieces[..filled].iter().flat_map(|piece| piece.to_vec()).collect();
        data.advance(some.len());
        bytes.extend(some);
    }
    (bytes, trailers)
}

fn messages() -> impl Strategy<Value = Vec<FlightData>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from);
    let descriptor =
        proptest::option::of("[a-z]{0,9}").prop_map(|path| path.map(|path| FlightDescriptor::new_path(vec![path])));
    // Lengths of values on both sides of where a number takes one byte more.
    let values = prop_oneof![bytes(), (0..40_000usize).prop_map(|length| Bytes::from(vec![7; length]))];
    let message = (descriptor, bytes(), bytes(), values).prop_map(|parts| {
        let (flight_descriptor, data_header, app_metadata, data_body) = parts;
        FlightData { flight_descriptor, data_header, app_metadata, data_body }
    });
    proptest::collection::vec(message, 0..5)
}

proptest! {
    #[test]
    fn what_goes_out_is_what_tonic_sends(messages in messages(), piece in 1_usize..5000, failed in any::<bool>()) {
        let items: Vec<Result<FlightData, Status>> =
            messages.into_iter().map(Ok).chain(failed.then(|| Err(Status::data_loss("gone")))).collect();
        // The values of ours lie in pieces.
        let cut = |mut message: Message| {
            let values = std::mem::take(&mut message.values).concat();
            message.values.extend(values.chunks(piece).map(Bytes::copy_from_slice));
            message
        };
        let cut: Vec<_> = items.iter().cloned().map(|item| item.map(Message::from).map(cut)).collect();
        let encoder = ProstCodec::<FlightData, FlightData>::default().encoder();
        let (ours, theirs) = futures::executor::block_on(async {
            let mut ours = Response::new(Body::empty());
            *ours.extensions_mut() = Outgoing::response(stream::iter(cut)).into_parts().2;
            let theirs = EncodeBody::new_server(encoder, stream::iter(items), None, SingleMessageCompressionOverride::default(), Some(usize::MAX));
            (sent(in_pieces(ours).into_body()).await, sent(theirs).await)
        });
        prop_assert_eq!(ours, theirs);
    }
}
