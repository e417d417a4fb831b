//! Connections to a server.

use std::time::Duration;

use arrow_flight::flight_service_client::FlightServiceClient;
use tonic::transport::{Channel, Endpoint};

use crate::stats::Stats;

/// A stream may be so far ahead of its reader: two batches of the largest published size.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
/// All streams of a connection together.
const CONNECTION_WINDOW_BYTES: u32 = 64 << 20;
/// Frames of tonic's default, 16 KiB, cost a system call and a header each.
const FRAME_BYTES: u32 = 1 << 20;

/// A server that does not answer a question within this is not there.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The endpoint is no address.
    #[error("'{0}' is no endpoint: give one like http://127.0.0.1:8815")]
    Endpoint(String),
    /// Nobody answers there.
    #[error("nobody answers at {endpoint}: is the server up?")]
    Connect {
        /// Where.
        endpoint: String,
        /// The cause.
        source: tonic::transport::Error,
    },
    /// The server does not say how it is.
    #[error("{endpoint} does not answer the action \"stats\": {why}")]
    Stats {
        /// Where.
        endpoint: String,
        /// What it said.
        why: String,
    },
}

/// Connections to one server, over which streams are spread in turn.
#[derive(Debug, Clone)]
pub struct Connections {
    endpoint: String,
    channels: Vec<Channel>,
    /// Beside the load, for questions.
    aside: Channel,
}

impl Connections {
    /// Opens so many.
    ///
    /// # Errors
    /// If nobody answers.
    pub async fn open(endpoint: &str, count: usize) -> Result<Self, ConnectError> {
        let address =
            Endpoint::from_shared(endpoint.to_owned()).map_err(|_| ConnectError::Endpoint(endpoint.to_owned()))?;
        let address = address
            .tcp_nodelay(true)
            .connect_timeout(PATIENCE)
            .max_frame_size(FRAME_BYTES)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        let refused = |source| ConnectError::Connect { endpoint: endpoint.to_owned(), source };
        let aside = address.connect().await.map_err(refused)?;
        let mut channels = Vec::with_capacity(count);
        for _ in 0..count.max(1) {
            channels.push(address.connect().await.map_err(refused)?);
        }
        Ok(Connections { endpoint: endpoint.to_owned(), channels, aside })
    }

    /// A client for the stream of that number.
    pub fn client(&self, stream: usize) -> FlightServiceClient<Channel> {
        let channel = self.channels[stream % self.channels.len()].clone();
        // Whoever asks for large batches wants them.
        FlightServiceClient::new(channel).max_decoding_message_size(usize::MAX)
    }

    /// Rows of the table that the server has; `None` if it does not say.
    pub async fn table_rows(&self) -> Option<usize> {
        let mut client = FlightServiceClient::new(self.aside.clone());
        let answer =
            async { client.list_flights(arrow_flight::Criteria::default()).await?.into_inner().message().await };
        let info = tokio::time::timeout(PATIENCE, answer).await.ok()?.ok()??;
        usize::try_from(info.total_records).ok()
    }

    /// How the server is.
    ///
    /// # Errors
    /// If it does not say so.
    pub async fn stats(&self) -> Result<Stats, ConnectError> {
        let failed = |why: String| ConnectError::Stats { endpoint: self.endpoint.clone(), why };
        let mut client = FlightServiceClient::new(self.aside.clone());
        let action = arrow_flight::Action::new("stats", "");
        let answer = async { client.do_action(action).await?.into_inner().message().await };
        let answer = tokio::time::timeout(PATIENCE, answer).await.map_err(|_| failed("no answer".to_owned()))?;
        match answer.map_err(|status| failed(status.to_string()))? {
            Some(answer) => serde_json::from_slice(&answer.body).map_err(|error| failed(error.to_string())),
            None => Err(failed("no answer".to_owned())),
        }
    }
}
