//! The end of a queue where jobs are taken out.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flume::Receiver;

use super::job::{self, BoxedJob};

/// What is in a queue.
pub(super) enum Message {
    /// Something to do.
    Job(BoxedJob),
    /// Wakes one thread, which then ends: everything before it has been taken.
    Stop,
}

/// The end of a queue where a thread takes jobs out.
///
/// That the pool is closed is said by a flag and a message, not by the last sender going: a future that nobody polls may keep one for ever.
pub(super) struct Queue {
    messages: Receiver<Message>,
    closing: Arc<AtomicBool>,
    stopped: Cell<bool>,
}

impl Queue {
    pub(super) fn new(messages: Receiver<Message>, closing: Arc<AtomicBool>) -> Self {
        Queue { messages, closing, stopped: Cell::new(false) }
    }

    /// Waits for the next job that anybody still wants; `None` when the thread is to end.
    pub(super) fn wait(&self) -> Option<BoxedJob> {
        self.next(|| {
            // A thread that closes the pool itself, from within a job, gets no message.
            let is_closing = self.closing.load(Ordering::Acquire);
            let message = if is_closing { self.messages.try_recv().ok() } else { self.messages.recv().ok() };
            Some(message.unwrap_or(Message::Stop))
        })
    }

    /// The next job that anybody still wants, if there is one now.
    pub(super) fn poll(&self) -> Option<BoxedJob> {
        self.next(|| self.messages.try_recv().ok())
    }

    fn next(&self, receive: impl Fn() -> Option<Message>) -> Option<BoxedJob> {
        while !self.stopped.get() {
            match receive()? {
                Message::Job(job) if !job.ticket().is_given_up() => return Some(job),
                Message::Job(job) => job::discard(job),
                Message::Stop => self.stopped.set(true),
            }
        }
        None
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }
}
