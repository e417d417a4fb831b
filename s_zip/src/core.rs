//! The writer without input and output: calls go in, bytes come out, and both writers move them.
//!
//! The bytes of an archive depend only on the calls, never on how data was cut into them: data is compressed in blocks of
//! [`BLOCK_BYTES`], counted from the start of its entry, and how much room a compressor meets makes no difference to it.

use std::collections::HashSet;

use crc32fast::Hasher;

use crate::buffer::Buffer;
use crate::encoder::{BLOCK_BYTES, Encoder, Ending};
use crate::format::{Header, LIMIT_32, METHOD_DEFLATE, METHOD_STORED, put_end};
use crate::options::Promise;
use crate::time::{DOS_EPOCH, DosDateTime};
use crate::{Compression, EntryOptions, Error, Result, name};

/// Bytes that are gathered before the sink is written to. An entry that fits has its sizes in its local header.
const BUFFER_BYTES: usize = 128 * 1024;
/// Up to so many bytes, an entry that comes whole is made in memory.
pub(crate) const WHOLE_BYTES: usize = 4 * 1024 * 1024;
const REGULAR_FILE: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

/// Everything of a writer but its sink.
#[derive(Default)]
pub(crate) struct Core {
    /// How entries are compressed that do not say.
    pub compression: Compression,
    /// Bytes on their way to the sink.
    out: Buffer,
    /// Bytes that went there.
    taken: u64,
    /// Data of the open entry that does not fill a block yet.
    staged: Vec<u8>,
    encoder: Encoder,
    open: Option<Open>,
    /// Headers of the entries that are complete.
    central: Vec<u8>,
    entries: u64,
    names: HashSet<Box<str>>,
    comment: String,
    /// The directory, once it is complete and does not fit the buffer.
    last: Buffer,
    /// Where a header is made before it is written over its first form.
    scratch: Vec<u8>,
    /// What the sink holds may be anything: set before each write, and again after it if all is well.
    pub poisoned: bool,
}

/// What an entry is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    /// A file whose data comes by [`write_piece`](Core::write_piece), as one Deflate stream.
    Pieces,
    Directory,
}

/// An entry that may be opened, with its name as the archive has it.
pub(crate) struct Admitted {
    kind: EntryKind,
    pub name: Box<str>,
    pub options: EntryOptions,
}

/// Some data of an entry, compressed elsewhere.
pub(crate) struct Piece {
    pub bytes: Buffer,
    data_bytes: u64,
    crc32: u32,
}

impl Piece {
    /// `bytes` are what became of `data`.
    pub fn new(data: &[u8], bytes: Buffer) -> Self {
        Piece { bytes, data_bytes: data.len() as u64, crc32: crc32fast::hash(data) }
    }

    /// Adds its data to that before it.
    pub fn count(&self, bytes: &mut u64, crc: &mut Hasher) {
        *bytes += self.data_bytes;
        crc.combine(&Hasher::new_with_initial_len(self.crc32, self.data_bytes));
    }
}

/// The entry that data goes to.
struct Open {
    header: Header,
    /// Where the header starts in `out`, until it is final.
    header_at: usize,
    /// The header can change no more: some of it may have gone to the sink.
    committed: bool,
    kind: EntryKind,
    crc: Hasher,
    promise: Promise,
}

impl Core {
    pub fn new(compression: Compression) -> Result<Self> {
        compression.check()?;
        Ok(Core { compression, ..Core::default() })
    }

    /// Fails if an earlier call left the archive broken.
    pub fn check(&self) -> Result<()> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(()) }
    }

    /// Checks all that can be wrong with a new entry and takes its name; a refusal changes nothing.
    pub fn admit(&mut self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<Admitted> {
        self.check()?;
        let (directory, slash) = (kind == EntryKind::Directory, name.ends_with('/'));
        if slash && !directory && name.len() > 1 {
            return Err(Error::DirectoryName { name: name.to_owned() });
        }
        let name: Box<str> = if directory && !slash { format!("{name}/").into() } else { name.into() };
        name::check(&name).map_err(|fault| Error::BadName { name: name::shown(&name), fault })?;
        check_text(&name)?;
        check_comment(&options.comment)?;
        let compression = options.compression.unwrap_or(self.compression);
        compression.check()?;
        if kind == EntryKind::Pieces && compression != self.compression {
            return Err(Error::OneCompression);
        }
        if !self.names.insert(name.trim_end_matches('/').into()) {
            return Err(Error::DuplicateName { name: name.into() });
        }
        Ok(Admitted { kind, name, options })
    }

    /// Closes the open entry and opens another.
    pub fn open(&mut self, Admitted { kind, name, options }: Admitted) -> Result<()> {
        self.check()?;
        self.close()?;
        let compression = options.compression.unwrap_or(self.compression);
        let directory = kind == EntryKind::Directory;
        let modified = options.modified.unwrap_or(DOS_EPOCH);
        let dos = DosDateTime::from_unix(modified);
        let mode = options.unix_mode.unwrap_or(if directory { 0o755 } else { 0o644 });
        let stored = kind == EntryKind::File && compression == Compression::None;
        let promise = options.promise;
        let announced = promise.size.zip(promise.crc32).filter(|_| stored);
        let mut header = Header {
            name,
            comment: options.comment.into_boxed_str(),
            method: if directory { METHOD_STORED } else { compression.method() },
            dos_time: dos.time,
            dos_date: dos.date,
            modified: options.modified.and_then(|seconds| i32::try_from(seconds).ok()),
            unix_mode: mode | if directory { DIRECTORY } else { REGULAR_FILE },
            offset: self.taken + self.out.len() as u64,
            zip64_local: promise.size.is_some_and(|size| size > LIMIT_32),
            ..Header::default()
        };
        if let Some((size, crc32)) = announced {
            (header.compressed, header.uncompressed, header.crc32) = (size, size, crc32);
            header.zip64_local = size >= LIMIT_32;
        }
        let header_at = self.out.len();
        self.put(|out| header.put_local(out));
        (header.compressed, header.uncompressed) = (0, 0);
        self.encoder.begin(compression);
        self.open = Some(Open { header, header_at, committed: announced.is_some(), kind, crc: Hasher::new(), promise });
        Ok(())
    }

    /// Whether an entry is open that takes data.
    pub fn takes_data(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.kind == EntryKind::File)
    }

    /// Takes some of `data`, one block at most, and says how much. Afterwards the buffer may be [full](Self::full).
    pub fn write(&mut self, data: &[u8]) -> Result<usize> {
        self.check()?;
        let Core { open: Some(open @ Open { kind: EntryKind::File, .. }), staged, encoder, out, .. } = self else {
            return Err(Error::NoEntry);
        };
        let taken = stage(staged, data, |block| open.compress(encoder, block, out, Ending::Open));
        let taken = taken.inspect_err(|_| self.poisoned = true)?;
        // Now, so that it does not matter when the buffer is emptied.
        self.commit_if_large()?;
        Ok(taken)
    }

    /// Adds a file with all its data: as nothing is sent meanwhile, its sizes are known in time.
    pub fn add(&mut self, file: Admitted, data: &[u8]) -> Result<()> {
        self.open(file)?;
        if let Some(Open { header, crc, .. }) = &mut self.open {
            let before = self.out.len();
            let result = self.encoder.whole(data, &mut self.out);
            header.compressed = (self.out.len() - before) as u64;
            header.uncompressed = data.len() as u64;
            crc.update(data);
            result.inspect_err(|_| self.poisoned = true)?;
        }
        self.close()
    }

    pub fn write_piece(&mut self, piece: &Piece) -> Result<()> {
        self.check()?;
        let Some(open) = &mut self.open else { return Err(Error::NoEntry) };
        piece.count(&mut open.header.uncompressed, &mut open.crc);
        open.header.compressed += piece.bytes.len() as u64;
        self.out.extend_from_slice(piece.bytes.as_slice());
        let promised = open.promise.check(&open.header.name, open.header.uncompressed, None);
        promised.inspect_err(|_| self.poisoned = true)
    }

    /// Makes everything written so far readable from what the sink gets next.
    pub fn flush(&mut self) -> Result<()> {
        self.check()?;
        if self.takes_data() {
            self.commit()?;
            return self.step_staged(Ending::Flush);
        }
        self.close()
    }

    /// The bytes that must go to the sink before more is written, if there are any.
    pub fn full(&mut self) -> Result<Option<&[u8]>> {
        if self.out.len() < BUFFER_BYTES {
            return Ok(None);
        }
        self.commit_if_large()?;
        Ok(Some(self.ready()))
    }

    /// The bytes that may go to the sink.
    pub fn ready(&self) -> &[u8] {
        let end = match &self.open {
            Some(open) if !open.committed => open.header_at,
            _ => self.out.len(),
        };
        &self.out.as_slice()[..end]
    }

    /// The first `bytes` of the ready ones went to the sink.
    pub fn take(&mut self, bytes: usize) {
        self.out.remove_front(bytes);
        self.taken += bytes as u64;
        if self.out.len() == 0 && self.last.len() > 0 {
            self.out = std::mem::take(&mut self.last);
        }
        if let Some(open) = &mut self.open
            && !open.committed
        {
            open.header_at -= bytes;
        }
    }

    pub fn set_comment(&mut self, comment: String) -> Result<()> {
        check_comment(&comment)?;
        self.comment = comment;
        Ok(())
    }

    /// Closes the open entry and adds the directory: everything may go to the sink now.
    pub fn finish(&mut self) -> Result<()> {
        self.check()?;
        self.close()?;
        let directory_offset = self.taken + self.out.len() as u64;
        let mut directory = std::mem::take(&mut self.central);
        let directory_bytes = directory.len() as u64;
        put_end(&mut directory, self.entries, directory_offset, directory_bytes, &self.comment);
        if self.out.len() + directory.len() <= BUFFER_BYTES {
            self.out.extend_from_slice(&directory);
        } else {
            self.last = Buffer::from(directory);
            self.take(0);
        }
        Ok(())
    }

    fn step_staged(&mut self, ending: Ending) -> Result<()> {
        let Core { open: Some(open), staged, encoder, out, .. } = self else { return Ok(()) };
        let result = open.compress(encoder, staged, out, ending);
        staged.clear();
        result.inspect_err(|_| self.poisoned = true)
    }

    /// Commits the open entry if it fills the buffer, whatever stands before it.
    fn commit_if_large(&mut self) -> Result<()> {
        let bytes = self.out.len();
        let large = |open: &Open| !open.committed && bytes - open.header_at >= BUFFER_BYTES;
        if self.open.as_ref().is_some_and(large) { self.commit() } else { Ok(()) }
    }

    /// Makes the open entry's header final before its data is complete: sizes and CRC will follow the data.
    fn commit(&mut self) -> Result<()> {
        let Core { open: Some(open @ Open { committed: false, .. }), encoder, out, scratch, .. } = self else {
            return Ok(());
        };
        open.committed = true;
        open.header.descriptor = true;
        let start = open.header_at + open.header.local_len();
        let mut stored = Vec::new();
        if open.header.method == METHOD_STORED && open.kind == EntryKind::File {
            // A stored entry must not have a descriptor: its data moves into stored blocks of Deflate.
            open.header.method = METHOD_DEFLATE;
            encoder.begin(Compression::Deflate(0));
            stored = out.as_slice()[start..].to_vec();
            out.truncate(start);
        }
        open.rewrite_header(out, scratch);
        let result = stored.chunks(BLOCK_BYTES).try_for_each(|block| encoder.step(block, out, Ending::Open));
        open.header.compressed = (out.len() - start) as u64;
        result.inspect_err(|_| self.poisoned = true)
    }

    fn put(&mut self, record: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        record(&mut self.scratch);
        self.out.extend_from_slice(&self.scratch);
    }

    /// Completes the open entry, if there is one, and enters it into the central directory.
    pub fn close(&mut self) -> Result<()> {
        if self.takes_data() && (self.encoder.begun || !self.staged.is_empty()) {
            self.step_staged(Ending::Finish)?;
        }
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.header.crc32 = open.crc.clone().finalize();
        let promised = open.promise.check(&open.header.name, open.header.uncompressed, Some(open.header.crc32));
        promised.inspect_err(|_| self.poisoned = true)?;
        if !open.committed {
            if open.header.uncompressed == 0 {
                // Nothing at all takes less room than the two bytes of an empty Deflate stream.
                open.header.method = METHOD_STORED;
                open.header.compressed = 0;
                self.out.truncate(open.header_at + open.header.local_len());
            }
            open.rewrite_header(&mut self.out, &mut self.scratch);
        }
        if open.header.descriptor {
            self.put(|out| open.header.put_descriptor(out));
        }
        open.header.put_central(&mut self.central);
        self.entries += 1;
        Ok(())
    }
}

impl Open {
    fn compress(&mut self, encoder: &mut Encoder, block: &[u8], out: &mut Buffer, ending: Ending) -> Result<()> {
        self.crc.update(block);
        self.header.uncompressed += block.len() as u64;
        self.promise.check(&self.header.name, self.header.uncompressed, None)?;
        let before = out.len();
        let result = encoder.step(block, out, ending);
        self.header.compressed += (out.len() - before) as u64;
        result
    }

    fn rewrite_header(&self, out: &mut Buffer, scratch: &mut Vec<u8>) {
        scratch.clear();
        self.header.put_local(scratch);
        out.as_mut_slice()[self.header_at..][..scratch.len()].copy_from_slice(scratch);
    }
}

/// Takes some of `data`, one block at most, and says how much; `step` gets the block that this completes. One that lies in `data` whole is taken
/// from there; only odd ends are copied to `staged`.
pub(crate) fn stage(staged: &mut Vec<u8>, data: &[u8], step: impl FnOnce(&[u8]) -> Result<()>) -> Result<usize> {
    if staged.is_empty() && data.len() >= BLOCK_BYTES {
        return step(&data[..BLOCK_BYTES]).map(|()| BLOCK_BYTES);
    }
    let taken = data.len().min(BLOCK_BYTES - staged.len());
    staged.extend_from_slice(&data[..taken]);
    if staged.len() == BLOCK_BYTES {
        step(staged)?;
        staged.clear();
    }
    Ok(taken)
}

/// Names and comments stand near the end, where readers look for its signature.
fn check_text(text: &str) -> Result<()> {
    if text.contains("PK\x05\x06") { Err(Error::EndInText) } else { Ok(()) }
}

fn check_comment(comment: &str) -> Result<()> {
    if comment.len() > usize::from(u16::MAX) {
        return Err(Error::LongComment { bytes: comment.len() });
    }
    check_text(comment)
}
