//! Entries that are written at the same time: each compressed on the thread that writes it, joined in the order in which they were started.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crc32fast::Hasher;

use crate::buffer::Buffer;
use crate::calls::whole_entry_calls;
use crate::core::{Admitted, Core, EntryKind, Piece, WHOLE_BYTES, stage};
use crate::encoder::{Encoder, Ending};
use crate::{Compression, EntryOptions, Error, Result, writer};

/// Compressed data that may wait for its turn unless another budget is given, in bytes.
const BUDGET_BYTES: usize = 64 * 1024 * 1024;
/// Compressors that are kept for entries to come, some 300 KiB each.
const SPARE: usize = 16;

/// Writes an archive to a sink from front to back, of entries that arrive at the same time: downloads, rows of several queries, files that
/// threads read. Each thread compresses what it writes. The archive is, byte for byte, the one that [`StreamingZipWriter`](crate::StreamingZipWriter)
/// makes of the same entries, in the order in which they were started here.
///
/// The first entry that is not complete goes to the sink as it grows. The compressed data of those behind it waits, up to a
/// [budget](Self::budget_bytes), and who writes more then waits, too: an entry must not need a later one to go on. In async code an entry
/// belongs on a thread of its own (`tokio::task::spawn_blocking`).
#[must_use = "an archive is complete only after finish()"]
pub struct ConcurrentZipWriter<W: Write> {
    shared: Arc<Shared<W>>,
}

/// An entry of a [`ConcurrentZipWriter`]: data goes in by [`Write`]. Flushing does nothing, because other entries may stand before it.
///
/// Dropped without [`finish`](Self::finish), it leaves the archive incomplete.
#[must_use = "an entry is complete only after finish()"]
pub struct EntryWriter<W: Write> {
    shared: Arc<Shared<W>>,
    number: usize,
    encoder: Encoder,
    /// Data that does not fill a block yet.
    staged: Vec<u8>,
    finished: bool,
}

struct Shared<W> {
    state: Mutex<State<W>>,
    /// The first place went on, or nothing goes on any more.
    moved: Condvar,
}

struct State<W> {
    core: Core,
    /// Until the archive is complete.
    sink: Option<W>,
    /// What was started and is not complete in the core, in order.
    places: VecDeque<Place>,
    /// The number of the first place.
    first: usize,
    /// Bytes of memory that pieces hold in all places.
    waiting: usize,
    budget_bytes: usize,
    spare: Vec<Encoder>,
}

/// Where an entry stands in the archive.
struct Place {
    /// How the core is to open it, until it has.
    opening: Option<Admitted>,
    /// How much data came before the core had opened it, and its CRC.
    data: (u64, Hasher),
    pieces: VecDeque<Piece>,
    complete: bool,
}

impl<W: Write> ConcurrentZipWriter<W> {
    /// Writes to any sink with Deflate of level 6. The sink needs no buffer of its own.
    pub fn from_writer(sink: W) -> Self {
        Self::from_parts(sink, Core::default())
    }

    /// Like [`from_writer`](Self::from_writer) with a level from 0 (none) to 9 (best) for all entries. Fails if it is out of range.
    pub fn from_writer_with_compression(sink: W, level: u32) -> Result<Self> {
        Ok(Self::from_parts(sink, Core::new(Compression::Deflate(level))?))
    }

    fn from_parts(sink: W, core: Core) -> Self {
        let state = State {
            core,
            sink: Some(sink),
            places: VecDeque::new(),
            first: 0,
            waiting: 0,
            budget_bytes: BUDGET_BYTES,
            spare: Vec::new(),
        };
        ConcurrentZipWriter { shared: Arc::new(Shared { state: Mutex::new(state), moved: Condvar::new() }) }
    }

    /// Bytes of memory for compressed data that waits for its turn: 64 MiB unless set. Each entry may exceed it by what comes of one block
    /// of 64 KiB, or, added whole, of all its data (up to 4 MiB), and by its compressor of some 300 KiB.
    pub fn budget_bytes(self, bytes: usize) -> Self {
        self.shared.lock().budget_bytes = bytes;
        self
    }

    /// Opens an entry behind those that were started before, which may be open.
    /// Fails if the name is empty, unsafe, too long or taken (nothing is written then), or the sink failed.
    pub fn start_entry(&self, name: &str) -> Result<EntryWriter<W>> {
        self.start_entry_with_options(name, EntryOptions::new())
    }

    /// Like [`start_entry`](Self::start_entry) with options of its own. Fails if one is out of range or asks for another compression, too.
    pub fn start_entry_with_options(&self, name: &str, options: EntryOptions) -> Result<EntryWriter<W>> {
        self.start(EntryKind::Pieces, name, options)
    }

    fn start(&self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<EntryWriter<W>> {
        let mut state = self.shared.lock();
        let opening = Some(state.core.admit(kind, name, options)?);
        let number = state.first + state.places.len();
        let data = (0, Hasher::new());
        state.places.push_back(Place { opening, data, pieces: VecDeque::new(), complete: false });
        let mut encoder = state.spare.pop().unwrap_or_default();
        encoder.begin(state.core.compression);
        Ok(EntryWriter { shared: Arc::clone(&self.shared), number, encoder, staged: Vec::new(), finished: false })
    }

    whole_entry_calls!(self, [&self]);

    fn add(&self, name: &str, data: &[u8], options: EntryOptions) -> Result<()> {
        let mut entry = self.start_entry_with_options(name, options)?;
        if data.is_empty() || data.len() > WHOLE_BYTES {
            entry.write_data(data)?;
            return entry.finish();
        }
        let mut bytes = Buffer::default();
        entry.encoder.whole(data, &mut bytes)?;
        entry.hand_over(Some(Piece::new(data, bytes)), true)
    }

    fn open(&self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<()> {
        self.start(kind, name, options)?.finish()
    }

    /// Sets the archive's comment of at most 65,535 bytes, written at its end.
    /// Fails if it is longer, or holds the signature of an end record.
    pub fn set_comment(&self, comment: impl Into<String>) -> Result<()> {
        let mut state = self.shared.lock();
        state.core.check()?;
        state.core.set_comment(comment.into())
    }

    /// Completes the archive, flushes the sink and gives it back.
    /// Fails if an entry is still open, or the sink fails.
    pub fn finish(self) -> Result<W> {
        let mut state = self.shared.lock();
        state.core.check()?;
        if !state.places.is_empty() {
            // Whoever still holds an entry learns that nothing comes of it.
            state.core.poisoned = true;
            self.shared.moved.notify_all();
            return Err(Error::OpenEntries);
        }
        let mut sink = state.sink.take().ok_or(Error::Poisoned)?;
        state.core.finish()?;
        writer::send_all(&mut state.core, &mut sink)?;
        Ok(sink)
    }
}

impl<W: Write> EntryWriter<W> {
    /// Completes the entry.
    /// Fails if it breaks a promise of its options, or the sink fails.
    pub fn finish(mut self) -> Result<()> {
        let staged = std::mem::take(&mut self.staged);
        let unfinished = self.encoder.begun || !staged.is_empty();
        let last = unfinished.then(|| compress(&mut self.encoder, &staged, Ending::Finish)).transpose()?;
        self.hand_over(last, true)
    }

    fn write_data(&mut self, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            let mut staged = std::mem::take(&mut self.staged);
            let taken = stage(&mut staged, data, |block| {
                let piece = compress(&mut self.encoder, block, Ending::Open)?;
                self.hand_over(Some(piece), false)
            });
            self.staged = staged;
            data = &data[taken?..];
        }
        Ok(())
    }

    /// Gives the archive some of the entry. Waits if too much is waiting already, and it is not this entry's turn.
    fn hand_over(&mut self, mut piece: Option<Piece>, complete: bool) -> Result<()> {
        if let Some(piece) = &mut piece
            && self.number != self.shared.lock().first
        {
            // What waits gives up its free room. It moves, because in its place it would leave a gap too small for the next.
            piece.bytes = Buffer::from(piece.bytes.as_slice().to_vec());
        }
        let has_to_wait = |state: &mut State<W>| {
            let late = piece.is_some() && self.number != state.first;
            late && state.waiting > state.budget_bytes && state.core.check().is_ok()
        };
        let Shared { moved, .. } = &*self.shared;
        let mut state = moved.wait_while(self.shared.lock(), has_to_wait).unwrap_or_else(PoisonError::into_inner);
        state.core.check()?;
        let first = state.first;
        let _waker = WakeOnPanic(moved);
        let result = state.put(self.number, piece, complete);
        state.core.poisoned |= result.is_err();
        if result.is_err() || state.first != first {
            moved.notify_all();
        }
        if complete {
            self.finished = true;
            if state.spare.len() < SPARE {
                state.spare.push(std::mem::take(&mut self.encoder));
            }
        }
        result
    }
}

/// Wakes those who wait if a sink panics: the archive is lost.
struct WakeOnPanic<'a>(&'a Condvar);

impl Drop for WakeOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.notify_all();
        }
    }
}

fn compress(encoder: &mut Encoder, block: &[u8], ending: Ending) -> Result<Piece> {
    let mut bytes = Buffer::default();
    encoder.step(block, &mut bytes, ending)?;
    Ok(Piece::new(block, bytes))
}

/// Memory that a waiting piece takes: a few bytes of data come with more around them.
fn held_bytes(piece: &Piece) -> usize {
    piece.bytes.len() + size_of::<Piece>()
}

impl<W> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> State<W> {
    /// Puts `piece` into its place, and moves whatever has its turn to the core.
    fn put(&mut self, number: usize, piece: Option<Piece>, complete: bool) -> Result<()> {
        let State { core, sink, places, first, waiting, .. } = self;
        let sink = sink.as_mut().ok_or(Error::Poisoned)?;
        let place = &mut places[number - *first];
        *waiting += piece.as_ref().map_or(0, held_bytes);
        // Now, and not at the call of whoever is first when its turn comes.
        if let (Some(Admitted { name, options, .. }), (bytes, crc)) = (&place.opening, &mut place.data) {
            if let Some(piece) = &piece {
                piece.count(bytes, crc);
            }
            options.promise.check(name, *bytes, complete.then(|| crc.clone().finalize()))?;
        }
        place.pieces.extend(piece);
        place.complete |= complete;
        while let Some(place) = places.front_mut() {
            if let Some(entry) = place.opening.take() {
                core.open(entry)?;
                writer::drain(core, sink)?;
            }
            while let Some(piece) = place.pieces.pop_front() {
                *waiting -= held_bytes(&piece);
                core.write_piece(&piece)?;
                // After the last piece, the header gets its sizes before anything leaves.
                if !place.complete || !place.pieces.is_empty() {
                    writer::drain(core, sink)?;
                }
            }
            if !place.complete {
                break;
            }
            core.close()?;
            writer::drain(core, sink)?;
            places.pop_front();
            *first += 1;
        }
        Ok(())
    }
}

/// Data for the entry, so that `io::copy` and `write!` work.
impl<W: Write> Write for EntryWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_data(data)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for EntryWriter<W> {
    fn drop(&mut self) {
        if !self.finished {
            self.shared.lock().core.poisoned = true;
            self.shared.moved.notify_all();
        }
    }
}
