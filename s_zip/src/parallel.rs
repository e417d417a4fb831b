//! The parallel writer: blocks compressed on all cores, joined in order.
//!
//! Data is cut into blocks of [`BLOCK_BYTES`], each becomes a piece of its entry's Deflate stream on its own, primed with the 32 KiB before it, and
//! the calling thread writes the pieces in order. How many threads work does not change a byte.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use flate2::Compress;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::buffer::Buffer;
use crate::calls::entry_calls;
use crate::core::{Admitted, Core, EntryKind, Piece};
use crate::encoder::{self, Ending};
use crate::{Compression, EntryOptions, Error, Result, writer};

/// Bytes of an entry that one worker compresses at once.
pub const BLOCK_BYTES: usize = 256 * 1024;
/// Blocks under way per thread unless a budget is given: enough to bridge a slow block or a slow sink.
const BLOCKS_PER_THREAD: usize = 8;
/// The most that Deflate can look back, and so what primes the next block.
const WINDOW_BYTES: usize = 32 * 1024;
/// The least that a block counts for: what carries it to a worker and back takes about as much, however little data it has.
const LEAST_BYTES: usize = 2 * 1024;

/// Writes an archive to a sink from front to back and compresses on several threads; the calls are those of
/// [`StreamingZipWriter`](crate::StreamingZipWriter) but for `flush`. Entries are Deflate of one level; others are refused. An entry of one
/// block (256 KiB) that fits the output buffer has its sizes in its local header. An entry that breaks a promise of its options fails the call
/// that finds its blocks compressed, `finish` at the latest.
#[must_use = "an archive is complete only after finish()"]
pub struct ParallelZipWriter<W: Write> {
    sink: W,
    core: Core,
    pool: ThreadPool,
    level: u32,
    budget_bytes: usize,
    /// What was asked for and is not in the core yet, in order.
    queue: VecDeque<Item>,
    /// What the blocks in the queue count for.
    under_way: usize,
    /// Data of the open entry that does not fill a block yet, after the window of the block before.
    block: Block,
    /// The entry that was opened last does.
    takes_data: bool,
    /// Buffers that wait for their next block.
    spare: Vec<Vec<u8>>,
}

enum Item {
    Open(Admitted),
    /// A block that counts for so many bytes; its buffer comes back with what became of it.
    Piece {
        bytes: usize,
        receiver: Receiver<Result<(Piece, Vec<u8>)>>,
    },
}

/// Data of one block, `window` bytes of which stand before it only to be referred to.
#[derive(Clone)]
struct Block {
    bytes: Vec<u8>,
    window: usize,
}

impl Block {
    /// A buffer that never grows.
    fn buffer() -> Vec<u8> {
        Vec::with_capacity(WINDOW_BYTES + BLOCK_BYTES)
    }

    fn data_bytes(&self) -> usize {
        self.bytes.len() - self.window
    }
}

impl<W: Write> ParallelZipWriter<W> {
    /// Writes to any sink, which needs no buffer of its own, with Deflate of a level from 0 (none) to 9 (best) on `jobs` threads, at most and by
    /// default one per core. Fails if the level is out of range or the threads cannot be started.
    pub fn from_writer(sink: W, level: u32, jobs: Option<NonZero<usize>>) -> Result<Self> {
        let core = Core::new(Compression::Deflate(level))?;
        // More threads than cores gain nothing and cost their start; 0 lets the pool count the cores.
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = jobs.map_or(0, |jobs| jobs.get().min(cores));
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("s_zip-{index}"))
            .build()
            .map_err(|error| Error::Workers(error.into()))?;
        let budget_bytes = pool.current_num_threads() * BLOCKS_PER_THREAD * BLOCK_BYTES;
        Ok(ParallelZipWriter {
            sink,
            core,
            pool,
            level,
            budget_bytes,
            queue: VecDeque::new(),
            under_way: 0,
            block: Block { bytes: Block::buffer(), window: 0 },
            takes_data: false,
            spare: Vec::new(),
        })
    }

    /// Bytes of data that may be under way at once, and so the memory that is used: at least a block per thread, 2 MiB per thread unless set.
    /// An entry counts for 2 KiB at least.
    pub fn budget_bytes(self, bytes: usize) -> Self {
        let budget_bytes = bytes.max(self.pool.current_num_threads() * BLOCK_BYTES);
        ParallelZipWriter { budget_bytes, ..self }
    }

    entry_calls!(EntryKind::Pieces);

    fn add(&mut self, name: &str, data: &[u8], options: EntryOptions) -> Result<()> {
        self.start_entry_with_options(name, options)?;
        self.write_data(data)?;
        self.end_entry()
    }

    /// Adds data to the open entry. Waits when the budget is used up.
    /// Fails if no entry is open, it grows beyond its announced size, or the sink fails.
    pub fn write_data(&mut self, mut data: &[u8]) -> Result<()> {
        self.core.check()?;
        if !self.takes_data {
            return Err(Error::NoEntry);
        }
        while !data.is_empty() {
            if self.block.data_bytes() == BLOCK_BYTES {
                self.send_block(Ending::Flush)?;
            }
            let taken = data.len().min(BLOCK_BYTES - self.block.data_bytes());
            self.block.bytes.extend_from_slice(&data[..taken]);
            data = &data[taken..];
        }
        Ok(())
    }

    /// Completes the archive, flushes the sink and gives it back. Fails if an entry breaks its promise or the sink fails.
    pub fn finish(mut self) -> Result<W> {
        self.core.check()?;
        self.end_entry()?;
        while self.take_first(true)? {}
        self.core.finish()?;
        writer::send_all(&mut self.core, &mut self.sink)?;
        Ok(self.sink)
    }

    fn core(&mut self) -> Result<&mut Core> {
        self.core.check().map(|()| &mut self.core)
    }

    fn open(&mut self, kind: EntryKind, name: &str, options: EntryOptions) -> Result<()> {
        let entry = self.core.admit(kind, name, options)?;
        self.end_entry()?;
        self.queue.push_back(Item::Open(entry));
        self.takes_data = kind != EntryKind::Directory;
        self.settle()
    }

    fn end_entry(&mut self) -> Result<()> {
        if std::mem::take(&mut self.takes_data) && self.block.data_bytes() > 0 {
            self.send_block(Ending::Finish)?;
        }
        self.block.bytes.clear();
        self.block.window = 0;
        Ok(())
    }

    fn send_block(&mut self, ending: Ending) -> Result<()> {
        let data_bytes = self.block.data_bytes();
        let block = if data_bytes < BLOCK_BYTES / 2 {
            // In a buffer of its own size: thousands may be under way.
            self.block.clone()
        } else {
            let mut next = Block { bytes: self.spare.pop().unwrap_or_else(Block::buffer), window: 0 };
            next.bytes.clear();
            if ending == Ending::Flush {
                let window = self.block.bytes.len() - WINDOW_BYTES;
                next.bytes.extend_from_slice(&self.block.bytes[window..]);
                next.window = WINDOW_BYTES;
            }
            std::mem::replace(&mut self.block, next)
        };
        let (sender, receiver) = sync_channel(1);
        let level = self.level;
        self.pool.spawn(move || {
            let piece = compress(&block, level, ending);
            // The writer may be gone after an error of its own.
            let _ = sender.send(piece.map(|piece| (piece, block.bytes)));
        });
        let bytes = data_bytes.max(LEAST_BYTES);
        self.queue.push_back(Item::Piece { bytes, receiver });
        self.under_way += bytes;
        self.settle()
    }

    /// Writes what is ready, and waits while too much is under way.
    fn settle(&mut self) -> Result<()> {
        /// Entries without data cost memory, too.
        const ITEMS: usize = 16 * 1024;
        while self.under_way > self.budget_bytes || self.queue.len() > ITEMS {
            self.take_first(true)?;
        }
        while self.take_first(false)? {}
        Ok(())
    }

    /// Moves the first item of the queue to the core, and says whether there was one. A piece that is not ready is none, unless to `wait` for.
    fn take_first(&mut self, wait: bool) -> Result<bool> {
        match self.queue.pop_front() {
            None => return Ok(false),
            Some(Item::Open(entry)) => self.core.open(entry)?,
            Some(Item::Piece { bytes, receiver }) => {
                let piece = match receiver.try_recv() {
                    Err(TryRecvError::Empty) if wait => receiver.recv().ok(),
                    Err(TryRecvError::Empty) => {
                        self.queue.push_front(Item::Piece { bytes, receiver });
                        return Ok(false);
                    }
                    received => received.ok(),
                };
                self.under_way -= bytes;
                let piece = piece.unwrap_or_else(|| Err(Error::Workers("one of them panicked".into())));
                let (piece, buffer) = piece.inspect_err(|_| self.core.poisoned = true)?;
                self.core.write_piece(&piece)?;
                if buffer.capacity() > BLOCK_BYTES {
                    self.spare.push(buffer);
                }
            }
        }
        writer::drain(&mut self.core, &mut self.sink)?;
        Ok(true)
    }
}

/// Data for the open entry, so that `io::copy` and `write!` work. Flushing does nothing, because blocks are still being compressed.
impl<W: Write> Write for ParallelZipWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_data(data)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    /// The compressor of a worker, and the room that it compresses to. Workers have one writer, and so one level.
    static WORKER: RefCell<(Option<Compress>, Buffer)> = RefCell::default();
}

fn compress(block: &Block, level: u32, ending: Ending) -> Result<Piece> {
    let (window, data) = block.bytes.split_at(block.window);
    WORKER.with_borrow_mut(|(kept, out)| {
        // A dictionary set after a reset meets leftovers of the stream before, which change a byte now and then: a block that has one gets
        // a compressor of its own, so that its form depends on nothing else.
        drop(kept.take_if(|_| !window.is_empty()));
        let compressor = kept.get_or_insert_with(|| encoder::new_compress(level));
        compressor.reset();
        // So that it can refer to what came before. miniz cannot; its blocks stand alone and are some 1 % larger.
        #[cfg(any(feature = "zlib-rs", feature = "zlib-ng"))]
        if !window.is_empty() {
            compressor.set_dictionary(window).map_err(encoder::compressor_error)?;
        }
        out.truncate(0);
        encoder::deflate(compressor, level, data, out, ending)?;
        // What waits takes no more memory than it has to.
        Ok(Piece::new(data, Buffer::from(out.as_slice().to_vec())))
    })
}
