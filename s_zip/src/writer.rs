//! The sync writer.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::core::{Core, EntryKind};
use crate::error::{Error, Result};
use crate::options::{Compression, EntryOptions, WriterOptions};

/// Writes an archive to a sink from front to back: no seeking, no temporary files, memory that does not grow with the data.
///
/// ```
/// use s_zip::StreamingZipWriter;
///
/// let mut writer = StreamingZipWriter::from_writer(Vec::new())?;
/// writer.start_entry("greeting.txt")?;
/// writer.write_data(b"hello")?;
/// let archive: Vec<u8> = writer.finish()?;
/// # Ok::<(), s_zip::Error>(())
/// ```
///
/// Dropped without [`finish`](Self::finish), it leaves an incomplete archive. Memory grows by some 100 bytes and the name per entry:
/// the directory at the end needs them.
#[must_use = "an archive is complete only after finish()"]
pub struct StreamingZipWriter<W: Write> {
    sink: W,
    core: Core,
}

impl StreamingZipWriter<File> {
    /// Creates the file `path`, or empties it, and writes with Deflate of level 6.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(path: impl AsRef<Path>) -> Result<Self> {
        Self::with_options(path, WriterOptions::new())
    }

    /// Like [`new`](Self::new) with a level from 0 (none) to 9 (best).
    ///
    /// # Errors
    /// If the level is out of range or the file cannot be created.
    pub fn with_compression(path: impl AsRef<Path>, level: u32) -> Result<Self> {
        Self::with_options(path, WriterOptions::new().compression(Compression::Deflate(level)))
    }

    /// Like [`new`](Self::new) with options.
    ///
    /// # Errors
    /// If a level is out of range or the file cannot be created.
    pub fn with_options(path: impl AsRef<Path>, options: WriterOptions) -> Result<Self> {
        let core = Core::new(options)?;
        let path = path.as_ref();
        let sink = File::create(path).map_err(|source| Error::Create { path: path.display().to_string(), source })?;
        Ok(StreamingZipWriter { sink, core })
    }
}

impl<W: Write> StreamingZipWriter<W> {
    /// Writes to any sink with Deflate of level 6. The sink needs no buffer of its own.
    ///
    /// # Errors
    /// None; the result is there for the other constructors' sake.
    pub fn from_writer(sink: W) -> Result<Self> {
        Self::from_writer_with_options(sink, WriterOptions::new())
    }

    /// Like [`from_writer`](Self::from_writer) with a level from 0 (none) to 9 (best).
    ///
    /// # Errors
    /// If the level is out of range.
    pub fn from_writer_with_compression(sink: W, level: u32) -> Result<Self> {
        Self::from_writer_with_options(sink, WriterOptions::new().compression(Compression::Deflate(level)))
    }

    /// Like [`from_writer`](Self::from_writer) with options.
    ///
    /// # Errors
    /// If a level is out of range.
    pub fn from_writer_with_options(sink: W, options: WriterOptions) -> Result<Self> {
        Ok(StreamingZipWriter { sink, core: Core::new(options)? })
    }

    /// Opens an entry, closing the one before. Data follows by [`write_data`](Self::write_data).
    ///
    /// # Errors
    /// If the name is empty, unsafe, too long or taken (nothing is written then), or the sink fails.
    pub fn start_entry(&mut self, name: &str) -> Result<()> {
        self.start_entry_with_options(name, EntryOptions::new())
    }

    /// Like [`start_entry`](Self::start_entry) with options of its own.
    ///
    /// # Errors
    /// As `start_entry`, and if an option is out of range.
    pub fn start_entry_with_options(&mut self, name: &str, options: EntryOptions) -> Result<()> {
        self.open(EntryKind::File, name, options)
    }

    /// Adds a directory. A slash at the end of the name may be left out.
    ///
    /// # Errors
    /// As [`start_entry`](Self::start_entry).
    pub fn add_directory(&mut self, name: &str) -> Result<()> {
        self.add_directory_with_options(name, EntryOptions::new())
    }

    /// Like [`add_directory`](Self::add_directory) with options of its own.
    ///
    /// # Errors
    /// As [`start_entry`](Self::start_entry).
    pub fn add_directory_with_options(&mut self, name: &str, options: EntryOptions) -> Result<()> {
        self.open(EntryKind::Directory, name, options)
    }

    /// Adds data to the open entry; how it is cut into calls makes no difference to the archive.
    ///
    /// # Errors
    /// If no entry is open, it grows beyond its announced size, or the sink fails.
    pub fn write_data(&mut self, mut data: &[u8]) -> Result<()> {
        loop {
            let taken = self.core.write(data)?;
            data = &data[taken..];
            self.drain()?;
            if data.is_empty() {
                return Ok(());
            }
        }
    }

    /// Sends everything so far to the sink, in a form that can be decompressed up to here, and flushes the sink. Costs compression.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn flush(&mut self) -> Result<()> {
        self.core.flush()?;
        while !self.core.ready().is_empty() {
            send_ready(&mut self.core, &mut self.sink)?;
        }
        self.guarded(Write::flush)
    }

    /// Sets the archive's comment of at most 65,535 bytes, written at its end.
    ///
    /// # Errors
    /// If it is longer.
    pub fn set_comment(&mut self, comment: impl Into<String>) -> Result<()> {
        self.core.set_comment(comment.into())
    }

    /// Completes the archive, flushes the sink and gives it back.
    ///
    /// # Errors
    /// If the last entry breaks its promise or the sink fails.
    pub fn finish(mut self) -> Result<W> {
        finish(&mut self.core, &mut self.sink)?;
        Ok(self.sink)
    }

    fn open(&mut self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<()> {
        let name = self.core.admit(kind, name, &options)?;
        self.core.open(kind, name, options)?;
        self.drain()
    }

    /// Empties the buffer as far as it must be.
    fn drain(&mut self) -> Result<()> {
        drain(&mut self.core, &mut self.sink)
    }

    fn guarded(&mut self, action: impl FnOnce(&mut W) -> io::Result<()>) -> Result<()> {
        self.core.poison();
        action(&mut self.sink).map_err(Error::Sink)?;
        self.core.heal();
        Ok(())
    }
}

/// Empties the core's buffer into `sink` as far as it must be.
pub(crate) fn drain(core: &mut Core, sink: &mut impl Write) -> Result<()> {
    while core.full()?.is_some() {
        send_ready(core, sink)?;
    }
    Ok(())
}

fn send_ready(core: &mut Core, sink: &mut impl Write) -> Result<()> {
    core.poison();
    let ready = core.ready();
    let bytes = ready.len();
    sink.write_all(ready).map_err(Error::Sink)?;
    core.take(bytes);
    core.heal();
    Ok(())
}

/// Completes the archive in `sink`.
pub(crate) fn finish(core: &mut Core, sink: &mut impl Write) -> Result<()> {
    core.finish()?;
    while let Some(bytes) = core.rest() {
        sink.write_all(bytes).map_err(Error::Sink)?;
        let written = bytes.len();
        core.take(written);
    }
    sink.flush().map_err(Error::Sink)
}

/// Data for the open entry, so that `io::copy` and `write!` work.
impl<W: Write> Write for StreamingZipWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_data(data).map_err(io::Error::other)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        StreamingZipWriter::flush(self).map_err(io::Error::other)
    }
}
