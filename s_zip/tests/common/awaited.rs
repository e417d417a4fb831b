//! The async writer behind the face of all, and futures polled by hand.

use std::pin::pin;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, Result};
use tokio::io::AsyncWrite;
use tokio::runtime::{Builder, Runtime};

use super::any::AnyWriter;
use super::calls::{Call, make};
use super::sinks::Sink;

pub const POLICIES: [CompressionPolicy; 3] =
    [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace, CompressionPolicy::Offload];

pub async fn apply_async<W: AsyncWrite + Unpin>(
    writer: &mut AsyncStreamingZipWriter<W>,
    call: &Call<'_>,
) -> Result<()> {
    make!(writer, call, writer.flush().await, .await)
}

pub struct Awaited {
    pub writer: AsyncStreamingZipWriter<Sink>,
    /// Whether it takes its data as `AsyncWrite`.
    pub polled: bool,
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(threads);

impl AnyWriter for Awaited {
    fn call(&mut self, call: &Call) -> Result<()> {
        match call {
            // Without data nobody would ask for anything.
            Call::Data(data) if self.polled && !data.is_empty() => {
                let written = RUNTIME.block_on(tokio::io::copy(&mut &**data, &mut self.writer));
                written.map(drop).map_err(|error| *error.into_inner().unwrap().downcast().unwrap())
            }
            _ => RUNTIME.block_on(apply_async(&mut self.writer, call)),
        }
    }

    fn end(self: Box<Self>) -> Result<()> {
        RUNTIME.block_on(self.writer.finish()).map(drop)
    }
}

pub fn threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap()
}

/// Rings for the thread that polls.
struct Bell(SyncSender<()>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Once is enough.
        let _ = self.0.try_send(());
    }
}

/// Polls a future at most `polls` times, each after a wake-up, then drops it. `None`: it was not done by then.
pub fn poll_times<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let (bell, rings) = sync_channel(1);
    let waker = Waker::from(Arc::new(Bell(bell)));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    for poll in 0..polls {
        if poll > 0 {
            rings.recv_timeout(Duration::from_secs(20)).expect("a pending future wakes its task");
        }
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
    }
    None
}

/// Runs a future without a runtime.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    poll_times(future, usize::MAX).unwrap()
}
