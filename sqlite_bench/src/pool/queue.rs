//! What callers want done, on its way to a thread and back.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use flume::Receiver;
use futures_channel::oneshot;
use rusqlite::Connection;

use super::error::Error;
use super::ticket::{State, Ticket};

/// What is done with a connection: any closure that takes one and returns what the caller wants of it, or an error: SQLite's, unless the
/// caller has one of its own.
pub trait Work<T, E = rusqlite::Error>: FnOnce(&Connection) -> Result<T, E> + Send + 'static {}

impl<T, E, F: FnOnce(&Connection) -> Result<T, E> + Send + 'static> Work<T, E> for F {}

pub(super) type BoxedJob = Box<dyn Job>;

/// What a thread does with a job: run it once, then answer it once.
pub(super) trait Job: Send {
    fn ticket(&self) -> &Arc<Ticket>;

    /// Runs it and keeps the result. That it failed, panicked or must not count is said in words for those who share its fate.
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;

    /// Answers with the result that was kept, or with the reason why it must not count.
    fn answer(self: Box<Self>, instead: Option<Error>);
}

struct Call<F, T, E> {
    ticket: Arc<Ticket>,
    work: Option<F>,
    /// What the work returned, or that it panicked, was given up or took too long.
    value: Option<Result<Result<T, E>, Error>>,
    reply: oneshot::Sender<Result<T, E>>,
}

/// A job that does `work`, and where its answer arrives.
pub(super) fn job<T: Send + 'static, E: From<Error> + Send + 'static>(
    work: impl Work<T, E>,
    ticket: Arc<Ticket>,
) -> (BoxedJob, oneshot::Receiver<Result<T, E>>) {
    let (reply, answer) = oneshot::channel();
    (Box::new(Call { ticket, work: Some(work), value: None, reply }), answer)
}

impl<F: Work<T, E>, T: Send, E: From<Error> + Send + 'static> Job for Call<F, T, E> {
    fn ticket(&self) -> &Arc<Ticket> {
        &self.ticket
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Error> {
        let work = self.work.take().ok_or(Error::Closed)?;
        // What a panic leaves behind on the connection is undone by whoever runs the job.
        let value = caught(|| {
            let value = work(connection);
            self.ticket.advance(State::Ended).map(|()| value)
        });
        let ran = match &value {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(own)) => Err((own as &dyn Any).downcast_ref::<Error>().cloned().unwrap_or(Error::Job)),
            Err(error) => Err(error.clone()),
        };
        self.value = Some(value);
        ran
    }

    fn answer(self: Box<Self>, instead: Option<Error>) {
        let Call { work, value, reply, .. } = *self;
        contained(|| drop(work));
        contained(|| {
            let value = match (instead, value) {
                (None, Some(value)) => value.unwrap_or_else(|error| Err(error.into())),
                (instead, unused) => {
                    drop(unused);
                    Err(instead.unwrap_or(Error::Closed).into())
                }
            };
            drop(reply.send(value));
        });
    }
}

/// What `work` comes to; a panic of the caller's code becomes an error.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let error = Error::Panicked(message(&*panic));
        contained(|| drop(panic));
        Err(error)
    })
}

/// Lets nothing out: what a caller's types do when they are dropped must not end a thread of the pool.
fn contained(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        // Even this may panic when it is dropped.
        std::mem::forget(panic);
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

pub(super) enum Message {
    Job(BoxedJob),
    /// Wakes one thread, which then ends: everything before it has been taken.
    Stop,
}

/// The job, if anybody still wants it.
pub(super) fn wanted(job: BoxedJob) -> Option<BoxedJob> {
    if job.ticket().is_given_up() {
        contained(|| drop(job));
        return None;
    }
    Some(job)
}

/// Where jobs come out of a queue.
struct Messages(Receiver<Message>);

impl Drop for Messages {
    /// A future that nobody polls may keep the queue, and those who wait for what is left in it would never be answered.
    fn drop(&mut self) {
        self.0.try_iter().for_each(|message| contained(|| drop(message)));
    }
}

/// The end of a queue where a thread takes jobs out. That the pool is closed is said by a message: a future that nobody polls may keep a sender.
#[derive(Clone)]
pub(super) struct Queue {
    messages: Arc<Messages>,
    stopped: Cell<bool>,
}

impl Queue {
    pub(super) fn new(messages: Receiver<Message>) -> Self {
        Queue { messages: Arc::new(Messages(messages)), stopped: Cell::new(false) }
    }

    /// Waits for the next job that anybody still wants; `None` when the thread is to end.
    pub(super) fn wait(&self) -> Option<BoxedJob> {
        self.next(|| self.messages.0.recv().ok())
    }

    /// The next job that anybody still wants, if there is one now.
    pub(super) fn poll(&self) -> Option<BoxedJob> {
        self.next(|| self.messages.0.try_recv().ok())
    }

    fn next(&self, receive: impl Fn() -> Option<Message>) -> Option<BoxedJob> {
        while !self.stopped.get() {
            match receive()? {
                Message::Job(job) => {
                    if let Some(job) = wanted(job) {
                        return Some(job);
                    }
                }
                Message::Stop => self.stopped.set(true),
            }
        }
        None
    }

    pub(super) fn len(&self) -> usize {
        self.messages.0.len()
    }
}
