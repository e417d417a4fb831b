//! What is a tokio `AsyncWrite` here: the open entry, and a file that makes no trips to the blocking pool.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::AsyncWrite;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task;

use crate::async_writer::{AsyncStreamingZipWriter, CompressionPolicy, OFFLOAD_BYTES, TURN, write_all};
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
        let writer = self.get_mut();
        // While the blocking pool works for this future, there is no core to ask.
        if writer.busy || writer.job.is_none() {
            writer.core().map_err(io::Error::other)?;
        }
        writer.poll_data(context, data).map_err(io::Error::other)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncStreamingZipWriter<W> {
    /// Takes all of `data`, and empties the buffer as far as it must be.
    pub(crate) fn poll_all_data(&mut self, context: &mut Context<'_>, data: &mut &[u8]) -> Poll<Result<()>> {
        loop {
            let taken = ready!(self.poll_data(context, data))?;
            *data = &data[taken..];
            if data.is_empty() {
                return self.poll_settled(context);
            }
        }
    }

    /// Takes some of `data`, once there is room for it.
    fn poll_data(&mut self, context: &mut Context<'_>, data: &[u8]) -> Poll<Result<usize>> {
        if self.policy == CompressionPolicy::Offload && self.job.is_none() && self.batch.is_full() {
            self.start_job()?;
        }
        ready!(self.poll_settled(context))?;
        ready!(self.poll_turn(context));
        let core = self.core.as_mut().ok_or(Error::Poisoned)?;
        Poll::Ready(match self.policy {
            CompressionPolicy::Inline => core.write(data),
            CompressionPolicy::BlockInPlace => {
                let chunk = &data[..data.len().min(OFFLOAD_BYTES)];
                task::block_in_place(|| write_all(core, chunk)).map(|()| chunk.len())
            }
            CompressionPolicy::Offload => self.gather(data),
        })
    }

    /// Waits for the blocking pool, if it has something to do, and empties the buffer as far as it must be.
    pub(crate) fn poll_settled(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(job) = &mut self.job {
            let done = ready!(Pin::new(job).poll(context));
            self.job = None;
            let (core, batch, result) = done.map_err(|error| Error::Workers(error.into()))?;
            (self.core, self.batch) = (Some(core), batch);
            result?;
        }
        let core = self.core.as_mut().ok_or(Error::Poisoned)?;
        while let Some(bytes) = core.full()? {
            let sent = match ready!(Pin::new(&mut self.sink).poll_write(context, bytes)) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                sent => sent,
            };
            // A sink that fails leaves the writer broken.
            self.busy |= sent.is_err();
            core.take(sent.map_err(Error::Sink)?);
        }
        Poll::Ready(Ok(()))
    }

    /// Gives way to other tasks, if that is the policy and it is time to.
    pub(crate) fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.policy == CompressionPolicy::Inline && self.turn.get_or_insert_with(Instant::now).elapsed() >= TURN {
            self.turn = None;
            return pin!(task::yield_now()).poll(context);
        }
        Poll::Ready(())
    }
}

/// A file whose operations run where they are called, under [`tokio::task::block_in_place`], so that other tasks move on.
///
/// tokio's own file carries each operation to another thread and back, 10 to 50 us that a small archive feels. Needs the multi-thread runtime, and
/// panics inside a [`tokio::task::LocalSet`], as that function does.
///
/// ```no_run
/// use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, InPlaceFile};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let writer = AsyncStreamingZipWriter::from_writer(InPlaceFile::create("a.zip")?);
/// let mut writer = writer.compression_policy(CompressionPolicy::BlockInPlace);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct InPlaceFile(pub File);

impl InPlaceFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// If it cannot be created, or on a current-thread runtime.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        in_place(|| File::create(path)).map(InPlaceFile)
    }
}

impl AsyncWrite for InPlaceFile {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(in_place(|| self.0.write(bytes)))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

fn in_place<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::CurrentThread) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a file in place needs tokio's multi-thread runtime: use tokio::fs::File here",
        )),
        _ => task::block_in_place(work),
    }
}
