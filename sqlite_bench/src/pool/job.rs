//! What a caller wants done, on its way to a thread and back.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;

use super::error::Error;

/// What is done with a connection: any closure that takes one and returns what the caller wants of it, or SQLite's error.
pub trait Work<T>: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static {}

impl<T, F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static> Work<T> for F {}

/// A job in a queue.
pub(super) type BoxedJob = Box<dyn Job>;

/// What a thread does with a job: run it once, then answer it once.
pub(super) trait Job: Send {
    /// Whether anybody still waits for the answer.
    fn is_wanted(&self) -> bool;

    /// Runs it and keeps the result.
    ///
    /// # Errors
    /// What the job itself returned, or that it panicked.
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;

    /// Answers with the result that was kept, or with the reason why it must not count.
    fn answer(self: Box<Self>, outcome: Result<(), Error>);
}

struct Call<F, T> {
    work: Option<F>,
    value: Option<T>,
    reply: flume::Sender<Result<T, Error>>,
}

/// A job that does `work`, and where its answer arrives.
pub(super) fn job<T: Send + 'static>(work: impl Work<T>) -> (BoxedJob, flume::Receiver<Result<T, Error>>) {
    let (reply, answer) = flume::bounded(1);
    (Box::new(Call { work: Some(work), value: None, reply }), answer)
}

impl<F: Work<T>, T: Send> Job for Call<F, T> {
    fn is_wanted(&self) -> bool {
        !self.reply.is_disconnected()
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Error> {
        let Some(work) = self.work.take() else {
            return Err(Error::Closed);
        };
        // What a panic leaves behind on the connection is undone by whoever runs the job.
        let value = catch_unwind(AssertUnwindSafe(|| work(connection))).map_err(|panic| {
            let error = Error::Panicked(message(&*panic));
            contained(|| drop(panic));
            error
        })?;
        self.value = Some(value.map_err(Error::of)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), Error>) {
        let Call { value, reply, .. } = *self;
        contained(|| {
            // Nobody may be waiting any more.
            let _ = reply.send(outcome.and_then(|()| value.ok_or(Error::Closed)));
        });
    }
}

/// Drops a job that nobody waits for.
pub(super) fn discard(job: BoxedJob) {
    contained(|| drop(job));
}

/// Lets nothing out: what a caller's types do when they are dropped must not end a thread of the pool.
fn contained(work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        // Even this may panic when it is dropped.
        std::mem::forget(panic);
    }
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
