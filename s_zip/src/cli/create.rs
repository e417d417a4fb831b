//! `create`: moves files through one of the writers, a buffer at a time.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::process::ExitCode;

use anyhow::{Context, Error};
#[cfg(feature = "async")]
use tokio::runtime::Runtime;

use super::FOUND_FAILURES;
use super::args::{Create, WriterKind};
use super::out::Out;
use super::plan::{self, Item, Source};
use super::terminal::complain;
#[cfg(feature = "async")]
use crate::async_writer::AsyncStreamingZipWriter;
use crate::core::WHOLE_BYTES;
use crate::error::Result as WriterResult;
use crate::options::{EntryOptions, WriterOptions};
#[cfg(feature = "parallel")]
use crate::parallel::{ParallelOptions, ParallelZipWriter};
use crate::writer::StreamingZipWriter;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Makes the archive.
pub fn create(request: &Create) -> Result<ExitCode, Error> {
    let compression = request.compression()?;
    let kind = request.writer(compression)?;
    let out = Out::new(&request.out)?;
    let items = plan::plan(request, &out)?;
    let opened = out.open()?;
    let sink = opened.file.try_clone().context("cannot write the archive")?;
    let options = WriterOptions::new().compression(compression);
    let steady = match kind {
        WriterKind::Sync => {
            pack(StreamingZipWriter::from_writer_with_options(sink, options)?, items, &request.comment)?
        }
        #[cfg(feature = "parallel")]
        WriterKind::Parallel { jobs, level } => {
            let options = ParallelOptions::new().jobs(jobs).level(level);
            pack(ParallelZipWriter::from_writer(sink, options)?, items, &request.comment)?
        }
        #[cfg(feature = "async")]
        WriterKind::Async(policy) => {
            let sink = tokio::fs::File::from_std(sink);
            let writer = AsyncStreamingZipWriter::from_writer_with_options(sink, options)?.compression_policy(policy);
            let runtime = Runtime::new().context("cannot start the async runtime")?;
            // Calls that are not awaited look for it, too.
            let _context = runtime.enter();
            pack(Awaited { writer, runtime: &runtime }, items, &request.comment)?
        }
    };
    opened.complete()?;
    Ok(if steady { ExitCode::SUCCESS } else { ExitCode::from(FOUND_FAILURES) })
}

/// The calls that the writers share, each waited for.
trait Writer {
    fn start(&mut self, name: &str, options: EntryOptions) -> WriterResult<()>;
    fn add(&mut self, name: &str, data: &[u8], options: EntryOptions) -> WriterResult<()>;
    fn folder(&mut self, name: &str, options: EntryOptions) -> WriterResult<()>;
    fn data(&mut self, data: &[u8]) -> WriterResult<()>;
    fn end(self, comment: &str) -> WriterResult<()>;
}

/// The async writer with what waits for its futures.
#[cfg(feature = "async")]
struct Awaited<'a> {
    writer: AsyncStreamingZipWriter<tokio::fs::File>,
    runtime: &'a Runtime,
}

/// Implements [`Writer`] for a type by the expressions that give its writer and that wait for what a call returns.
macro_rules! writer {
    ($type:ty, |$self:ident| $writer:expr, |$call:ident| $wait:expr) => {
        impl Writer for $type {
            fn start(&mut $self, name: &str, options: EntryOptions) -> WriterResult<()> {
                let $call = $writer.start_entry_with_options(name, options);
                $wait
            }

            fn add(&mut $self, name: &str, data: &[u8], options: EntryOptions) -> WriterResult<()> {
                let $call = $writer.add_entry_with_options(name, data, options);
                $wait
            }

            fn folder(&mut $self, name: &str, options: EntryOptions) -> WriterResult<()> {
                let $call = $writer.add_directory_with_options(name, options);
                $wait
            }

            fn data(&mut $self, data: &[u8]) -> WriterResult<()> {
                let $call = $writer.write_data(data);
                $wait
            }

            fn end(mut $self, comment: &str) -> WriterResult<()> {
                $writer.set_comment(comment)?;
                let $call = $writer.finish();
                $wait.map(drop)
            }
        }
    };
}

writer!(StreamingZipWriter<File>, |self| self, |call| call);
#[cfg(feature = "parallel")]
writer!(ParallelZipWriter<File>, |self| self, |call| call);
#[cfg(feature = "async")]
writer!(Awaited<'_>, |self| self.writer, |call| self.runtime.block_on(call));

/// Writes everything, and says whether no file changed meanwhile.
fn pack(mut writer: impl Writer, items: Vec<Item>, comment: &str) -> Result<bool, Error> {
    let (mut buffer, mut whole) = (vec![0; BUFFER_BYTES], Vec::new());
    let mut steady = true;
    for Item { name, source, options } in items {
        match source {
            Source::Folder => writer.folder(&name, options)?,
            Source::File(path, most) => {
                let fail = || format!("cannot read {}", path.display());
                let file = File::open(&path).with_context(fail)?;
                let state = || file.metadata().map(|found| (found.len(), found.modified().ok())).with_context(fail);
                let before = state()?;
                let mut from = (&file).take(most);
                whole.clear();
                from.by_ref().take(WHOLE_BYTES as u64 + 1).read_to_end(&mut whole).with_context(fail)?;
                if whole.len() <= WHOLE_BYTES {
                    writer.add(&name, &whole, options)?;
                } else {
                    writer.start(&name, options)?;
                    writer.data(&whole)?;
                    copy(from, &mut writer, &mut buffer, fail)?;
                }
                if state()? != before {
                    complain(&format!("{} changed while it was read: pack it again", path.display()));
                    steady = false;
                }
            }
            Source::Stdin => {
                writer.start(&name, options)?;
                copy(io::stdin().lock(), &mut writer, &mut buffer, || "cannot read standard input".to_owned())?;
            }
        }
    }
    writer.end(comment)?;
    Ok(steady)
}

fn copy(
    mut from: impl Read,
    writer: &mut impl Writer,
    buffer: &mut [u8],
    fail: impl FnOnce() -> String,
) -> Result<(), Error> {
    loop {
        match from.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(bytes) => writer.data(&buffer[..bytes])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(fail),
        }
    }
}
