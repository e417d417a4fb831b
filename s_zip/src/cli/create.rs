//! `create`: moves files through one of the writers, a buffer at a time.

use std::fs::File;
use std::io::{self, Read};
use std::process::ExitCode;

use anyhow::{Context, Error, bail};
use tokio::runtime::Runtime;

use super::args::Create;
use super::exit;
use super::out::Out;
use super::plan::{self, Item, Source};
use super::terminal::complain;
use crate::core::WHOLE_BYTES;
use crate::{
    AsyncStreamingZipWriter, Compression, ParallelOptions, ParallelZipWriter, StreamingZipWriter, WriterOptions,
};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Makes the archive.
pub fn create(request: &Create) -> Result<ExitCode, Error> {
    let compression = request.compression()?;
    if request.jobs.is_some() && !matches!(compression, Compression::Deflate(_)) {
        bail!("--jobs compresses with deflate only: leave out --jobs or --method");
    }
    let out = Out::new(&request.out)?;
    let items = plan::plan(request, &out)?;
    let (sink, unfinished) = out.open()?;
    let steady = pack(Writer::new(request, compression, sink)?, items)?;
    unfinished.complete()?;
    Ok(exit(!steady))
}

/// The writer that was asked for.
enum Writer {
    Sync(StreamingZipWriter<File>),
    Parallel(ParallelZipWriter<File>),
    /// With what waits for its futures.
    Async(AsyncStreamingZipWriter<tokio::fs::File>, Runtime),
}

/// Makes a call to a [`Writer`] and waits for it.
macro_rules! call {
    ($writer:expr, $call:ident($($argument:expr),*)) => {
        match $writer {
            Writer::Sync(writer) => writer.$call($($argument),*).map(drop),
            Writer::Parallel(writer) => writer.$call($($argument),*).map(drop),
            Writer::Async(writer, runtime) => runtime.block_on(writer.$call($($argument),*)).map(drop),
        }
    };
}

impl Writer {
    fn new(request: &Create, compression: Compression, sink: File) -> Result<Self, Error> {
        let options = WriterOptions::new().compression(compression);
        if request.run_async {
            let sink = tokio::fs::File::from_std(sink);
            let mut writer = AsyncStreamingZipWriter::from_writer_with_options(sink, options)?;
            writer.set_comment(&*request.comment)?;
            let runtime = Runtime::new().context("cannot start the async runtime")?;
            return Ok(Writer::Async(writer.compression_policy(request.policy), runtime));
        }
        if let (Some(jobs), Compression::Deflate(level)) = (request.jobs, compression) {
            let mut writer = ParallelZipWriter::from_writer(sink, ParallelOptions::new().jobs(jobs).level(level))?;
            writer.set_comment(&*request.comment)?;
            return Ok(Writer::Parallel(writer));
        }
        let mut writer = StreamingZipWriter::from_writer_with_options(sink, options)?;
        writer.set_comment(&*request.comment)?;
        Ok(Writer::Sync(writer))
    }
}

/// Writes everything, and says whether no file changed meanwhile.
fn pack(mut writer: Writer, items: Vec<Item>) -> Result<bool, Error> {
    let (mut buffer, mut steady) = (Vec::new(), true);
    for Item { name, source, options } in items {
        match source {
            Source::Folder => call!(&mut writer, add_directory_with_options(&name, options))?,
            Source::File(path, most) => {
                let fail = || format!("cannot read {}", path.display());
                let file = File::open(&path).with_context(fail)?;
                let state = || file.metadata().map(|found| (found.len(), found.modified().ok())).with_context(fail);
                let before = state()?;
                let mut from = (&file).take(most);
                buffer.clear();
                from.by_ref().take(WHOLE_BYTES as u64 + 1).read_to_end(&mut buffer).with_context(fail)?;
                if buffer.len() <= WHOLE_BYTES {
                    call!(&mut writer, add_entry_with_options(&name, &buffer, options))?;
                } else {
                    call!(&mut writer, start_entry_with_options(&name, options))?;
                    call!(&mut writer, write_data(&buffer))?;
                    copy(from, &mut writer, &mut buffer, fail)?;
                }
                if state()? != before {
                    complain(&format!("{} changed while it was read: pack it again", path.display()));
                    steady = false;
                }
            }
            Source::Stdin => {
                call!(&mut writer, start_entry_with_options(&name, options))?;
                copy(io::stdin().lock(), &mut writer, &mut buffer, || "cannot read standard input".to_owned())?;
            }
        }
    }
    call!(writer, finish())?;
    Ok(steady)
}

/// Writes the rest of `from`, by way of `buffer`.
fn copy(
    mut from: impl Read,
    writer: &mut Writer,
    buffer: &mut Vec<u8>,
    fail: impl Fn() -> String,
) -> Result<(), Error> {
    loop {
        buffer.clear();
        let read = from.by_ref().take(BUFFER_BYTES as u64).read_to_end(buffer).with_context(&fail)?;
        call!(&mut *writer, write_data(buffer))?;
        if read < BUFFER_BYTES {
            return Ok(());
        }
    }
}
