//! Connections to a server.

use std::time::Duration;

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{Action, Criteria};
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status, Streaming};

use crate::stats::Stats;

/// A stream may be so far ahead of its reader: two batches of the largest published size.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 64 << 20;
/// Frames of tonic's default, 16 KiB, cost a system call and a header each.
const FRAME_BYTES: u32 = 1 << 20;

/// A server that does not let in or answer a question within this is not there.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("'{0}' is no endpoint: give one like http://127.0.0.1:8815")]
    Endpoint(String),
    #[error("nobody answers at {endpoint}: is the server up?")]
    Connect { endpoint: String, source: tonic::transport::Error },
}

/// Connections to one server, over which streams are spread in turn.
#[derive(Debug, Clone)]
pub struct Connections {
    channels: Vec<Channel>,
    /// Beside the load, for questions.
    aside: FlightServiceClient<Channel>,
    patience: Duration,
}

impl Connections {
    /// Opens one connection for questions and `count` for the load, one at least, one after the other.
    ///
    /// # Errors
    /// If `endpoint` is none of plain HTTP; at the first connection that is refused, or takes over 30 seconds.
    pub async fn open(endpoint: &str, count: usize) -> Result<Self, ConnectError> {
        Self::open_within(endpoint, count, PATIENCE).await
    }

    /// The same, but no connection and no answer to a question may take longer than `patience`.
    ///
    /// # Errors
    /// As of [`Connections::open`].
    pub async fn open_within(endpoint: &str, count: usize, patience: Duration) -> Result<Self, ConnectError> {
        let patience = patience.min(PATIENCE);
        // What pyarrow calls plain HTTP. As the scheme of a request servers in C++ refuse it.
        let plain = endpoint.strip_prefix("grpc://").map(|rest| format!("http://{rest}"));
        let address = Endpoint::from_shared(plain.unwrap_or_else(|| endpoint.to_owned())).ok();
        // There is no TLS: of any other scheme the same would be spoken.
        let is_plain = |address: &Endpoint| address.uri().scheme_str() == Some("http");
        let address = address
            .filter(is_plain)
            .ok_or_else(|| ConnectError::Endpoint(endpoint.to_owned()))?
            .tcp_nodelay(true)
            .connect_timeout(patience)
            .max_frame_size(FRAME_BYTES)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        let refused = |source| ConnectError::Connect { endpoint: endpoint.to_owned(), source };
        let aside = FlightServiceClient::new(address.connect().await.map_err(refused)?);
        let mut channels = Vec::with_capacity(count);
        for _ in 0..count.max(1) {
            channels.push(address.connect().await.map_err(refused)?);
        }
        Ok(Connections { channels, aside, patience })
    }

    /// A client for the stream of that number.
    pub fn client(&self, stream: usize) -> FlightServiceClient<Channel> {
        let channel = self.channels[stream % self.channels.len()].clone();
        // Whoever asks for large batches wants them.
        FlightServiceClient::new(channel).max_decoding_message_size(usize::MAX)
    }

    /// Rows of the table that the server has; `None` if it does not say.
    pub async fn table_rows(&self) -> Option<usize> {
        let info = self.first(self.aside.clone().list_flights(Criteria::default())).await.ok()?;
        usize::try_from(info.total_records).ok()
    }

    /// # Errors
    /// If it does not say so.
    pub async fn stats(&self) -> Result<Stats, Status> {
        let answer = self.first(self.aside.clone().do_action(Action::new("stats", ""))).await?;
        serde_json::from_slice(&answer.body).map_err(|error| Status::data_loss(error.to_string()))
    }

    /// The first message of an answer.
    async fn first<T>(
        &self,
        answer: impl Future<Output = Result<Response<Streaming<T>>, Status>>,
    ) -> Result<T, Status> {
        let first = async { answer.await?.into_inner().message().await };
        let late = |_| Status::deadline_exceeded("no answer");
        tokio::time::timeout(self.patience, first).await.map_err(late)??.ok_or_else(|| Status::data_loss("no answer"))
    }
}
