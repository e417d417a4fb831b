//! The compressors, driven in one step per block and reused from entry to entry.

use flate2::{Compress, FlushCompress, Status};

#[cfg(feature = "libdeflate")]
use crate::at_once::{self, AtOnce};
use crate::buffer::Buffer;
use crate::core::BLOCK_BYTES;
use crate::error::{Cause, Error, Result};
use crate::options::Compression;

/// The room that Deflate gets at once, never more, and zstd at least. Where it runs out, Deflate of level 6 forgets the match it has looked ahead
/// to: were it given all that happens to be free, a buffer used before would change a byte. Little, because fresh room must be paged in.
const ROOM_BYTES: usize = 32 * 1024;
/// Beyond its input, the room that storing (Deflate of level 0) gets at once: its blocks are as large as the room.
const STORING_SLACK: usize = 192 * 1024;

/// How a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More will come.
    Open,
    /// More will come, but all so far must be readable.
    Flush,
    /// The stream ends.
    Finish,
}

/// Compressors that exist already, one per method; making one costs some 300 KiB of fresh memory, resetting it a tenth of that time.
#[derive(Default)]
pub(crate) struct Encoder {
    deflate: Option<(u32, Compress)>,
    #[cfg(feature = "libdeflate")]
    at_once: AtOnce,
    #[cfg(feature = "zstd")]
    zstd: Option<(u32, zstd::stream::raw::Encoder<'static>)>,
}

impl Encoder {
    /// Makes ready for the first block of an entry.
    #[cfg_attr(not(feature = "zstd"), expect(clippy::unnecessary_wraps, reason = "only zstd can fail to begin"))]
    pub fn begin(&mut self, compression: Compression) -> Result<()> {
        match compression {
            Compression::None => {}
            Compression::Deflate(level) => match &mut self.deflate {
                Some((of, compress)) if *of == level => compress.reset(),
                other => *other = Some((level, Compress::new(flate2::Compression::new(level), false))),
            },
            #[cfg(feature = "zstd")]
            Compression::Zstd(level) => match &mut self.zstd {
                Some((of, encoder)) if *of == level => {
                    zstd::stream::raw::Operation::reinit(encoder).map_err(compressor_error)?;
                }
                other => {
                    *other =
                        Some((level, zstd::stream::raw::Encoder::new(level.cast_signed()).map_err(compressor_error)?));
                }
            },
        }
        Ok(())
    }

    /// Compresses all the `data` of an entry to the end of `out`, by the way that is best for it.
    pub fn whole(&mut self, compression: Compression, data: &[u8], out: &mut Buffer) -> Result<()> {
        #[cfg(feature = "libdeflate")]
        if let Compression::Deflate(level @ 1..) = compression
            && !at_once::repeats(data)
        {
            return self.at_once.deflate(level, data, out);
        }
        self.begin(compression)?;
        let mut blocks = data.chunks(BLOCK_BYTES).peekable();
        while let Some(block) = blocks.next() {
            self.step(compression, block, out, if blocks.peek().is_some() { Ending::Open } else { Ending::Finish })?;
        }
        Ok(())
    }

    /// Compresses `input` to the end of `out`.
    pub fn step(&mut self, compression: Compression, input: &[u8], out: &mut Buffer, ending: Ending) -> Result<()> {
        match compression {
            Compression::None => {
                out.extend_from_slice(input);
                Ok(())
            }
            Compression::Deflate(level) => match &mut self.deflate {
                Some((_, compress)) => deflate(compress, level, input, out, ending),
                None => Err(Error::Compressor("it was not begun".into())),
            },
            #[cfg(feature = "zstd")]
            Compression::Zstd(_) => match &mut self.zstd {
                Some((_, encoder)) => zstandard(encoder, input, out, ending),
                None => Err(Error::Compressor("it was not begun".into())),
            },
        }
    }
}

/// One step of a raw Deflate stream.
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
        let mut target = OutBuffer::around(out.room(ROOM_BYTES));
        if source.pos() < input.len() {
            encoder.run(&mut source, &mut target).map_err(compressor_error)?;
        }
        let left = match ending {
            _ if source.pos() < input.len() => 1,
            Ending::Open => 0,
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
