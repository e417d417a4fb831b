//! A server that listens, and drains when told to.

use std::io::Cursor;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use futures::TryFutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tower::ServiceExt;

use crate::service::Batches;
use crate::uncopied::in_pieces;

/// A client that has gone without a word is noticed after so long and a little more, and its stream ends.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A client that has not greeted after so long is sent away.
const GREETING: Duration = Duration::from_secs(10);

/// Every client begins with the preface of HTTP/2 and the head of its settings.
const GREETING_BYTES: usize = 24 + 9;

/// After a client could not be let in and no other can be sent away.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

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

/// Serves until `stop` is ready, besides Flight the health service of gRPC. A client has ten seconds for its first bytes of HTTP/2. Streams that
/// are in flight then have the grace of `limits`: `false` if it ran out. [`Batches::stats`] says how many streams were left, which end with the
/// runtime.
pub async fn serve(listener: TcpListener, batches: Batches, limits: Limits, stop: impl Future<Output = ()>) -> bool {
    let (mut reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<FlightServiceServer<Batches>>().await;
    let routes = Routes::new(health).add_service(FlightServiceServer::new(batches.clone()));
    let stopped = async {
        stop.await;
        batches.stop();
        for name in ["", FlightServiceServer::<Batches>::NAME] {
            reporter.set_service_status(name, ServingStatus::NotServing).await;
            // Ends the streams of those who watch, which the server would wait for.
            reporter.clear_service_status(name).await;
        }
    };
    serve_routes(listener, routes, limits, stopped).await
}

/// The same of any services, without a health service of its own. Not tonic's server: there a body has one piece at a time.
pub async fn serve_routes(
    listener: TcpListener,
    routes: Routes,
    limits: Limits,
    stop: impl Future<Output = ()>,
) -> bool {
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new()).keep_alive_interval(KEEPALIVE).max_concurrent_streams(limits.streams_per_connection);
    let routes = routes.prepare();
    let service = service_fn(move |request| routes.clone().oneshot(request).map_ok(in_pieces));
    let connections = GracefulShutdown::new();
    let accept = async {
        let (room, mut greeting) = (Notify::new(), FuturesUnordered::new());
        loop {
            tokio::select! {
                // Clients that are sent away make room before the next is let in.
                biased;
                Some(greeted) = greeting.next() => if let Some(socket) = greeted {
                    tokio::spawn(connections.watch(http.serve_connection(TokioIo::new(socket), service.clone())));
                },
                accepted = listener.accept() => match accepted {
                    Ok((socket, _)) => greeting.push(greeted(socket, &room)),
                    // There are no descriptors left: the client that has been silent longest has to go.
                    Err(_) if greeting.is_empty() => tokio::time::sleep(ACCEPT_AGAIN).await,
                    Err(_) => room.notify_one(),
                },
            }
        }
    };
    tokio::select! { () = accept => {}, () = stop => {} }
    drop(listener);
    tokio::time::timeout(limits.grace, connections.shutdown()).await.is_ok()
}

/// `socket` once its client has greeted, with the greeting still to be read. `None` if the client has not greeted in time, or `room` is needed.
async fn greeted(socket: TcpStream, room: &Notify) -> Option<impl AsyncRead + AsyncWrite + Unpin + 'static> {
    // A connection that is slower without it is none to refuse.
    let _ = socket.set_nodelay(true);
    let (mut reader, writer) = socket.into_split();
    let mut greeting = [0; GREETING_BYTES];
    tokio::select! {
        biased;
        read = reader.read_exact(&mut greeting) => drop(read.ok()?),
        () = room.notified() => return None,
        () = tokio::time::sleep(GREETING) => return None,
    }
    Some(tokio::io::join(Cursor::new(greeting).chain(reader), writer))
}
