//! The async writer: the same core, the same bytes; only the moving of bytes awaits.

use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{self, JoinHandle};

use crate::calls::{constructors, entry_calls};
use crate::core::{Admitted, Core, EntryKind, WHOLE_BYTES};
use crate::{Compression, EntryOptions, Error, Result};

/// Where an async writer compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CompressionPolicy {
    /// In the task: other tasks get a turn whenever a quarter of a millisecond has passed. The fastest for one archive; right where a delay of a
    /// block's compression (64 KiB: 0.1 to 2 ms) does not hurt anyone.
    #[default]
    Inline,
    /// In the task, after other tasks moved to another thread by [`tokio::task::block_in_place`], which needs the multi-thread runtime, and panics
    /// inside a [`tokio::task::LocalSet`].
    BlockInPlace,
    /// On the blocking pool, in chunks of [`OFFLOAD_BYTES`]. Other tasks are never delayed, each chunk costs a hop of some 10 us.
    Offload,
}

/// Data is gathered to chunks of this many bytes before it is handed to the blocking pool.
pub const OFFLOAD_BYTES: usize = 512 * 1024;

/// After this long, compression gives way to other tasks, or to other threads.
const TURN: Duration = Duration::from_micros(250);

/// Writes an archive to an async sink from front to back: a file, a socket, a pipe, the body of a response.
///
/// A future of this writer that is dropped before it is done (a timeout, a `select!`) poisons the writer if it had begun to write: what was
/// half sent cannot be taken back. Every later call then fails with [`Error::Poisoned`].
#[must_use = "an archive is complete only after finish()"]
pub struct AsyncStreamingZipWriter<W: AsyncWrite + Unpin> {
    sink: W,
    policy: CompressionPolicy,
    /// Absent while the blocking pool has it: a future dropped then leaves none behind.
    core: Option<Box<Core>>,
    /// A call has begun and not come back: if another finds it so, its future was dropped or the sink failed.
    busy: bool,
    batch: Batch,
    job: Option<Job>,
    /// When the task was back after it last gave way; `None` before it is.
    turn: Option<Instant>,
    /// By what `Offload` has gathered, an entry is open that does.
    takes_data: bool,
}

constructors!(AsyncStreamingZipWriter<W: AsyncWrite, Unpin>, async .await);

impl<W: AsyncWrite + Unpin> AsyncStreamingZipWriter<W> {
    fn from_parts(sink: W, core: Core) -> Self {
        AsyncStreamingZipWriter {
            sink,
            policy: CompressionPolicy::default(),
            core: Some(Box::new(core)),
            busy: false,
            batch: Batch::default(),
            job: None,
            turn: None,
            takes_data: false,
        }
    }

    /// Chooses where data is compressed from here on; the bytes of the archive do not depend on it. What `Offload` has gathered is compressed
    /// here and now: choose before the first entry.
    pub fn compression_policy(mut self, policy: CompressionPolicy) -> Self {
        if let Some(core) = &mut self.core {
            // A failure poisons the core, and the next call says so.
            let _ = self.batch.apply(core);
        }
        self.policy = policy;
        self
    }

    entry_calls!(EntryKind::File, async .await);

    async fn add(&mut self, name: &str, data: &[u8], options: EntryOptions) -> Result<()> {
        let file = self.core()?.admit(EntryKind::File, name, options)?;
        self.takes_data = data.len() > WHOLE_BYTES;
        if !self.takes_data {
            return self.perform(Op::Add(file), data).await;
        }
        self.perform(Op::Open(file), &[]).await?;
        self.write_data(data).await?;
        self.takes_data = false;
        self.perform(Op::Close, &[]).await
    }

    /// Adds data to the open entry; how it is cut into calls makes no difference to the archive.
    /// Fails if no entry is open, it grows beyond its announced size, or the sink fails.
    pub async fn write_data(&mut self, mut data: &[u8]) -> Result<()> {
        self.core()?;
        self.busy = true;
        let result = poll_fn(|context| self.poll_all_data(context, &mut data)).await;
        self.leave(result)
    }

    /// Sends everything so far to the sink, in a form that can be decompressed up to here, and flushes it. Costs compression. Fails if the sink does.
    pub async fn flush(&mut self) -> Result<()> {
        self.perform(Op::Flush, &[]).await
    }

    /// Completes the archive, flushes the sink and gives it back; a socket is not shut down.
    /// Fails if the last entry breaks its promise or the sink fails.
    pub async fn finish(mut self) -> Result<W> {
        self.perform(Op::Finish, &[]).await?;
        Ok(self.sink)
    }

    /// The core, if all is well: nothing broke before, and the policy can be followed here. Asked first, so that a refusal changes nothing.
    fn core(&mut self) -> Result<&mut Core> {
        match &mut self.core {
            Some(core) if !self.busy => {
                core.check()?;
                match (self.policy, Handle::try_current().map(|handle| handle.runtime_flavor())) {
                    (CompressionPolicy::BlockInPlace, Ok(RuntimeFlavor::CurrentThread)) => Err(Error::NeedsThreads),
                    (CompressionPolicy::Offload, Err(_)) => Err(Error::NeedsRuntime),
                    _ => Ok(core),
                }
            }
            _ => Err(Error::Poisoned),
        }
    }

    /// A refusal leaves the writer usable; after a failed sink nobody knows what arrived.
    fn leave(&mut self, result: Result<()>) -> Result<()> {
        self.busy = self.core.is_none() || matches!(result, Err(Error::Sink(_)));
        result
    }

    async fn open(&mut self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<()> {
        let entry = self.core()?.admit(kind, name, options)?;
        self.takes_data = kind == EntryKind::File;
        self.perform(Op::Open(entry), &[]).await
    }

    async fn perform(&mut self, op: Op, data: &[u8]) -> Result<()> {
        self.core()?;
        self.busy = true;
        let result = self.perform_by_policy(op, data).await;
        self.leave(result)
    }

    async fn perform_by_policy(&mut self, op: Op, data: &[u8]) -> Result<()> {
        let sends_all = matches!(op, Op::Flush | Op::Finish);
        poll_fn(|context| self.poll_turn(context)).await;
        let core = self.core.as_mut().ok_or(Error::Poisoned)?;
        match self.policy {
            CompressionPolicy::Inline => op.apply(core, data)?,
            CompressionPolicy::BlockInPlace => task::block_in_place(|| op.apply(core, data))?,
            CompressionPolicy::Offload => {
                self.batch.push(op, data);
                if sends_all || self.batch.is_full() {
                    self.start_job()?;
                }
            }
        }
        poll_fn(|context| self.poll_settled(context)).await?;
        if sends_all { self.send_all().await } else { Ok(()) }
    }

    /// Takes all of `data`, and empties the buffer as far as it must be.
    fn poll_all_data(&mut self, context: &mut Context<'_>, data: &mut &[u8]) -> Poll<Result<()>> {
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
            CompressionPolicy::Offload if !self.takes_data => Err(Error::NoEntry),
            CompressionPolicy::Offload => {
                let chunk = &data[..data.len().min(OFFLOAD_BYTES - self.batch.data.len())];
                self.batch.push(Op::Data, chunk);
                Ok(chunk.len())
            }
        })
    }

    /// Waits for the blocking pool, if it has something to do, and empties the buffer as far as it must be.
    fn poll_settled(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
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
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.policy == CompressionPolicy::Inline && self.turn.get_or_insert_with(Instant::now).elapsed() >= TURN {
            self.turn = None;
            return pin!(task::yield_now()).poll(context);
        }
        Poll::Ready(())
    }

    /// Has the blocking pool do all that was gathered.
    fn start_job(&mut self) -> Result<()> {
        let handle = Handle::try_current().map_err(|_| Error::NeedsRuntime)?;
        let mut core = self.core.take().ok_or(Error::Poisoned)?;
        let mut batch = std::mem::take(&mut self.batch);
        self.job = Some(handle.spawn_blocking(move || {
            let result = batch.apply(&mut core);
            (core, batch, result)
        }));
        Ok(())
    }

    /// Empties the buffer into the sink and flushes that.
    async fn send_all(&mut self) -> Result<()> {
        let core = self.core.as_mut().ok_or(Error::Poisoned)?;
        while !core.ready().is_empty() {
            let ready = core.ready();
            let bytes = ready.len();
            self.sink.write_all(ready).await.map_err(Error::Sink)?;
            core.take(bytes);
        }
        self.sink.flush().await.map_err(Error::Sink)
    }
}

/// Data for the open entry, so that `tokio::io::copy(&mut from, &mut writer)` and whatever else writes to an `AsyncWrite` works.
///
/// Flushing does nothing, because [`flush`](Self::flush) costs compression and `tokio::io::copy` flushes whatever it copies to. Shutting down does
/// nothing either: the next call ends the entry. A future dropped meanwhile harms nothing, except that it poisons the writer if the blocking pool
/// was at work for it ([`CompressionPolicy::Offload`]).
impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncStreamingZipWriter<W> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let writer = self.get_mut();
        // While the blocking pool works for this future, there is no core to ask.
        if writer.busy || writer.job.is_none() {
            writer.core()?;
        }
        writer.poll_data(context, data).map_err(io::Error::from)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

enum Op {
    Open(Admitted),
    Add(Admitted),
    Data,
    Close,
    Flush,
    Finish,
}

impl Op {
    fn apply(self, core: &mut Core, data: &[u8]) -> Result<()> {
        match self {
            Op::Open(entry) => core.open(entry),
            Op::Add(file) => core.add(file, data),
            Op::Data => write_all(core, data),
            Op::Close => core.close(),
            Op::Flush => core.flush(),
            Op::Finish => core.finish(),
        }
    }
}

type Job = JoinHandle<(Box<Core>, Batch, Result<()>)>;

/// Calls gathered for the blocking pool, each with how many bytes of the data belong to it.
#[derive(Default)]
struct Batch {
    ops: Vec<(Op, usize)>,
    data: Vec<u8>,
}

impl Batch {
    fn is_full(&self) -> bool {
        /// Entries without data cost memory, too.
        const OPS: usize = 4096;
        self.data.len() >= OFFLOAD_BYTES || self.ops.len() >= OPS
    }

    fn push(&mut self, op: Op, data: &[u8]) {
        self.data.extend_from_slice(data);
        match (&op, self.ops.last_mut()) {
            (Op::Data, Some((Op::Data, bytes))) => *bytes += data.len(),
            _ => self.ops.push((op, data.len())),
        }
    }

    fn apply(&mut self, core: &mut Core) -> Result<()> {
        let mut data = self.data.as_slice();
        for (op, bytes) in self.ops.drain(..) {
            op.apply(core, data.split_off(..bytes).unwrap_or_default())?;
        }
        self.data.clear();
        Ok(())
    }
}

/// Compresses `data` to the core's buffer, which grows by what comes of it.
fn write_all(core: &mut Core, mut data: &[u8]) -> Result<()> {
    let mut turn = Instant::now();
    loop {
        let taken = core.write(data)?;
        data = &data[taken..];
        // With more archives than cores, the threads that compress would otherwise keep the runtime's own from their turn.
        if turn.elapsed() >= TURN {
            std::thread::yield_now();
            turn = Instant::now();
        }
        if data.is_empty() {
            return Ok(());
        }
    }
}
