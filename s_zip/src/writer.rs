//! The sync writer.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::calls::{constructors, entry_calls};
use crate::core::{Core, EntryKind, WHOLE_BYTES};
use crate::{Compression, EntryOptions, Error, Result};

/// Writes an archive to a sink from front to back: no seeking, no temporary files, memory that does not grow with the data.
///
/// Dropped without [`finish`](Self::finish), it leaves an incomplete archive. Memory grows by some 100 bytes and the name per entry:
/// the directory at the end needs them.
#[must_use = "an archive is complete only after finish()"]
pub struct StreamingZipWriter<W: Write> {
    sink: W,
    core: Core,
}

constructors!(StreamingZipWriter<W: Write>);

impl<W: Write> StreamingZipWriter<W> {
    fn from_parts(sink: W, core: Core) -> Self {
        StreamingZipWriter { sink, core }
    }

    entry_calls!(EntryKind::File);

    fn add(&mut self, name: &str, data: &[u8], options: EntryOptions) -> Result<()> {
        let file = self.core.admit(EntryKind::File, name, options)?;
        if data.len() <= WHOLE_BYTES {
            self.core.add(file, data)?;
        } else {
            self.core.open(file)?;
            self.write_data(data)?;
            self.core.close()?;
        }
        drain(&mut self.core, &mut self.sink)
    }

    /// Adds data to the open entry; how it is cut into calls makes no difference to the archive.
    /// Fails if no entry is open, it grows beyond its announced size, or the sink fails.
    pub fn write_data(&mut self, mut data: &[u8]) -> Result<()> {
        loop {
            let taken = self.core.write(data)?;
            data = &data[taken..];
            drain(&mut self.core, &mut self.sink)?;
            if data.is_empty() {
                return Ok(());
            }
        }
    }

    /// Sends everything so far to the sink, in a form that can be decompressed up to here, and flushes it. Costs compression. Fails if the sink does.
    pub fn flush(&mut self) -> Result<()> {
        self.core.flush()?;
        send_all(&mut self.core, &mut self.sink)
    }

    /// Completes the archive, flushes the sink and gives it back. Fails if the last entry breaks its promise or the sink fails.
    pub fn finish(mut self) -> Result<W> {
        self.core.finish()?;
        send_all(&mut self.core, &mut self.sink)?;
        Ok(self.sink)
    }

    fn core(&mut self) -> Result<&mut Core> {
        self.core.check().map(|()| &mut self.core)
    }

    fn open(&mut self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<()> {
        let entry = self.core.admit(kind, name, options)?;
        self.core.open(entry)?;
        drain(&mut self.core, &mut self.sink)
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
    core.poisoned = true;
    let ready = core.ready();
    let bytes = ready.len();
    sink.write_all(ready).map_err(Error::Sink)?;
    core.take(bytes);
    core.poisoned = false;
    Ok(())
}

/// Empties the core's buffer into `sink` and flushes that.
pub(crate) fn send_all(core: &mut Core, sink: &mut impl Write) -> Result<()> {
    while !core.ready().is_empty() {
        send_ready(core, sink)?;
    }
    core.poisoned = true;
    sink.flush().map_err(Error::Sink)?;
    core.poisoned = false;
    Ok(())
}

/// Data for the open entry, so that `io::copy` and `write!` work.
impl<W: Write> Write for StreamingZipWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_data(data)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(StreamingZipWriter::flush(self)?)
    }
}
