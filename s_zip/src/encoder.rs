//! The compressors, driven in one step per block and reused from entry to entry.

use flate2::{Compress, FlushCompress, Status};
#[cfg(feature = "libdeflate")]
use libdeflater::{CompressionLvl, Compressor};

use crate::buffer::Buffer;
use crate::error::{Cause, Error, Result};
use crate::options::Compression;

/// Data is compressed in blocks of this many bytes.
pub(crate) const BLOCK_BYTES: usize = 64 * 1024;
/// The room that Deflate gets at once, never more, and zstd at least. Where it runs out, Deflate of level 6 forgets the match it has looked ahead
/// to: were it given all that happens to be free, a buffer used before would change a byte. Little, because fresh room must be paged in.
const ROOM_BYTES: usize = 32 * 1024;
/// Beyond its input, the room that storing (Deflate of level 0) gets at once: its blocks are as large as the room.
const STORING_SLACK: usize = 192 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More will come.
    Open,
    /// More will come, but all so far must be readable.
    Flush,
    Finish,
}

/// Compressors that exist already, one for each way to compress; making one costs some 300 KiB of fresh memory, resetting it a tenth of that time.
#[derive(Default)]
pub(crate) struct Encoder {
    compression: Compression,
    /// A compressor holds data of the open stream.
    pub begun: bool,
    deflate: Option<(u32, Compress)>,
    #[cfg(feature = "libdeflate")]
    at_once: Option<(u32, Compressor)>,
    #[cfg(all(feature = "libdeflate", feature = "zlib-rs", not(feature = "zlib-ng")))]
    repeating: Option<(u32, zlib_rs::Deflate)>,
    #[cfg(feature = "zstd")]
    zstd: Option<(u32, zstd::stream::raw::Encoder<'static>)>,
}

impl Encoder {
    /// The next step begins a stream.
    pub fn begin(&mut self, compression: Compression) {
        (self.compression, self.begun) = (compression, false);
    }

    /// Compresses all the `data` of an entry to the end of `out`, by the way that is best for it.
    pub fn whole(&mut self, data: &[u8], out: &mut Buffer) -> Result<()> {
        #[cfg(feature = "libdeflate")]
        if let Compression::Deflate(level @ 1..) = self.compression
            && !repeats(data)
        {
            return self.deflate_at_once(level, data, out);
        }
        #[cfg(all(feature = "libdeflate", feature = "zlib-rs", not(feature = "zlib-ng")))]
        if let Compression::Deflate(level @ 1..) = self.compression
            && data.len() <= BLOCK_BYTES
        {
            return self.deflate_repeating(level, data, out);
        }
        let last = data.len().saturating_sub(1) / BLOCK_BYTES;
        for (index, block) in data.chunks(BLOCK_BYTES).enumerate() {
            let ending = if index == last { Ending::Finish } else { Ending::Open };
            self.step(block, out, ending)?;
        }
        Ok(())
    }

    #[cfg(feature = "libdeflate")]
    fn deflate_at_once(&mut self, level: u32, data: &[u8], out: &mut Buffer) -> Result<()> {
        // Its levels 4 and 5 make a little more of text than the streaming compressor's do.
        let theirs = if matches!(level, 4 | 5) { level + 1 } else { level };
        let make = || CompressionLvl::new(theirs.cast_signed()).map(Compressor::new);
        let (compressor, _) =
            of_level(&mut self.at_once, level, make).map_err(|_| compressor_error("no such level"))?;
        let room = out.room(compressor.deflate_compress_bound(data.len()));
        let written = compressor.deflate_compress(data, room).map_err(compressor_error)?;
        out.advance(written);
        Ok(())
    }

    /// Deflate for a little data that repeats itself: such data makes few symbols, and a table for fewer takes less time to clear, which is done
    /// twice per entry.
    #[cfg(all(feature = "libdeflate", feature = "zlib-rs", not(feature = "zlib-ng")))]
    fn deflate_repeating(&mut self, level: u32, data: &[u8], out: &mut Buffer) -> Result<()> {
        use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status};

        // Raw Deflate of the usual window, 4096 symbols per block instead of 16384.
        let config = DeflateConfig { window_bits: -15, mem_level: 6, ..DeflateConfig::new(level.cast_signed()) };
        let make = || Ok::<_, Error>(Deflate::new_with_config(config));
        let (compress, new) = of_level(&mut self.repeating, level, make)?;
        if !new {
            compress.reset();
        }
        let room = out.room(zlib_rs::compress_bound(data.len()));
        match compress.compress(data, room, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => out.advance(usize::try_from(compress.total_out()).unwrap_or(usize::MAX)),
            Ok(_) => return Err(compressor_error("Deflate needs more room than its bound")),
            Err(error) => return Err(compressor_error(error.as_str())),
        }
        Ok(())
    }

    /// Compresses `input` to the end of `out`.
    pub fn step(&mut self, input: &[u8], out: &mut Buffer, ending: Ending) -> Result<()> {
        let first = !std::mem::replace(&mut self.begun, ending != Ending::Finish);
        match self.compression {
            Compression::None => {
                out.extend_from_slice(input);
                Ok(())
            }
            Compression::Deflate(level) => {
                let (compress, new) = of_level(&mut self.deflate, level, || Ok::<_, Error>(new_compress(level)))?;
                if first && !new {
                    compress.reset();
                }
                deflate(compress, level, input, out, ending)
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd(level) => {
                let make = || zstd::stream::raw::Encoder::new(level.cast_signed());
                let (encoder, new) = of_level(&mut self.zstd, level, make).map_err(compressor_error)?;
                if first && !new {
                    zstd::stream::raw::Operation::reinit(encoder).map_err(compressor_error)?;
                }
                zstandard(encoder, input, out, ending)
            }
        }
    }
}

/// The compressor of this level, and whether it was made for this: one of another level is given up.
fn of_level<C, E>(
    kept: &mut Option<(u32, C)>,
    level: u32,
    make: impl FnOnce() -> std::result::Result<C, E>,
) -> std::result::Result<(&mut C, bool), E> {
    drop(kept.take_if(|(of, _)| *of != level));
    match kept {
        Some((_, compressor)) => Ok((compressor, false)),
        None => Ok((&mut kept.insert((level, make()?)).1, true)),
    }
}

/// Whether `data` looks like one thing over and over: libdeflate then visits each byte of each match, where the others leap and are two to six
/// times as fast. Four places decide, if each stands within a kilobyte before itself.
#[cfg(feature = "libdeflate")]
fn repeats(data: &[u8]) -> bool {
    const REACH: usize = 1024;
    const MATCH: usize = 64;
    data.len() >= 8 * REACH
        && (1..=4).map(|part| data.len() / 5 * part).all(|at| {
            let here = &data[at..at + MATCH];
            (at - REACH..at).any(|before| data[before] == here[0] && data[before..before + MATCH] == *here)
        })
}

/// A compressor for raw Deflate of this level.
pub(crate) fn new_compress(level: u32) -> Compress {
    Compress::new(flate2::Compression::new(level), false)
}

pub(crate) fn deflate(
    compress: &mut Compress,
    level: u32,
    mut input: &[u8],
    out: &mut Buffer,
    ending: Ending,
) -> Result<()> {
    let flush = match ending {
        Ending::Open => FlushCompress::None,
        Ending::Flush => FlushCompress::Sync,
        Ending::Finish => FlushCompress::Finish,
    };
    let room_bytes = if level == 0 { input.len() + STORING_SLACK } else { ROOM_BYTES };
    loop {
        let room = &mut out.room(room_bytes)[..room_bytes];
        let (read_before, written_before) = (compress.total_in(), compress.total_out());
        let status = compress.compress(input, room, flush).map_err(compressor_error)?;
        let since = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
        let read = since(compress.total_in(), read_before);
        let written = since(compress.total_out(), written_before);
        out.advance(written);
        input = input.get(read..).unwrap_or_default();
        let stuck = read == 0 && written == 0;
        let done = match ending {
            Ending::Finish => status == Status::StreamEnd,
            // Room left over means that nothing is held back but what the compressor wants to hold back.
            Ending::Open | Ending::Flush => stuck || (input.is_empty() && written < room_bytes),
        };
        if done {
            return Ok(());
        }
        if stuck {
            return Err(Error::Compressor("Deflate made no progress".into()));
        }
    }
}

#[cfg(feature = "zstd")]
fn zstandard(
    encoder: &mut zstd::stream::raw::Encoder<'static>,
    input: &[u8],
    out: &mut Buffer,
    ending: Ending,
) -> Result<()> {
    use zstd::stream::raw::{InBuffer, Operation, OutBuffer};

    let mut source = InBuffer::around(input);
    loop {
        let room = out.room(ROOM_BYTES);
        let room_bytes = room.len();
        let mut target = OutBuffer::around(room);
        if source.pos() < input.len() || ending == Ending::Open {
            encoder.run(&mut source, &mut target).map_err(compressor_error)?;
        }
        let left = match ending {
            _ if source.pos() < input.len() => 1,
            // Without room left over something may be held back, and what came out so far decides about the entry's header.
            Ending::Open => usize::from(target.pos() == room_bytes),
            Ending::Flush => encoder.flush(&mut target).map_err(compressor_error)?,
            Ending::Finish => encoder.finish(&mut target, true).map_err(compressor_error)?,
        };
        let written = target.pos();
        out.advance(written);
        if left == 0 {
            return Ok(());
        }
    }
}

pub(crate) fn compressor_error(error: impl Into<Cause>) -> Error {
    Error::Compressor(error.into())
}
