//! The open entry as tokio's `AsyncWrite`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::AsyncWrite;
use tokio::task;

use crate::async_writer::{AsyncStreamingZipWriter, CompressionPolicy, TURN};
use crate::error::{Error, Result};

/// Data for the open entry, so that `tokio::io::copy` and whatever else writes to an `AsyncWrite` works.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut writer = s_zip::AsyncStreamingZipWriter::from_writer(Vec::new());
/// writer.start_entry("greeting.txt").await?;
/// tokio::io::copy(&mut &b"hello"[..], &mut writer).await?;
/// writer.finish().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// Flushing does nothing, because [`flush`](Self::flush) costs compression and `tokio::io::copy` flushes whatever it copies to. Shutting down does
/// nothing either: the next call ends the entry. A future dropped meanwhile harms nothing, except that it poisons the writer if the blocking pool
/// was at work for it ([`CompressionPolicy::Offload`]).
impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncStreamingZipWriter<W> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_data(context, data).map_err(io::Error::other)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncStreamingZipWriter<W> {
    /// Takes some of `data`, once there is room for it.
    fn poll_data(&mut self, context: &mut Context<'_>, data: &[u8]) -> Poll<Result<usize>> {
        if self.busy {
            return Poll::Ready(Err(Error::Poisoned));
        }
        if self.policy == CompressionPolicy::Offload {
            if self.job.is_none() && self.batch.is_full() {
                self.start_job()?;
            }
            ready!(self.poll_job(context))?;
        }
        ready!(self.poll_drain(context))?;
        let policy = self.policy;
        if policy == CompressionPolicy::Inline && self.turn.elapsed() >= TURN {
            self.turn = Instant::now();
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let core = self.core()?;
        Poll::Ready(match policy {
            CompressionPolicy::Inline => core.write(data),
            CompressionPolicy::BlockInPlace => task::block_in_place(|| core.write(data)),
            CompressionPolicy::Offload => self.gather(data),
        })
    }

    /// Empties the buffer as far as it must be.
    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(bytes) = self.core.as_mut().ok_or(Error::Poisoned)?.full()? {
            let sent = ready!(poll_send(&mut self.sink, &mut self.busy, context, bytes))?;
            self.core.as_mut().ok_or(Error::Poisoned)?.take(sent);
        }
        Poll::Ready(Ok(()))
    }
}

/// Sends some of `bytes`; a sink that fails leaves the writer `broken`.
pub(crate) fn poll_send(
    sink: &mut (impl AsyncWrite + Unpin),
    broken: &mut bool,
    context: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<Result<usize>> {
    let sent = match ready!(Pin::new(sink).poll_write(context, bytes)) {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        sent => sent,
    };
    *broken |= sent.is_err();
    Poll::Ready(sent.map_err(Error::Sink))
}
