//! A server that listens, and drains when told to.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::server::NamedService;
use tonic::transport::Server;
use tonic_health::ServingStatus;
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

/// What a server holds its clients to.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Streams of one connection at once; who asks for more on it waits.
    pub streams_per_connection: u32,
    /// What streams in flight have to end once the server is to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { streams_per_connection: 1000, grace: Duration::from_secs(10) }
    }
}

/// Serves until `stop` is ready, besides Flight the health service of gRPC. Streams that are in flight then have the grace of `limits`;
/// says whether all have ended in it. Those that have not end with the runtime.
///
/// # Errors
/// If the transport fails.
pub async fn serve(
    listener: TcpListener,
    batches: Batches,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> Result<bool, ServeError> {
    let (mut reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<FlightServiceServer<Batches>>().await;
    let router = Server::builder()
        .tcp_nodelay(true)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .max_concurrent_streams(limits.streams_per_connection)
        .layer(MapResponseLayer::new(uncopied))
        .add_service(health)
        .add_service(FlightServiceServer::new(batches));
    let (drain, draining) = oneshot::channel::<()>();
    let stopped = async {
        stop.await;
        for name in ["", FlightServiceServer::<Batches>::NAME] {
            reporter.set_service_status(name, ServingStatus::NotServing).await;
            // Ends the streams of those who watch, which the server would wait for.
            reporter.clear_service_status(name).await;
        }
        drop(drain);
    };
    let too_late = async {
        let _ = draining.await;
        tokio::time::sleep(limits.grace).await;
    };
    tokio::select! {
        served = router.serve_with_incoming_shutdown(TcpListenerStream::new(listener), stopped) => Ok(served.map(|()| true)?),
        () = too_late => Ok(false),
    }
}
