//! `create`: moves files through one of the writers, a buffer at a time.

use std::fs::File;
use std::io::{self, ErrorKind, Read};

use anyhow::{Context, Error};

use s_zip::{EntryOptions, StreamingZipWriter, WriterOptions};

use super::out::Out;
use super::plan::{self, Item, Source};
use crate::cli::{Create, Engine};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Makes the archive.
pub fn create(request: &Create) -> Result<(), Error> {
    let out = Out::new(&request.out)?;
    let items = plan::plan(request, &out)?;
    let opened = out.open()?;
    let sink = opened.file.try_clone().context("cannot write the archive")?;
    let options = WriterOptions::new().compression(request.compression);
    match request.engine {
        Engine::Sync => pack(StreamingZipWriter::from_writer_with_options(sink, options)?, items, &request.comment)?,
        #[cfg(feature = "parallel")]
        Engine::Parallel { jobs, level } => {
            let options = s_zip::ParallelOptions::new().jobs(jobs).level(level);
            pack(s_zip::ParallelZipWriter::from_writer(sink, options)?, items, &request.comment)?;
        }
        #[cfg(feature = "async")]
        Engine::Async(policy) => {
            let sink = tokio::fs::File::from_std(sink);
            let writer = s_zip::AsyncStreamingZipWriter::from_writer_with_options(sink, options)?;
            let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
            runtime.block_on(pack_async(writer.compression_policy(policy), items, &request.comment))?;
        }
    }
    opened.complete()
}

/// The calls that the two blocking writers share.
trait Writer {
    fn start(&mut self, name: &str, options: EntryOptions) -> s_zip::Result<()>;
    fn folder(&mut self, name: &str, options: EntryOptions) -> s_zip::Result<()>;
    fn data(&mut self, data: &[u8]) -> s_zip::Result<()>;
    fn end(self, comment: &str) -> s_zip::Result<()>;
}

macro_rules! writer {
    ($writer:ty) => {
        impl Writer for $writer {
            fn start(&mut self, name: &str, options: EntryOptions) -> s_zip::Result<()> {
                self.start_entry_with_options(name, options)
            }

            fn folder(&mut self, name: &str, options: EntryOptions) -> s_zip::Result<()> {
                self.add_directory_with_options(name, options)
            }

            fn data(&mut self, data: &[u8]) -> s_zip::Result<()> {
                self.write_data(data)
            }

            fn end(mut self, comment: &str) -> s_zip::Result<()> {
                self.set_comment(comment)?;
                self.finish().map(drop)
            }
        }
    };
}

writer!(StreamingZipWriter<File>);
#[cfg(feature = "parallel")]
writer!(s_zip::ParallelZipWriter<File>);

fn pack(mut writer: impl Writer, items: Vec<Item>, comment: &str) -> Result<(), Error> {
    let mut buffer = vec![0; BUFFER_BYTES];
    for Item { name, source, options } in items {
        match source {
            Source::Folder => writer.folder(&name, options)?,
            Source::File(path, most) => {
                let fail = || format!("cannot read {}", path.display());
                let file = File::open(&path).with_context(fail)?;
                writer.start(&name, options)?;
                copy(file.take(most), &mut writer, &mut buffer, fail)?;
            }
            Source::Stdin => {
                writer.start(&name, options)?;
                copy(io::stdin().lock(), &mut writer, &mut buffer, || "cannot read standard input".to_owned())?;
            }
        }
    }
    Ok(writer.end(comment)?)
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

#[cfg(feature = "async")]
type AsyncWriter = s_zip::AsyncStreamingZipWriter<tokio::fs::File>;

#[cfg(feature = "async")]
async fn pack_async(mut writer: AsyncWriter, items: Vec<Item>, comment: &str) -> Result<(), Error> {
    use tokio::io::AsyncReadExt;

    let mut buffer = vec![0; BUFFER_BYTES];
    for Item { name, source, options } in items {
        match source {
            Source::Folder => writer.add_directory_with_options(&name, options).await?,
            Source::File(path, most) => {
                let fail = || format!("cannot read {}", path.display());
                let file = tokio::fs::File::open(&path).await.with_context(fail)?;
                writer.start_entry_with_options(&name, options).await?;
                copy_async(file.take(most), &mut writer, &mut buffer, fail).await?;
            }
            Source::Stdin => {
                writer.start_entry_with_options(&name, options).await?;
                let fail = || "cannot read standard input".to_owned();
                copy_async(tokio::io::stdin(), &mut writer, &mut buffer, fail).await?;
            }
        }
    }
    writer.set_comment(comment)?;
    writer.finish().await?;
    Ok(())
}

#[cfg(feature = "async")]
async fn copy_async(
    mut from: impl tokio::io::AsyncRead + Unpin,
    writer: &mut AsyncWriter,
    buffer: &mut [u8],
    fail: impl FnOnce() -> String,
) -> Result<(), Error> {
    use tokio::io::AsyncReadExt;

    loop {
        match from.read(buffer).await {
            Ok(0) => return Ok(()),
            Ok(bytes) => writer.write_data(&buffer[..bytes]).await?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).with_context(fail),
        }
    }
}
