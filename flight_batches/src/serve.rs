//! A server that listens, and drains when told to.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tower::util::MapResponseLayer;

use crate::service::Batches;
use crate::uncopied::uncopied;

/// A client that has gone without a word is noticed after so long and a little more, and its stream ends.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Why a server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: choose another with --addr")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The transport failed.
    #[error("the server broke off")]
    Transport(#[from] tonic::transport::Error),
}

/// Listens on `address`; port 0 takes one that is free.
///
/// # Errors
/// If it is taken or not ours.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
}

/// Serves until `stop` is ready; streams that are in flight then run to their end.
///
/// # Errors
/// If the transport fails.
pub async fn serve(listener: TcpListener, batches: Batches, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
    let router = Server::builder()
        .tcp_nodelay(true)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .layer(MapResponseLayer::new(uncopied))
        .add_service(FlightServiceServer::new(batches));
    Ok(router.serve_with_incoming_shutdown(TcpListenerStream::new(listener), stop).await?)
}
