//! The client and servers of others: what they may send that ours does not, and what nobody may.

#![cfg(feature = "cli")]

mod common;

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_flight::encode::{DictionaryHandling, FlightDataEncoderBuilder};
use arrow_flight::flight_service_server::FlightServiceServer;
use arrow_flight::utils::batches_to_flight_data;
use arrow_flight::{FlightData, Ticket as FlightTicket};
use arrow_ipc::{
    BodyCompression, BodyCompressionArgs, Message, MessageArgs, MessageHeader, RecordBatch as Batch, RecordBatchArgs,
};
use bytes::Bytes;
use common::{connect, run, ticket};
use flatbuffers::FlatBufferBuilder;
use flight_batches::load::{Connections, Extent, Load};
use flight_batches::serve::{Limits, serve_routes};
use futures::future::BoxFuture;
use futures::stream::{self, TryStreamExt};
use futures::{FutureExt, StreamExt};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService};
use tonic::service::Routes;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

/// Answers every request with these messages.
#[derive(Clone)]
struct Other(Vec<FlightData>);

impl NamedService for Other {
    const NAME: &'static str = FlightServiceServer::<()>::NAME;
}

impl Service<http::Request<Body>> for Other {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let messages = self.0.clone();
        async move {
            let messages = stream::iter(messages.into_iter().map(Ok::<_, Status>));
            let answer = service_fn(|_: Request<FlightTicket>| ready(Ok(Response::new(messages.clone().boxed()))));
            let codec = ProstCodec::<FlightData, FlightTicket>::default();
            Ok(Grpc::new(codec).server_streaming(answer, request).await)
        }
        .boxed()
    }
}

async fn serve(messages: Vec<FlightData>) -> Connections {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let routes = Routes::new(Other(messages));
    tokio::spawn(serve_routes(listener, routes, Limits::default(), std::future::pending()));
    connect(&endpoint, 1).await
}

fn numbers() -> RecordBatch {
    RecordBatch::try_from_iter([("number", Arc::new(Int64Array::from_iter_values(0..100)) as _)]).unwrap()
}

/// What precedes the values of so many rows.
fn header(rows: i64, is_compressed: bool) -> Bytes {
    let mut builder = FlatBufferBuilder::new();
    let lz4 = BodyCompression::create(&mut builder, &BodyCompressionArgs::default());
    let compression = is_compressed.then_some(lz4);
    let args = RecordBatchArgs { length: rows, compression, ..RecordBatchArgs::default() };
    let batch = Batch::create(&mut builder, &args).as_union_value();
    let (header_type, header) = (MessageHeader::RecordBatch, Some(batch));
    let message = Message::create(&mut builder, &MessageArgs { header_type, header, ..MessageArgs::default() });
    builder.finish(message, None);
    builder.finished_data().to_vec().into()
}

#[tokio::test]
async fn dictionaries_are_no_batches() {
    let texts: DictionaryArray<Int32Type> = ["one", "other"].into_iter().cycle().take(100).collect();
    let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as _)]).unwrap();
    let encoder = FlightDataEncoderBuilder::new().with_dictionary_handling(DictionaryHandling::Resend);
    let messages: Vec<_> = encoder.build(stream::iter([Ok(batch.clone()), Ok(batch)])).try_collect().await.unwrap();
    assert_eq!(messages.len(), 4, "the schema, the dictionary, the batches");
    let bytes = messages[2].data_body.len() + messages[3].data_body.len();
    let load = Load::new(ticket(100, 0.0, None), 3, Extent::Whole);
    let delivery = run(&load, &serve(messages).await).await;
    assert_eq!((delivery.batches, delivery.bytes), (3 * 2, 3 * bytes as u64));
}

#[tokio::test]
async fn compressed_values_may_be_shorter_than_their_rows_and_others_may_not() {
    let mut messages = batches_to_flight_data(&numbers().schema(), &[numbers()]).unwrap();
    messages[1].data_body = Bytes::from_static(&[0; 64]);
    messages[1].data_header = header(100, true);
    let load = Load::new(ticket(100, 0.0, None), 3, Extent::Whole);
    let delivery = run(&load, &serve(messages.clone()).await).await;
    assert_eq!((delivery.batches, delivery.bytes), (3, 3 * 800));
    for rows in [100, i64::MAX] {
        messages[1].data_header = header(rows, false);
        let delivery = load.run(&serve(messages.clone()).await).await;
        let said = delivery.failures.iter().map(Status::message).collect::<Vec<_>>();
        let want = format!("a message that is none: {rows} rows in 64 bytes");
        assert_eq!(said, [want.as_str(); 3]);
    }
}

#[tokio::test]
async fn a_table_that_ends_early_is_a_failure() {
    let connections = serve(batches_to_flight_data(&numbers().schema(), &[numbers()]).unwrap()).await;
    for rows in [100, 300] {
        let load = Load { table_rows: Some(rows), ..Load::new(ticket(100, 0.0, None), 3, Extent::Whole) };
        let failures = load.run(&connections).await.failures;
        let want = if rows == 100 { &[][..] } else { &["100 rows instead of 300"; 3] };
        assert_eq!(failures.iter().map(Status::message).collect::<Vec<_>>(), want);
        // Who counts batches need not get the table.
        run(&Load { ticket: ticket(100, 0.0, Some(1)), ..load }, &connections).await;
    }
}

#[tokio::test]
async fn a_message_at_which_a_reader_panics_is_a_failure_and_not_a_wait() {
    let texts = Arc::new(StringArray::from_iter_values(["one"; 100]));
    let batch = RecordBatch::try_from_iter([("text", texts as _)]).unwrap();
    let mut messages = batches_to_flight_data(&batch.schema(), std::slice::from_ref(&batch)).unwrap();
    messages[1].data_body = Bytes::new();
    let connections = serve(messages).await;
    let window = Extent::Window { warm_up: Duration::ZERO, window: Duration::from_millis(300) };
    for extent in [window, Extent::Whole] {
        let (first, patience) = (Some(batch.clone()), Duration::from_secs(1));
        let load = Load { first, patience, ..Load::new(ticket(100, 0.0, None), 3, extent) };
        let delivery = tokio::time::timeout(Duration::from_secs(5), load.run(&connections)).await.unwrap();
        assert!(delivery.failures.len() >= 3, "{:?}", delivery.failures);
        assert_eq!(delivery.failures[0].message(), "a message that is none: reading it panicked");
    }
}
