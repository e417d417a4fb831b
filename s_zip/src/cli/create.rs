//! `create`: moves files through one of the writers, a buffer at a time.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Error, bail};
use tokio::runtime::Runtime;

use super::args::Create;
use super::exit;
use super::out::Out;
use super::plan::{self, Item, Source};
use super::terminal::{check_stdin, complain};
use crate::core::WHOLE_BYTES;
use crate::reader::dir::{self, Dir};
use crate::{AsyncStreamingZipWriter, Compression, ParallelZipWriter, StreamingZipWriter};

const BUFFER_BYTES: usize = 256 * 1024;
/// Sizes from here on are announced, because readers of streams need to know.
const ANNOUNCED_BYTES: u64 = u32::MAX as u64;

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

pub fn create(request: &Create) -> Result<ExitCode, Error> {
    let compression = request.compression()?;
    if request.jobs.is_some() && !matches!(compression, Compression::Deflate(_)) {
        bail!("--jobs compresses with deflate only: leave out --jobs or --method");
    }
    let out = Out::new(&request.out)?;
    let items = plan::plan(request, &out)?;
    let (sink, unfinished) = out.open()?;
    let writer = Writer::new(request, compression, sink)?;
    let (buffer, keep_times) = (Vec::new(), request.keep_times);
    // A folder is recorded without reading anything.
    let found = items.iter().filter(|item| !matches!(item.source, Source::Folder(_))).count();
    let mut packer = Packer { writer, folder: None, buffer, keep_times, left_out: 0, complete: true };
    items.into_iter().try_for_each(|item| packer.pack(item))?;
    if found > 0 && packer.left_out == found {
        bail!("nothing could be read: there is no archive");
    }
    let closed = dir::close(packer.writer.finish()?);
    closed.with_context(|| format!("cannot write all of {}", request.out.display()))?;
    unfinished.complete()?;
    Ok(exit(!packer.complete))
}

impl Writer {
    fn new(request: &Create, compression: Compression, sink: File) -> Result<Self, Error> {
        Ok(match (request.jobs, compression) {
            _ if request.run_async => {
                let sink = tokio::fs::File::from_std(sink);
                let writer = AsyncStreamingZipWriter::from_writer_with_compression(sink, compression)?;
                Writer::Async(writer, Runtime::new().context("cannot start the async runtime")?)
            }
            (Some(_), Compression::Deflate(level)) => {
                Writer::Parallel(ParallelZipWriter::from_writer(sink, level, request.jobs)?)
            }
            _ => Writer::Sync(StreamingZipWriter::from_writer_with_compression(sink, compression)?),
        })
    }

    fn finish(self) -> Result<File, crate::Error> {
        match self {
            Writer::Sync(writer) => writer.finish(),
            Writer::Parallel(writer) => writer.finish(),
            Writer::Async(writer, runtime) => runtime.block_on(async { Ok(writer.finish().await?.into_std().await) }),
        }
    }
}

struct Packer {
    writer: Writer,
    /// The folder of the last file, because the next file is often in it.
    folder: Option<(PathBuf, Dir)>,
    buffer: Vec<u8>,
    keep_times: bool,
    left_out: usize,
    /// All files are in the archive as they are in the folder.
    complete: bool,
}

impl Packer {
    fn pack(&mut self, Item { name, source }: Item) -> Result<(), Error> {
        match source {
            Source::Folder(options) => call!(&mut self.writer, add_directory_with_options(&name, options))?,
            Source::File { root, path } => match self.begin(&root, &path) {
                Ok((file, before)) => self.file(&name, &path, &file, &before)?,
                Err(error) => self.leave_out(&path, &error),
            },
            Source::Lost(path, error) => self.leave_out(&path, &error),
            Source::Stdin => {
                check_stdin().context("cannot read standard input")?;
                call!(&mut self.writer, start_entry(&name))?;
                self.copy(&mut io::stdin().lock())?.context("cannot read standard input")?;
            }
        }
        Ok(())
    }

    /// Packs a file as it is now, whatever it was when it was found, and no more of it than it has at first: if the archive itself is that file, by way
    /// of a pipe, it grows as fast as it is read. The buffer has its start.
    fn file(&mut self, name: &str, path: &Path, file: &File, before: &Metadata) -> Result<(), Error> {
        let path = path.display();
        let mut options = plan::options(before, self.keep_times);
        if self.buffer.len() <= WHOLE_BYTES {
            call!(&mut self.writer, add_entry_with_options(name, &self.buffer, options))?;
        } else {
            let announced = Some(before.len()).filter(|size| *size >= ANNOUNCED_BYTES);
            if let Some(size) = announced {
                options = options.size(size);
            }
            // Files of /proc have no size.
            let most = if before.len() == 0 { u64::MAX } else { before.len() };
            let mut rest = file.take(most.saturating_sub(self.buffer.len() as u64));
            call!(&mut self.writer, start_entry_with_options(name, options))?;
            call!(&mut self.writer, write_data(&self.buffer))?;
            if let Err(error) = self.copy(&mut rest)? {
                self.tell(&format!("cannot read all of {path}: {error}: pack it again"));
            }
            if announced.is_some() {
                // Zeros stand for what was announced and is not there any more.
                self.copy(&mut io::repeat(0).take(rest.limit()))??;
            }
        }
        let state = |found: &Metadata| (found.len(), found.modified().ok());
        if !file.metadata().is_ok_and(|after| state(&after) == state(before)) {
            self.tell(&format!("{path} changed while it was read: pack it again"));
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &Path, error: &io::Error) {
        self.left_out += 1;
        self.tell(&format!("cannot read {}: {error}: left out", path.display()));
    }

    fn tell(&mut self, complaint: &str) {
        complain(complaint);
        self.complete = false;
    }

    /// Opens a file and reads its start to the buffer: what fails so early leaves nothing in the archive.
    fn begin(&mut self, root: &Path, path: &Path) -> io::Result<(File, Metadata)> {
        let file = self.open(root, path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is no longer a file"));
        }
        self.buffer.clear();
        (&file).take(WHOLE_BYTES as u64 + 1).read_to_end(&mut self.buffer)?;
        Ok((file, metadata))
    }

    /// Opens a file where it was found. A link that took the place of the file or a folder meanwhile is not followed.
    fn open(&mut self, root: &Path, path: &Path) -> io::Result<File> {
        let below = path.strip_prefix(root).unwrap_or(path);
        let (Some(above), Some(folder), Some(name)) = (path.parent(), below.parent(), below.file_name()) else {
            // It was typed itself.
            return Dir::HERE.read(path);
        };
        let dir = match self.folder.take() {
            Some((last, dir)) if last == above => dir,
            _ => folder.iter().try_fold(Dir::HERE.enter(root)?, |dir, part| dir.enter(part))?,
        };
        self.folder.insert((above.to_owned(), dir)).1.read(name)
    }

    /// Writes all of `from` by way of the buffer; the inner result is that of reading.
    fn copy(&mut self, from: &mut impl Read) -> Result<io::Result<()>, Error> {
        loop {
            self.buffer.clear();
            let result = from.take(BUFFER_BYTES as u64).read_to_end(&mut self.buffer);
            call!(&mut self.writer, write_data(&self.buffer))?;
            match result {
                Ok(BUFFER_BYTES) => {}
                result => return Ok(result.map(drop)),
            }
        }
    }
}
