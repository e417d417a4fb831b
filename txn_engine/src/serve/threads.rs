//! Connections on threads: one for each, or a pool.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::conversation::{Conversation, Scratch};
use super::listen;
use super::live::Seat;
use super::shared::Shared;
use crate::error::Error;

/// Between two tries to accept when the system is short of something.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(20);

/// Which thread serves a connection.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// One of its own.
    EachItsOwn,
    /// One of so many.
    Pool(usize),
}

/// The thread that accepts connections.
pub(super) struct Acceptor {
    thread: JoinHandle<()>,
    /// Closed to stop it.
    wake: UnixStream,
    queue: Option<Arc<Queue>>,
}

impl Acceptor {
    /// Starts it, and the pool.
    pub(super) fn start(listener: TcpListener, shared: &Arc<Shared>, way: Way) -> Result<Self, Error> {
        let (wake, woken) = UnixStream::pair().map_err(Error::Thread)?;
        let queue = match way {
            Way::EachItsOwn => None,
            Way::Pool(threads) => Some(Queue::with_threads(threads, shared)?),
        };
        let (shared, served) = (Arc::clone(shared), queue.clone());
        let accept = move || {
            while wait(&listener, &woken) {
                match listener.accept() {
                    Ok((stream, _)) => admit(stream, &shared, served.as_deref()),
                    Err(error) if listen::is_shortage(&error) => thread::sleep(SHORTAGE_PAUSE),
                    // The connection is gone before it was taken, or was taken for one.
                    Err(_) => {}
                }
            }
        };
        let thread = Builder::new().name("accept".to_owned()).spawn(accept).map_err(Error::Thread)?;
        Ok(Acceptor { thread, wake, queue })
    }

    /// Accepts no more. Connections that wait for a thread of the pool are closed.
    pub(super) fn stop(self) {
        drop(self.wake);
        // It ends when it is woken; a panic of it has been printed.
        let _ = self.thread.join();
        if let Some(queue) = self.queue {
            queue.end();
        }
    }
}

/// Waits for a connection; false if there is to be none.
fn wait(listener: &TcpListener, woken: &UnixStream) -> bool {
    let mut wanted = [PollFd::new(listener.as_fd(), PollFlags::POLLIN), PollFd::new(woken.as_fd(), PollFlags::POLLIN)];
    // Interrupted by a signal, it is called again: accept then finds nothing.
    let _ = poll(&mut wanted, PollTimeout::NONE);
    let ended = wanted[1].revents().is_some_and(|events| !events.is_empty());
    !ended
}

/// A connection that is served, and its place among the open ones.
struct Connection {
    stream: Arc<TcpStream>,
    seat: Seat,
}

fn admit(stream: TcpStream, shared: &Arc<Shared>, queue: Option<&Queue>) {
    // The listener does not block, and on some systems what it accepts does not either.
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_nodelay(true);
    let stream = Arc::new(stream);
    let Some(seat) = shared.live.enter(Arc::clone(&stream) as _, shared.most.0) else {
        shared.counts.refused();
        return listen::refuse(&stream, shared.most.1);
    };
    let connection = Connection { stream: Arc::clone(&stream), seat };
    if let Some(queue) = queue {
        shared.counts.connection();
        return queue.push(connection);
    }
    let serve = {
        let shared = Arc::clone(shared);
        move || serve(connection, &shared)
    };
    match Builder::new().spawn(serve) {
        Ok(_) => shared.counts.connection(),
        Err(error) => {
            shared.counts.refused();
            listen::refuse(&stream, &format!("no thread can be started: {error}"));
        }
    }
}

fn serve(connection: Connection, shared: &Shared) {
    let Connection { stream, seat } = connection;
    // A connection that breaks ends; nobody else is concerned.
    let _ = converse(&stream, shared);
    drop(stream);
    drop(seat);
}

fn converse(mut stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut conversation = Conversation::default();
    let mut scratch = Scratch::new();
    loop {
        let length = match stream.read(&mut scratch.input) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        scratch.answers.clear();
        if length == 0 {
            conversation.end(&mut scratch.answers);
            return stream.write_all(scratch.answers.as_bytes());
        }
        conversation.take(shared, &mut scratch, length);
        stream.write_all(scratch.answers.as_bytes())?;
    }
}

/// Connections that wait for a thread, in the order of their arrival.
struct Queue {
    waiting: Mutex<(VecDeque<Connection>, bool)>,
    more: Condvar,
}

impl Queue {
    fn with_threads(threads: usize, shared: &Arc<Shared>) -> Result<Arc<Self>, Error> {
        let queue = Arc::new(Queue { waiting: Mutex::default(), more: Condvar::new() });
        for _ in 0..threads.max(1) {
            let (queue, shared) = (Arc::clone(&queue), Arc::clone(shared));
            let work = move || {
                while let Some(connection) = queue.pop() {
                    serve(connection, &shared);
                }
            };
            Builder::new().name("pool".to_owned()).spawn(work).map_err(Error::Thread)?;
        }
        Ok(queue)
    }

    fn push(&self, connection: Connection) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.1 {
            return;
        }
        waiting.0.push_back(connection);
        self.more.notify_one();
    }

    /// The next connection; `None` if there will be none.
    fn pop(&self) -> Option<Connection> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = self
            .more
            .wait_while(waiting, |(connections, ended)| connections.is_empty() && !*ended)
            .unwrap_or_else(PoisonError::into_inner);
        waiting.0.pop_front()
    }

    fn end(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1 = true;
        let late = std::mem::take(&mut waiting.0);
        drop(waiting);
        drop(late);
        self.more.notify_all();
    }
}
