//! Connections as tasks of tokio.

use std::cell::RefCell;
use std::io::{self, Read};
use std::net::TcpListener as StdListener;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use super::conversation::{Conversation, Scratch};
use super::live::Seat;
use super::shared::{SHORTAGE_PAUSE, Shared, Stop, is_shortage, up};
use crate::error::Error;
use crate::limits;

/// Starts to accept on a runtime of `builder`, which has so many `workers`, on a thread that is also its worker where it has none.
pub(super) fn start(
    listener: StdListener,
    shared: &Arc<Shared>,
    mut builder: Builder,
    workers: usize,
) -> Result<Stop, Error> {
    limits::try_threads(workers + 1)?;
    let runtime = builder.enable_all().build().map_err(Error::Runtime)?;
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener).map_err(Error::Runtime)?
    };
    let (stop, told) = oneshot::channel();
    let (says, stopped) = mpsc::channel();
    let (finish, finished) = oneshot::channel::<()>();
    let shared = Arc::clone(shared);
    let run = move || {
        runtime.block_on(async {
            accept(listener, shared, told).await;
            // Whoever stopped it waits for this.
            let _ = says.send(());
            let _ = finished.await;
        });
    };
    thread::Builder::new().name("runtime".to_owned()).spawn(run).map_err(Error::Thread)?;
    Ok(Box::new(move || {
        drop::<oneshot::Sender<()>>(stop);
        // The thread has ended if it does not say so.
        let _ = stopped.recv();
        Some(finish)
    }))
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    // Where idle connections may stay nobody looks at it.
    let mut clock = tokio::time::interval(shared.step.unwrap_or(Duration::MAX));
    // After a standstill nobody is idle for as long as the server was.
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stopped => return,
            _ = clock.tick(), if shared.step.is_some() => {
                shared.live.step();
                continue;
            }
        };
        match accepted {
            Ok((stream, _)) => admit(stream, &shared),
            Err(error) if is_shortage(&error) => tokio::time::sleep(SHORTAGE_PAUSE).await,
            // The connection is gone before it was taken.
            Err(_) => {}
        }
    }
}

fn admit(stream: TcpStream, shared: &Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let stream = Arc::new(stream);
    if let Some(seat) = shared.admit(&stream) {
        up(&shared.counts.connections);
        tokio::spawn(serve(stream, Arc::clone(shared), seat));
    }
}

thread_local! {
    /// Of the worker: a connection that waits keeps no buffer.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

async fn serve(stream: Arc<TcpStream>, shared: Arc<Shared>, seat: Seat) {
    // A connection that breaks ends; nobody else is concerned.
    let _ = converse(&stream, &shared, &seat).await;
    drop(stream);
    drop(seat);
}

async fn converse(stream: &TcpStream, shared: &Shared, seat: &Seat) -> io::Result<()> {
    let mut conversation = Conversation::default();
    loop {
        seat.heard();
        stream.readable().await?;
        let (ended, unsent) = SCRATCH.with_borrow_mut(|scratch| step(stream, shared, &mut conversation, scratch))?;
        // Until it has taken its answers nothing more is read from it.
        let mut unsent = &*unsent;
        while !unsent.is_empty() {
            seat.heard();
            stream.writable().await?;
            unsent = send(stream, unsent)?;
        }
        if ended {
            return Ok(());
        }
    }
}

/// Reads what is there, answers, and sends what can be sent at once; says whether the client has ended, and what was not sent.
fn step(
    stream: &TcpStream,
    shared: &Shared,
    conversation: &mut Conversation,
    scratch: &mut Scratch,
) -> io::Result<(bool, Box<[u8]>)> {
    let length = match read(stream, &mut scratch.input) {
        Ok(length) => length,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok((false, Box::default())),
        Err(error) => return Err(error),
    };
    conversation.take(shared, scratch, length);
    Ok((length == 0, send(stream, scratch.answers.as_bytes())?.into()))
}

/// Sends what can be sent at once; the rest.
fn send<'a>(stream: &TcpStream, mut answers: &'a [u8]) -> io::Result<&'a [u8]> {
    while !answers.is_empty() {
        match stream.try_write(answers) {
            Ok(length) => answers = &answers[length..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(answers)
}

/// Reads what is there. A read that does not fill the buffer has taken all of it, and tokio is told: else the next wait would end at once, and
/// each answer would cost one more read that finds nothing.
fn read(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let mut taken = None;
    let result = stream.try_io(Interest::READABLE, || {
        let length = (&*SockRef::from(stream)).read(buffer)?;
        taken = Some(length);
        if (1..buffer.len()).contains(&length) { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    taken.map_or_else(|| result.map(|()| 0), Ok)
}
