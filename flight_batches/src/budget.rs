//! What the messages of all streams take, from when they are made until the transport has handed their last byte to the system.
//!
//! The transport takes some hundred KiB ahead of a client that does not read, for each of its streams. Every message therefore counts for as
//! long as anybody holds its bytes: a stream makes a further one only while there is room, and its first whatever the others do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use futures::task::AtomicWaker;

use crate::slices::Memory;
use crate::uncopied::Message;

/// The memory of all streams.
pub struct Budget {
    memory: Memory,
    held: AtomicUsize,
}

/// What one stream has of it.
struct Share {
    budget: Arc<Budget>,
    held: AtomicUsize,
    /// Of the stream, when it waits. Only its own bytes wake it: if there are none it need not wait.
    waker: AtomicWaker,
}

/// So many bytes, which count until this is dropped.
struct Held {
    bytes: usize,
    share: Arc<Share>,
}

impl Budget {
    /// Of so much, all of it free.
    pub fn new(memory: Memory) -> Arc<Self> {
        Arc::new(Budget { memory, held: AtomicUsize::new(0) })
    }

    /// Rows that the next message of one among so many streams may have, of at most `most` bytes.
    pub fn rows(&self, streams: usize, row_bytes: usize, most: usize) -> usize {
        self.memory.rows(streams, self.held.load(Ordering::Relaxed), row_bytes, most)
    }

    /// The messages of a stream, each made when there is room for it.
    pub fn within<E, S>(self: &Arc<Self>, mut messages: S) -> impl Stream<Item = Result<Message, E>> + use<E, S>
    where
        S: Stream<Item = Result<Message, E>> + Unpin,
    {
        let (held, waker) = (AtomicUsize::new(0), AtomicWaker::new());
        let share = Arc::new(Share { budget: Arc::clone(self), held, waker });
        stream::poll_fn(move |context| {
            ready!(share.poll_room(context));
            messages.poll_next_unpin(context).map_ok(|message| share.count(message))
        })
    }
}

impl Share {
    fn poll_room(&self, context: &Context<'_>) -> Poll<()> {
        let room = || {
            let all = self.budget.held.load(Ordering::SeqCst);
            self.held.load(Ordering::SeqCst) == 0 || all + Memory::LEAST_MESSAGE_BYTES <= self.budget.memory.bytes
        };
        if room() {
            return Poll::Ready(());
        }
        self.waker.register(context.waker());
        // They may have gone meanwhile.
        if room() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn count(self: &Arc<Self>, mut message: Message) -> Message {
        let bytes = message.values.iter().map(Bytes::len).sum();
        self.budget.held.fetch_add(bytes, Ordering::SeqCst);
        self.held.fetch_add(bytes, Ordering::SeqCst);
        message.held = Some(Box::new(Held { bytes, share: Arc::clone(self) }));
        message
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.share.budget.held.fetch_sub(self.bytes, Ordering::SeqCst);
        self.share.held.fetch_sub(self.bytes, Ordering::SeqCst);
        self.share.waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use arrow_flight::FlightData;
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_message_counts_until_its_last_byte_is_let_go() {
        let budget = Budget::new(Memory { bytes: 100 << 10 });
        let piece = || Bytes::from(vec![0; 20 << 10]);
        let message = || Message { values: vec![piece(), piece()], ..Message::default() };
        let mut within = budget.within(stream::iter([message(), message(), message()]).map(Ok::<_, ()>)).boxed();
        let mut next = || within.next().now_or_never().map(|message| message.unwrap().unwrap());
        // 40 of 100 KiB are taken, and a message may have 64.
        let first = next().unwrap();
        assert!(next().is_none());
        let first = FlightData::from(first).data_body.slice(1..2);
        assert!(next().is_none());
        drop(first);
        let second = next().unwrap();
        assert!(next().is_none());
        drop(second);
        assert!(next().is_some());
    }
}
