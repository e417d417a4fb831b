//! The async writer: the same core, the same bytes; only the moving of bytes awaits.

use std::future::poll_fn;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::fs::File;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{self, JoinHandle};

use crate::calls::{constructors, entry_calls};
use crate::core::{Admitted, Core, EntryKind, WHOLE_BYTES};
use crate::{Compression, EntryOptions, Error, Result, WriterOptions};

/// Where an async writer compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum CompressionPolicy {
    /// In the task, giving way often.
    ///
    /// Other tasks get a turn whenever a quarter of a millisecond has passed. The fastest for one archive; right where a delay of a block's
    /// compression (64 KiB: 0.1 to 2 ms) does not hurt anyone.
    #[default]
    Inline,
    /// In the task, after other tasks moved to another thread.
    ///
    /// That is [`tokio::task::block_in_place`]: it needs the multi-thread runtime, and panics inside a [`tokio::task::LocalSet`].
    BlockInPlace,
    /// On the blocking pool, in chunks.
    ///
    /// They have [`OFFLOAD_BYTES`]. Other tasks are never delayed, each chunk costs a hop of some 10 us.
    Offload,
}

/// Data is gathered to chunks of this many bytes before it is handed to the blocking pool.
pub const OFFLOAD_BYTES: usize = 512 * 1024;

/// After this long, compression gives way to other tasks, or to other threads.
pub(crate) const TURN: Duration = Duration::from_micros(250);

/// Writes an archive to an async sink from front to back: a file, a socket, a pipe, the body of a response.
///
/// ```
/// use s_zip::AsyncStreamingZipWriter;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut writer = AsyncStreamingZipWriter::from_writer(Vec::new());
/// writer.start_entry("greeting.txt").await?;
/// writer.write_data(b"hello").await?;
/// let archive: Vec<u8> = writer.finish().await?;
/// # Ok::<(), s_zip::Error>(())
/// # }).unwrap();
/// ```
///
/// A future of this writer that is dropped before it is done (a timeout, a `select!`) poisons the writer if it had begun to write: what was
/// half sent cannot be taken back. Every later call then fails with [`Error::Poisoned`].
#[must_use = "an archive is complete only after finish()"]
pub struct AsyncStreamingZipWriter<W: AsyncWrite + Unpin> {
    pub(crate) sink: W,
    pub(crate) policy: CompressionPolicy,
    /// Absent while the blocking pool has it: a future dropped then leaves none behind.
    pub(crate) core: Option<Box<Core>>,
    /// A call has begun and not come back: if another finds it so, its future was dropped or the sink failed.
    pub(crate) busy: bool,
    /// What `Offload` gathers before it hops.
    pub(crate) batch: Batch,
    /// What the blocking pool is doing with the core and the batch.
    pub(crate) job: Option<Job>,
    /// When the task was back after it last gave way; `None` before it is.
    pub(crate) turn: Option<Instant>,
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

    /// Chooses where data is compressed, before the first entry; the bytes of the archive do not depend on it.
    pub fn compression_policy(mut self, policy: CompressionPolicy) -> Self {
        self.policy = policy;
        self
    }

    entry_calls!(EntryKind::File, async .await);

    async fn add(&mut self, name: &str, data: &[u8], options: EntryOptions) -> Result<()> {
        let file = self.core()?.admit(EntryKind::File, name, options)?;
        self.takes_data = data.len() > WHOLE_BYTES;
        if !self.takes_data {
            return self.perform(Op::Add(file, data.len()), data).await;
        }
        self.perform(Op::Open(file), &[]).await?;
        self.write_data(data).await?;
        self.takes_data = false;
        self.perform(Op::Close, &[]).await
    }

    /// Adds data to the open entry; how it is cut into calls makes no difference to the archive.
    ///
    /// # Errors
    /// If no entry is open, it grows beyond its announced size, or the sink fails.
    pub async fn write_data(&mut self, mut data: &[u8]) -> Result<()> {
        self.core()?;
        self.busy = true;
        let result = poll_fn(|context| self.poll_all_data(context, &mut data)).await;
        self.leave(result)
    }

    /// Sends everything so far to the sink, in a form that can be decompressed up to here, and flushes the sink. Costs compression.
    ///
    /// # Errors
    /// If the sink fails.
    pub async fn flush(&mut self) -> Result<()> {
        self.settle(Op::Flush).await
    }

    /// Completes the archive, flushes the sink and gives it back; a socket is not shut down.
    ///
    /// # Errors
    /// If the last entry breaks its promise or the sink fails.
    pub async fn finish(mut self) -> Result<W> {
        self.settle(Op::Finish).await?;
        Ok(self.sink)
    }

    /// The core, if all is well: nothing broke before, and the policy can be followed here. Asked first, so that a refusal changes nothing.
    pub(crate) fn core(&mut self) -> Result<&mut Core> {
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
        self.busy = true;
        let result = self.perform_by_policy(op, data).await;
        self.leave(result)
    }

    async fn perform_by_policy(&mut self, op: Op, data: &[u8]) -> Result<()> {
        poll_fn(|context| self.poll_turn(context)).await;
        let core = self.core.as_mut().ok_or(Error::Poisoned)?;
        match self.policy {
            CompressionPolicy::Inline => op.apply(core, data)?,
            CompressionPolicy::BlockInPlace => task::block_in_place(|| op.apply(core, data))?,
            CompressionPolicy::Offload => {
                let at_once = matches!(op, Op::Flush | Op::Finish);
                self.batch.ops.push(op);
                self.batch.data.extend_from_slice(data);
                if at_once || self.batch.is_full() {
                    self.start_job()?;
                }
            }
        }
        poll_fn(|context| self.poll_settled(context)).await
    }

    /// Takes as much of `data` as the batch has room for.
    pub(crate) fn gather(&mut self, data: &[u8]) -> Result<usize> {
        if !self.takes_data {
            return Err(Error::NoEntry);
        }
        let taken = data.len().min(OFFLOAD_BYTES - self.batch.data.len());
        self.batch.push_data(&data[..taken]);
        Ok(taken)
    }

    /// Has the blocking pool do all that was gathered.
    pub(crate) fn start_job(&mut self) -> Result<()> {
        let handle = Handle::try_current().map_err(|_| Error::NeedsRuntime)?;
        let mut core = self.core.take().ok_or(Error::Poisoned)?;
        let mut batch = std::mem::take(&mut self.batch);
        self.job = Some(handle.spawn_blocking(move || {
            let result = batch.apply(&mut core);
            (core, batch, result)
        }));
        Ok(())
    }

    /// Does `op` after all that was gathered, sends everything to the sink and flushes that.
    async fn settle(&mut self, op: Op) -> Result<()> {
        self.core()?;
        self.perform(op, &[]).await?;
        self.busy = true;
        let result = self.send_all().await;
        self.leave(result)
    }

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

/// A call that was admitted.
enum Op {
    Open(Admitted),
    /// A file with so many bytes, all there are.
    Add(Admitted, usize),
    /// So many bytes for the open entry.
    Data(usize),
    Close,
    Flush,
    Finish,
}

impl Op {
    /// How much of the batch's data belongs to it.
    fn data_bytes(&self) -> usize {
        match self {
            Op::Add(_, bytes) | Op::Data(bytes) => *bytes,
            _ => 0,
        }
    }

    fn apply(self, core: &mut Core, data: &[u8]) -> Result<()> {
        match self {
            Op::Open(entry) => core.open(entry),
            Op::Add(file, _) => core.add(file, data),
            Op::Data(_) => write_all(core, data),
            Op::Close => core.close(),
            Op::Flush => core.flush(),
            Op::Finish => core.finish(),
        }
    }
}

type Job = JoinHandle<(Box<Core>, Batch, Result<()>)>;

/// Calls gathered for the blocking pool.
#[derive(Default)]
pub(crate) struct Batch {
    ops: Vec<Op>,
    data: Vec<u8>,
}

impl Batch {
    pub(crate) fn is_full(&self) -> bool {
        /// Entries without data cost memory, too.
        const OPS: usize = 4096;
        self.data.len() >= OFFLOAD_BYTES || self.ops.len() >= OPS
    }

    fn push_data(&mut self, data: &[u8]) {
        self.data.extend_from_slice(data);
        match self.ops.last_mut() {
            Some(Op::Data(bytes)) => *bytes += data.len(),
            _ => self.ops.push(Op::Data(data.len())),
        }
    }

    fn apply(&mut self, core: &mut Core) -> Result<()> {
        let mut data = self.data.as_slice();
        for op in self.ops.drain(..) {
            let (now, later) = data.split_at(op.data_bytes());
            data = later;
            op.apply(core, now)?;
        }
        self.data.clear();
        Ok(())
    }
}

/// Compresses `data` to the core's buffer, which grows by what comes of it.
pub(crate) fn write_all(core: &mut Core, mut data: &[u8]) -> Result<()> {
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
