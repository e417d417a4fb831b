//! The arms: the published shape, controls that change one thing, this crate's writers, and their peers.

use std::fs::File;
use std::future::Future;
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::pin::pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use study_kit::error::unknown;
use tokio::io::{AsyncSeek, AsyncWrite, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use super::StudyError;
use super::sinks::{Counted, Ends, Operations, Slow, Tracked};
use super::target::{Archive, Target};
use crate::{CompressionPolicy, InPlaceFile};
use encoders::{Buffered, Disguised, async_encoder, boxed_async_encoder, boxed_sync_encoder, flate2_encoder};
use input::Input;
use mirror::Encoders;

pub mod encoders;
pub mod input;
pub mod mirror;
pub mod own;

/// Output buffer of the buffered controls, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;

/// One way to write an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arm {
    /// The published sync writer's shape.
    Sync,
    /// The published async writer's shape.
    Async,
    /// `Async` on a current-thread runtime.
    AsyncCurrentThread,
    /// `Async` with an output buffer.
    AsyncBuffered,
    /// `Sync` with an output buffer.
    SyncBuffered,
    /// `Sync` with one compressor for all entries.
    SyncReused,
    /// `Async` without trait objects.
    AsyncStatic,
    /// `Sync` without trait objects.
    SyncStatic,
    /// `Sync` through a buffer of 8 KiB, as async-compression has it.
    SyncBuffer8k,
    /// `Sync` through a buffer of 32 KiB, as flate2 has it.
    SyncBuffer32k,
    /// `SyncBuffer8k` as async code that never waits, polled by a bare loop.
    PollOnly,
    /// The same on tokio's runtime.
    PollRuntime,
    /// This crate's sync writer.
    BestSync,
    /// This crate's async writer, compressing in the task.
    BestAsync,
    /// The same under `block_in_place`, files too.
    BestAsyncInPlace,
    /// The same with chunks on the blocking pool.
    BestAsyncOffload,
    /// This crate's parallel writer on all cores.
    BestParallel,
    /// This crate's sync writer, storing what was announced.
    BestStored,
    /// The `zip` crate.
    ZipCrate,
    /// The `async_zip` crate.
    AsyncZip,
}

impl Arm {
    /// Every arm.
    pub const ALL: [Arm; 20] = [
        Arm::Sync,
        Arm::Async,
        Arm::AsyncCurrentThread,
        Arm::AsyncBuffered,
        Arm::SyncBuffered,
        Arm::SyncReused,
        Arm::AsyncStatic,
        Arm::SyncStatic,
        Arm::SyncBuffer8k,
        Arm::SyncBuffer32k,
        Arm::PollOnly,
        Arm::PollRuntime,
        Arm::BestSync,
        Arm::BestAsync,
        Arm::BestAsyncInPlace,
        Arm::BestAsyncOffload,
        Arm::BestParallel,
        Arm::BestStored,
        Arm::ZipCrate,
        Arm::AsyncZip,
    ];

    /// The arm's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Arm::Sync => "sync",
            Arm::Async => "async",
            Arm::AsyncCurrentThread => "async_current_thread",
            Arm::AsyncBuffered => "async_buffered",
            Arm::SyncBuffered => "sync_buffered",
            Arm::SyncReused => "sync_reused",
            Arm::AsyncStatic => "async_static",
            Arm::SyncStatic => "sync_static",
            Arm::SyncBuffer8k => "sync_buffer_8k",
            Arm::SyncBuffer32k => "sync_buffer_32k",
            Arm::PollOnly => "poll_only",
            Arm::PollRuntime => "poll_runtime",
            Arm::BestSync => "best_sync",
            Arm::BestAsync => "best_async",
            Arm::BestAsyncInPlace => "best_async_in_place",
            Arm::BestAsyncOffload => "best_async_offload",
            Arm::BestParallel => "best_parallel",
            Arm::BestStored => "best_stored",
            Arm::ZipCrate => "zip_crate",
            Arm::AsyncZip => "async_zip",
        }
    }

    /// How the arm is driven.
    #[must_use]
    pub fn drive(self) -> Drive {
        match self {
            Arm::Async
            | Arm::AsyncBuffered
            | Arm::AsyncStatic
            | Arm::PollRuntime
            | Arm::BestAsync
            | Arm::BestAsyncInPlace
            | Arm::BestAsyncOffload
            | Arm::AsyncZip => Drive::MultiThread,
            Arm::AsyncCurrentThread => Drive::CurrentThread,
            Arm::PollOnly => Drive::Loop,
            _ => Drive::Sync,
        }
    }
}

impl FromStr for Arm {
    type Err = StudyError;

    fn from_str(name: &str) -> Result<Self, StudyError> {
        let found = Arm::ALL.into_iter().find(|arm| arm.name() == name);
        found.ok_or_else(|| unknown("arm", name, Arm::ALL.map(Arm::name)).into())
    }
}

/// Who calls an arm's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    /// The caller.
    Sync,
    /// tokio's multi-thread runtime.
    MultiThread,
    /// tokio's current-thread runtime.
    CurrentThread,
    /// A loop that polls until done.
    Loop,
}

/// What runs async arms; made before anything is timed.
#[derive(Debug, Clone)]
pub struct Driver {
    drive: Drive,
    runtime: Option<Arc<Runtime>>,
}

impl Driver {
    /// What `arm` needs.
    ///
    /// # Errors
    /// If a runtime cannot be started.
    pub fn new(arm: Arm) -> Result<Self, StudyError> {
        let runtime = match arm.drive() {
            Drive::MultiThread => Some(Builder::new_multi_thread().enable_all().build()),
            Drive::CurrentThread => Some(Builder::new_current_thread().enable_all().build()),
            Drive::Sync | Drive::Loop => None,
        };
        let runtime = runtime.transpose().map_err(StudyError::Runtime)?.map(Arc::new);
        Ok(Driver { drive: arm.drive(), runtime })
    }

    /// The runtime, if the arm needs one.
    #[must_use]
    pub fn runtime(&self) -> Option<&Runtime> {
        self.runtime.as_deref()
    }

    fn run<T>(&self, future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            None if self.drive == Drive::Loop => poll_to_the_end(future),
            None => Err(io::Error::other("a sync arm was driven as an async one")),
        }
    }
}

/// Polls without a runtime: for futures that never wait.
fn poll_to_the_end<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// An archive and what it took to write it.
#[derive(Debug)]
pub struct Product {
    /// Where it is.
    pub archive: Archive,
    /// What reached the sink.
    pub operations: Operations,
}

/// Writes one archive.
///
/// # Errors
/// If the sink fails, or the arm cannot write to it.
pub fn execute(arm: Arm, input: &Input, target: &Target, driver: &Driver) -> io::Result<Product> {
    if driver.drive == Drive::Sync {
        execute_sync(arm, input, target)
    } else {
        execute_async(arm, input, target, driver)
    }
}

fn execute_sync(arm: Arm, input: &Input, target: &Target) -> io::Result<Product> {
    match target {
        Target::File(path) => {
            remove(path)?;
            let done = sync_arm(arm, input, Counted::new(File::create(path)?))?;
            Ok(Product { archive: Archive::File(path.clone()), operations: done.operations })
        }
        Target::Memory => {
            let done = sync_arm(arm, input, Counted::new(Cursor::new(Vec::new())))?;
            Ok(Product { archive: Archive::Memory(done.sink.into_inner()), operations: done.operations })
        }
        Target::Ends => {
            let done = sync_arm(arm, input, Tracked::new(Counted::new(Ends::default())))?.sink;
            Ok(Product { archive: Archive::Ends(Box::new(done.sink)), operations: done.operations })
        }
        Target::Slow(delay) => {
            let done = sync_arm(arm, input, Tracked::new(Counted::new(Slow::new(*delay))))?.sink;
            Ok(Product { archive: Archive::Memory(done.sink.bytes), operations: done.operations })
        }
        Target::Pipe => {
            let (mut receiver, sender) = io::pipe()?;
            let reader = std::thread::spawn(move || {
                let mut bytes = Vec::new();
                io::copy(&mut receiver, &mut bytes).map(|_| bytes)
            });
            // The counting sink, and with it the sender, is gone after this line, which is what ends the reader.
            let operations = sync_arm(arm, input, Tracked::new(Counted::new(sender)))?.sink.operations;
            Ok(Product { archive: Archive::Memory(joined(reader)?), operations })
        }
    }
}

fn execute_async(arm: Arm, input: &Input, target: &Target, driver: &Driver) -> io::Result<Product> {
    if driver.drive == Drive::Loop && !matches!(target, Target::Memory | Target::Ends) {
        return Err(io::Error::other("a bare loop cannot wait: this arm writes to memory only"));
    }
    match target {
        Target::File(path) => driver.run(async {
            // Not awaited: the published loop drops its temporary file, which removes it on the spot, sync or async.
            remove(path)?;
            let operations = if arm == Arm::BestAsyncInPlace {
                let file = Tracked::new(Counted::new(InPlaceFile::create(path)?));
                async_arm(arm, input, file).await?.sink.operations
            } else {
                let file = tokio::fs::File::create(path).await?;
                async_arm(arm, input, Counted::new(file)).await?.operations
            };
            Ok(Product { archive: Archive::File(path.clone()), operations })
        }),
        Target::Memory => driver.run(async {
            let done = async_arm(arm, input, Counted::new(Cursor::new(Vec::new()))).await?;
            Ok(Product { archive: Archive::Memory(done.sink.into_inner()), operations: done.operations })
        }),
        Target::Ends => driver.run(async {
            let done = async_arm(arm, input, Tracked::new(Counted::new(Ends::default()))).await?.sink;
            Ok(Product { archive: Archive::Ends(Box::new(done.sink)), operations: done.operations })
        }),
        Target::Slow(delay) => driver.run(async {
            let done = async_arm(arm, input, Tracked::new(Counted::new(Slow::new(*delay)))).await?.sink;
            Ok(Product { archive: Archive::Memory(done.sink.bytes), operations: done.operations })
        }),
        Target::Pipe => {
            let (mut receiver, sender) = io::pipe()?;
            let reader = std::thread::spawn(move || {
                let mut bytes = Vec::new();
                io::copy(&mut receiver, &mut bytes).map(|_| bytes)
            });
            let operations = driver.run(async {
                let sender = tokio::net::unix::pipe::Sender::from_owned_fd(sender.into())?;
                Ok(async_arm(arm, input, Tracked::new(Counted::new(sender))).await?.sink.operations)
            })?;
            Ok(Product { archive: Archive::Memory(joined(reader)?), operations })
        }
    }
}

fn joined(reader: std::thread::JoinHandle<io::Result<Vec<u8>>>) -> io::Result<Vec<u8>> {
    reader.join().map_err(|_| io::Error::other("the reader of the pipe died"))?
}

fn remove(path: &std::path::Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn sync_arm<S: Write + Seek>(arm: Arm, input: &Input, sink: S) -> io::Result<S> {
    const FRESH: Encoders = Encoders::Fresh;
    match arm {
        Arm::Sync => mirror::write_sync(input, sink, boxed_sync_encoder, FRESH),
        Arm::SyncStatic => mirror::write_sync(input, sink, flate2_encoder, FRESH),
        Arm::SyncReused => mirror::write_sync(input, sink, boxed_sync_encoder, Encoders::Reused),
        Arm::SyncBuffer8k => mirror::write_sync(input, sink, || Buffered::new(8 * 1024), FRESH),
        Arm::SyncBuffer32k => mirror::write_sync(input, sink, || Buffered::new(32 * 1024), FRESH),
        Arm::SyncBuffered => {
            let sink = Tracked::new(BufWriter::with_capacity(BUFFER_BYTES, sink));
            let buffered = mirror::write_sync(input, sink, boxed_sync_encoder, FRESH)?.sink;
            buffered.into_inner().map_err(io::IntoInnerError::into_error)
        }
        Arm::BestSync => own::write_sync(input, sink),
        Arm::BestParallel => own::write_parallel(input, sink, None),
        Arm::BestStored => own::write_stored(input, sink),
        Arm::ZipCrate => own::write_zip_crate(input, sink),
        _ => Err(io::Error::other("an async arm was called as a sync one")),
    }
}

/// One archive by an async arm.
///
/// # Errors
/// If the sink fails or the arm is a sync one.
pub async fn async_arm<S: AsyncWrite + AsyncSeek + Unpin>(arm: Arm, input: &Input, sink: S) -> io::Result<S> {
    match arm {
        Arm::Async | Arm::AsyncCurrentThread => mirror::write_async(input, sink, boxed_async_encoder).await,
        Arm::AsyncStatic => mirror::write_async(input, sink, async_encoder).await,
        Arm::PollOnly | Arm::PollRuntime => {
            mirror::write_async(input, sink, || Disguised(Buffered::new(8 * 1024))).await
        }
        Arm::AsyncBuffered => {
            let sink = Tracked::new(tokio::io::BufWriter::with_capacity(BUFFER_BYTES, sink));
            let mut buffered = mirror::write_async(input, sink, boxed_async_encoder).await?.sink;
            buffered.flush().await?;
            Ok(buffered.into_inner())
        }
        Arm::BestAsync => own::write_async(input, sink, CompressionPolicy::Inline).await,
        Arm::BestAsyncInPlace => own::write_async(input, sink, CompressionPolicy::BlockInPlace).await,
        Arm::BestAsyncOffload => own::write_async(input, sink, CompressionPolicy::Offload).await,
        Arm::AsyncZip => own::write_async_zip(input, sink).await,
        _ => Err(io::Error::other("a sync arm was called as an async one")),
    }
}
