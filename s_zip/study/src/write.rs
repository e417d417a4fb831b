//! One archive by one arm, wherever it goes.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, IntoInnerError, Seek, Write};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use anyhow::{Result, bail};
use s_zip::{CompressionPolicy, InPlaceFile, ParallelZipWriter, StreamingZipWriter};
use tokio::io::{AsyncSeek, AsyncWrite, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use crate::cases::{Arm, Drive};
use crate::encoders::{AsyncEncoder, Buffered, Disguised, LEVEL, SyncEncoder, async_encoder, flate2_encoder};
use crate::input::Input;
use crate::mirror;
use crate::own::{self, write_entries};
use crate::place::{Archive, Place};
use crate::sinks::{Counted, Operations, Tracked};

/// Output buffer of the buffered controls, in bytes.
pub const BUFFER_BYTES: usize = 64 * 1024;

fn sync_arm<S: Write + Seek + Send>(arm: Arm, input: &Input, sink: S) -> Result<S> {
    let boxed = |_| -> io::Result<Box<dyn SyncEncoder>> { Ok(Box::new(flate2_encoder())) };
    match arm {
        #[cfg(feature = "miniz")]
        Arm::OriginalSync => {
            write_entries!(input, published::StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?)
        }
        #[cfg(feature = "miniz")]
        Arm::LaterSync => {
            write_entries!(input, published_later::StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?)
        }
        Arm::Sync => mirror::write_sync(input, sink, boxed),
        Arm::SyncReused => mirror::write_sync(input, sink, |used: Option<Box<dyn SyncEncoder>>| match used {
            Some(mut encoder) => encoder.restart().map(|()| encoder),
            None => boxed(None),
        }),
        Arm::SyncBuffer8k => mirror::write_sync(input, sink, |_| Ok(Buffered::new(8 * 1024))),
        Arm::SyncBuffer32k => mirror::write_sync(input, sink, |_| Ok(Buffered::new(32 * 1024))),
        Arm::SyncBuffered => {
            let sink = Tracked::new(BufWriter::with_capacity(BUFFER_BYTES, sink));
            let buffered = mirror::write_sync(input, sink, boxed)?.sink;
            Ok(buffered.into_inner().map_err(IntoInnerError::into_error)?)
        }
        Arm::BestSync => write_entries!(input, StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?),
        Arm::BestAtOnce => own::write_at_once(input, sink),
        Arm::BestParallel => write_entries!(input, ParallelZipWriter::from_writer(sink, LEVEL, None)?),
        Arm::BestConcurrent => own::write_concurrent(input, sink),
        Arm::ZipCrate => own::write_zip_crate(input, sink),
        Arm::Rawzip => own::write_rawzip(input, sink),
        _ => bail!("{arm:?} is no sync arm of this build; the published crate is only in builds with miniz"),
    }
}

pub async fn async_arm<S: AsyncWrite + AsyncSeek + Unpin>(arm: Arm, input: &Input, sink: S) -> Result<S> {
    let boxed = || -> Box<dyn AsyncEncoder> { Box::new(async_encoder()) };
    match arm {
        #[cfg(feature = "miniz")]
        Arm::OriginalAsync => {
            write_entries!(input, published::AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL), .await)
        }
        #[cfg(feature = "miniz")]
        Arm::LaterAsync => {
            write_entries!(input, published_later::AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL), .await)
        }
        Arm::Async | Arm::AsyncCurrentThread => mirror::write_async(input, sink, boxed).await,
        Arm::AsyncStatic => mirror::write_async(input, sink, async_encoder).await,
        Arm::Disguised => mirror::write_async(input, sink, || Disguised::new(Buffered::new(8 * 1024), None)).await,
        Arm::PollOnly => mirror::write_async(input, sink, giving_way).await,
        Arm::AsyncBuffered | Arm::AsyncBufferedInPlace => {
            let sink = Tracked::new(tokio::io::BufWriter::with_capacity(BUFFER_BYTES, sink));
            let mut buffered = mirror::write_async(input, sink, boxed).await?.sink;
            buffered.flush().await?;
            Ok(buffered.into_inner())
        }
        Arm::BestAsync => own::write_async(input, sink, CompressionPolicy::Inline).await,
        Arm::BestAsyncInPlace => own::write_async(input, sink, CompressionPolicy::BlockInPlace).await,
        Arm::BestAsyncOffload => own::write_async(input, sink, CompressionPolicy::Offload).await,
        Arm::AsyncZip => own::write_async_zip(input, sink).await,
        _ => bail!("{arm:?} is no async arm of this build; the published crate is only in builds with miniz"),
    }
}

/// The compressor of a future that has something to poll.
fn giving_way() -> Disguised {
    Disguised::new(Buffered::new(8 * 1024), Some(64 * 1024))
}

/// What runs an arm's code; made before anything is timed.
#[derive(Debug)]
pub struct Driver {
    drive: Drive,
    runtime: Option<Runtime>,
}

impl Driver {
    pub fn new(drive: Drive) -> Result<Self> {
        let runtime = match drive {
            Drive::MultiThread | Drive::Task => Some(Builder::new_multi_thread().enable_all().build()?),
            Drive::CurrentThread => Some(Builder::new_current_thread().enable_all().build()?),
            Drive::Sync | Drive::Loop => None,
        };
        Ok(Driver { drive, runtime })
    }

    pub fn run<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        match (&self.runtime, self.drive) {
            (Some(runtime), _) => runtime.block_on(future),
            // For futures that never wait.
            (None, Drive::Loop) => {
                let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
                loop {
                    match future.as_mut().poll(&mut context) {
                        Poll::Ready(value) => return value,
                        Poll::Pending => std::thread::yield_now(),
                    }
                }
            }
            (None, _) => bail!("a sync arm was driven as an async one"),
        }
    }
}

/// An archive and what it took to write it.
#[derive(Debug)]
pub struct Product {
    pub archive: Archive,
    pub operations: Operations,
}

/// Writes one archive to `place`: to the file `path`, if it is one for files.
pub fn write(arm: Arm, input: &Arc<Input>, place: Place, path: &Path, driver: &Driver) -> Result<Product> {
    if place == Place::Memory {
        return to_memory(arm, input, driver);
    }
    let operations = match driver.drive {
        Drive::Sync => {
            remove(path)?;
            sync_arm(arm, input, Counted::new(File::create(path)?))?.operations
        }
        Drive::Loop | Drive::Task => bail!("this arm writes to memory only"),
        Drive::MultiThread | Drive::CurrentThread => driver.run(async {
            // Not awaited: the published loop drops its temporary file, which removes it on the spot, sync or async.
            remove(path)?;
            if matches!(arm, Arm::BestAsyncInPlace | Arm::AsyncBufferedInPlace) {
                return Ok(async_arm(arm, input, Tracked::new(InPlaceFile::create(path)?)).await?.operations);
            }
            Ok(async_arm(arm, input, Counted::new(tokio::fs::File::create(path).await?)).await?.operations)
        })?,
    };
    Ok(Product { archive: Archive::File(path.to_owned()), operations })
}

fn to_memory(arm: Arm, input: &Arc<Input>, driver: &Driver) -> Result<Product> {
    let sink = Counted::new(Cursor::new(Vec::new()));
    let Counted { sink, operations, .. } = match driver.drive {
        Drive::Sync => sync_arm(arm, input, sink)?,
        Drive::Task => {
            let input = Arc::clone(input);
            let task = async move { mirror::write_async(&input, sink, giving_way).await };
            driver.run(async { tokio::spawn(task).await? })?
        }
        _ => driver.run(async_arm(arm, input, sink))?,
    };
    Ok(Product { archive: Archive::Memory(sink.into_inner()), operations })
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
