//! Connections on threads: one for each, or a pool.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::conversation::{Conversation, Scratch};
use super::live::Seat;
use super::shared::{SHORTAGE_PAUSE, Shared, Stop, is_shortage, up};
use crate::error::Error;

/// Starts to accept on a thread. A thread of its own serves each connection, or one of a `pool` of so many.
pub(super) fn start(listener: TcpListener, shared: &Arc<Shared>, pool: Option<usize>) -> Result<Stop, Error> {
    // Closed to stop it.
    let (wake, woken) = UnixStream::pair().map_err(Error::Thread)?;
    // Where connections wait for a thread of the pool, in the order of their arrival.
    let (queue, waiting) = flume::unbounded::<Connection>();
    for _ in 0..pool.map_or(0, |threads| threads.max(1)) {
        let (waiting, shared) = (waiting.clone(), Arc::clone(shared));
        let work = move || waiting.iter().for_each(|connection| serve(&connection, &shared));
        Builder::new().name("pool".to_owned()).spawn(work).map_err(Error::Thread)?;
    }
    let (shared, queue) = (Arc::clone(shared), pool.map(|_| queue));
    let accept = move || {
        let next_step = || shared.step.map(|step| Instant::now() + step);
        let mut next = next_step();
        while wait(&listener, &woken, next) {
            if next.is_some_and(|next| next <= Instant::now()) {
                shared.live.step();
                next = next_step();
            }
            match listener.accept() {
                Ok((stream, _)) => admit(stream, &shared, queue.as_ref()),
                Err(error) if is_shortage(&error) => thread::sleep(SHORTAGE_PAUSE),
                // The connection is gone before it was taken, or was taken for one.
                Err(_) => {}
            }
        }
    };
    let thread = Builder::new().name("accept".to_owned()).spawn(accept).map_err(Error::Thread)?;
    Ok(Box::new(move || {
        drop(wake);
        // It ends when it is woken, and leaves the queue; a panic of it has been printed.
        let _ = thread.join();
        drop(waiting.drain());
        None
    }))
}

/// Waits for a connection, until `then` at the latest; false if there is to be none.
fn wait(listener: &TcpListener, woken: &UnixStream, then: Option<Instant>) -> bool {
    let mut wanted = [PollFd::new(listener.as_fd(), PollFlags::POLLIN), PollFd::new(woken.as_fd(), PollFlags::POLLIN)];
    // Interrupted by a signal, it is called again: accept then finds nothing.
    let _ = poll(&mut wanted, then.map_or(PollTimeout::NONE, timeout));
    let ended = wanted[1].revents().is_some_and(|events| !events.is_empty());
    !ended
}

/// Until `then`, in whole milliseconds that do not end before it.
fn timeout(then: Instant) -> PollTimeout {
    let left = then.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
    PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
}

/// A connection that is served, and its place among the open ones, which it leaves when it is closed.
struct Connection {
    stream: Arc<TcpStream>,
    seat: Seat,
}

fn admit(stream: TcpStream, shared: &Arc<Shared>, queue: Option<&flume::Sender<Connection>>) {
    // The listener does not block, and on some systems what it accepts does not either.
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_nodelay(true);
    let stream = Arc::new(stream);
    let Some(seat) = shared.admit(&stream) else { return };
    let connection = Connection { stream: Arc::clone(&stream), seat };
    if let Some(queue) = queue {
        up(&shared.counts.connections);
        // Nobody takes it only when the server ends, and then it is closed.
        let _ = queue.send(connection);
        return;
    }
    let own = Arc::clone(shared);
    match Builder::new().spawn(move || serve(&connection, &own)) {
        Ok(_) => up(&shared.counts.connections),
        Err(error) => shared.refuse(&stream, &format!("no thread can be started: {error}")),
    }
}

fn serve(Connection { stream, seat }: &Connection, shared: &Shared) {
    let mut stream = &**stream;
    let mut conversation = Conversation::default();
    let mut scratch = Scratch::new();
    loop {
        seat.heard();
        let length = match stream.read(&mut scratch.input) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // A connection that breaks ends; nobody else is concerned.
            Err(_) => return,
        };
        seat.heard();
        conversation.take(shared, &mut scratch, length);
        if stream.write_all(scratch.answers.as_bytes()).is_err() || length == 0 {
            return;
        }
    }
}
