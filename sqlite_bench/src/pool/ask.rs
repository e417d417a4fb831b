//! The asker's side of an operation: a place in the queue, then the answer, neither of them for longer than allowed.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use flume::{Sender, TrySendError};
use futures_timer::Delay;

use super::error::Error;
use super::options::Options;
use super::queue::{Message, Work, job};
use super::ticket::Ticket;

#[derive(Clone, Copy)]
pub(super) enum Full {
    Wait,
    Refuse,
}

/// Gives its operation up when it is dropped, be it by a caller that waits no longer.
struct Asking(Arc<Ticket>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Has `work` done by a thread; an error is what it returned, or that it panicked, took too long or found no room.
pub(super) async fn ask<T, E>(
    queue: Sender<Message>,
    full: Full,
    options: &Options,
    work: impl Work<T, E>,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let asked = Instant::now();
    let ticket = Arc::new(Ticket::default());
    let (job, answer) = job(work, Arc::clone(&ticket));
    let asking = Asking(ticket);
    let mut answered = pin!(async move {
        let sent = match full {
            Full::Wait => queue.send_async(Message::Job(job)).await.map_err(|_| Error::Closed),
            Full::Refuse => queue.try_send(Message::Job(job)).map_err(|error| match error {
                TrySendError::Full(_) => Error::Full(queue.len()),
                TrySendError::Disconnected(_) => Error::Closed,
            }),
        };
        drop(queue);
        sent?;
        answer.await.unwrap_or_else(|_| Err(Error::Closed.into()))
    });
    while let Some(due) = asking.0.look(asked, options)? {
        if let Some(answer) = before(due, answered.as_mut()).await {
            return answer;
        }
    }
    answered.await
}

/// What `future` comes to, unless `due` comes first.
async fn before<F: Future>(due: Instant, mut future: Pin<&mut F>) -> Option<F::Output> {
    let mut delay = Delay::new(due.saturating_duration_since(Instant::now()));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Pin::new(&mut delay).poll(context).map(|()| None),
    })
    .await
}
