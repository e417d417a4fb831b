//! What the messages of all streams take, from when they are made until the transport has handed their last byte to the system.
//!
//! Two thousand streams with a message of 4 MB each would take 8 GB. So messages get smaller as streams get more, and each counts for as long as
//! anybody holds its bytes: a stream makes a further one only while there is room, and its first whatever the others do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use arrow_array::RecordBatch;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use futures::task::AtomicWaker;

use crate::uncopied::Message;

/// The memory of all streams.
pub struct Budget {
    bytes: usize,
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
    /// Larger messages are no faster where values are copied.
    pub const MESSAGE_BYTES: usize = 1 << 20;
    /// Where they are not, what is spent is spent per message and column. Clients take 4 MiB by default, with what is not values.
    pub const DIRECT_MESSAGE_BYTES: usize = (4 << 20) - (16 << 10);
    /// Below this a message is mostly header.
    const LEAST_MESSAGE_BYTES: usize = 64 << 10;

    pub fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Budget { bytes, held: AtomicUsize::new(0) })
    }

    /// Rows that the next message of one among so many streams may have, of at most `most` bytes.
    pub fn rows(&self, streams: usize, row_bytes: usize, most: usize) -> usize {
        let free = self.bytes.saturating_sub(self.held.load(Ordering::Relaxed));
        let bytes = (self.bytes / streams.max(1)).min(free).clamp(Self::LEAST_MESSAGE_BYTES, most);
        (bytes / row_bytes.max(1)).max(1)
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
            self.held.load(Ordering::SeqCst) == 0 || all + Budget::LEAST_MESSAGE_BYTES <= self.budget.bytes
        };
        if room() {
            return Poll::Ready(());
        }
        self.waker.register(context.waker());
        // They may have gone meanwhile.
        if room() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn count(self: &Arc<Self>, mut message: Message) -> Message {
        let bytes = message.head.data_header.len() + message.values.iter().map(Bytes::len).sum::<usize>();
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

/// `batch` in pieces of nearly equal size, none longer than `most` says when the piece is taken. Copies nothing.
pub fn slices(batch: RecordBatch, most: impl Fn() -> usize) -> impl Iterator<Item = RecordBatch> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let left = batch.num_rows() - first;
        let pieces = left.div_ceil(most().max(1)).max(1);
        let length = left.div_ceil(pieces);
        first += length;
        // A slice costs an allocation per column.
        let piece = || if length == batch.num_rows() { batch.clone() } else { batch.slice(first - length, length) };
        (length > 0).then(piece)
    })
}
