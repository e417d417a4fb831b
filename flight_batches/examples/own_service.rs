//! Somebody's own Flight service over any stream of record batches, whose values go out without a copy.
//!
//! Two lines do it: `Outgoing::response` around the messages of the batches, and `serve_routes` around the service.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use arrow_flight::error::FlightError;
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightClient, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest,
    HandshakeResponse, PollInfo, PutResult, SchemaResult, Ticket,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use flight_batches::direct::messages;
use flight_batches::serve::{Limits, serve_routes};
use flight_batches::uncopied::Outgoing;
use futures::stream::{self, BoxStream, TryStreamExt};
use tokio::net::TcpListener;
use tonic::service::Routes;
use tonic::transport::Endpoint;
use tonic::{Request, Response, Status, Streaming};

type Error = Box<dyn std::error::Error + Send + Sync>;
type Answers<T> = BoxStream<'static, Result<T, Status>>;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("number", DataType::Int64, false)]))
}

/// Where batches come from: here numbers, in your program a file, a query, a channel.
fn batches() -> impl stream::Stream<Item = Result<RecordBatch, FlightError>> + Send + 'static {
    let schema = schema();
    stream::iter((0..10_i64).map(move |batch| {
        let numbers = Int64Array::from_iter_values(batch * 1000..(batch + 1) * 1000);
        Ok(RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(numbers)])?)
    }))
}

struct Numbers;

#[tonic::async_trait]
impl FlightService for Numbers {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = Answers<FlightData>;
    type DoPutStream = Answers<PutResult>;
    type DoActionStream = Answers<arrow_flight::Result>;
    type ListActionsStream = Answers<ActionType>;
    type DoExchangeStream = Answers<FlightData>;

    async fn do_get(&self, _: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        Ok(Outgoing::response(messages(schema(), batches()).map_err(Status::from)))
    }

    async fn handshake(
        &self,
        _: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        Err(Status::unimplemented("handshake"))
    }
    async fn list_flights(&self, _: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        Err(Status::unimplemented("list_flights"))
    }
    async fn get_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        Err(Status::unimplemented("get_flight_info"))
    }
    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        Err(Status::unimplemented("poll_flight_info"))
    }
    async fn get_schema(&self, _: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        Err(Status::unimplemented("get_schema"))
    }
    async fn do_put(&self, _: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        Err(Status::unimplemented("do_put"))
    }
    async fn do_action(&self, _: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        Err(Status::unimplemented("do_action"))
    }
    async fn list_actions(&self, _: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        Err(Status::unimplemented("list_actions"))
    }
    async fn do_exchange(&self, _: Request<Streaming<FlightData>>) -> Result<Response<Self::DoExchangeStream>, Status> {
        Err(Status::unimplemented("do_exchange"))
    }
}

/// Serves the numbers and reads them; their sum.
async fn sum() -> Result<i64, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    let routes = Routes::new(FlightServiceServer::new(Numbers));
    tokio::spawn(serve_routes(listener, routes, Limits::default(), std::future::pending()));

    let mut client = FlightClient::new(Endpoint::from_shared(endpoint)?.connect().await?);
    let received: Vec<RecordBatch> = client.do_get(Ticket::new("")).await?.try_collect().await?;
    let numbers = received.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values());
    Ok(numbers.sum())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    println!("{}", sum().await?);
    Ok(())
}

#[tokio::test]
async fn all_batches_arrive() {
    assert_eq!(sum().await.unwrap(), (0..10_000).sum::<i64>());
}
