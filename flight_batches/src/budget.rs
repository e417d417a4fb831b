//! What the messages of all streams take, from when they are made until the transport has handed their last byte to the system.
//!
//! The transport takes some hundred KiB ahead of a client that does not read, for each of its streams. Every message therefore counts for as
//! long as anybody holds its bytes: a stream makes a further one only while there is room, and its first whatever the others do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use arrow_flight::FlightData;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use futures::task::AtomicWaker;

use crate::slices::Memory;

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

/// Bytes that count until they are dropped.
struct Counted {
    bytes: Bytes,
    share: Arc<Share>,
}

impl Budget {
    /// Of so much, all of it free.
    pub fn new(memory: Memory) -> Arc<Self> {
        Arc::new(Budget { memory, held: AtomicUsize::new(0) })
    }

    /// Rows that the next message of one among so many streams may have.
    pub fn rows(&self, streams: usize, row_bytes: usize) -> usize {
        self.memory.rows(streams, self.held.load(Ordering::Relaxed), row_bytes)
    }

    /// The messages of a stream, each made when there is room for it.
    pub fn within<E, S>(self: &Arc<Self>, mut messages: S) -> impl Stream<Item = Result<FlightData, E>> + use<E, S>
    where
        S: Stream<Item = Result<FlightData, E>> + Unpin,
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

    fn count(self: &Arc<Self>, mut message: FlightData) -> FlightData {
        let bytes = std::mem::take(&mut message.data_body);
        self.budget.held.fetch_add(bytes.len(), Ordering::SeqCst);
        self.held.fetch_add(bytes.len(), Ordering::SeqCst);
        message.data_body = Bytes::from_owner(Counted { bytes, share: Arc::clone(self) });
        message
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.share.budget.held.fetch_sub(self.bytes.len(), Ordering::SeqCst);
        self.share.held.fetch_sub(self.bytes.len(), Ordering::SeqCst);
        self.share.waker.wake();
    }
}
