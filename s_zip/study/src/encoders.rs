//! Compressors in the shapes that are compared: what differs is the buffer between compressor and output, and how calls are dispatched.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use async_compression::Level;
use async_compression::tokio::write::DeflateEncoder as AsyncDeflate;
use flate2::write::DeflateEncoder as SyncDeflate;
use flate2::{Compress, Compression, FlushCompress, Status};
use tokio::io::AsyncWrite;

/// Deflate's level in every arm.
pub const LEVEL: u32 = 6;
/// Room for compressed data that a fresh compressor starts with.
const OUTPUT_BYTES: usize = 64 * 1024;

/// A sync compressor into memory.
pub trait SyncEncoder: Write {
    /// What it made and nobody took.
    fn output(&mut self) -> &mut Vec<u8>;
    fn end(&mut self) -> io::Result<()>;
    /// Begins a new stream with the same compressor.
    fn restart(&mut self) -> io::Result<()>;
}

/// An async compressor into memory.
pub trait AsyncEncoder: AsyncWrite + Unpin + Send {
    /// What it made and nobody took.
    fn output(&mut self) -> &mut Vec<u8>;
}

/// flate2's compressor, which works through a buffer of 32 KiB.
pub fn flate2_encoder() -> SyncDeflate<Vec<u8>> {
    SyncDeflate::new(Vec::with_capacity(OUTPUT_BYTES), Compression::new(LEVEL))
}

impl SyncEncoder for SyncDeflate<Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }

    fn end(&mut self) -> io::Result<()> {
        self.try_finish()
    }

    fn restart(&mut self) -> io::Result<()> {
        self.reset(Vec::with_capacity(OUTPUT_BYTES)).map(drop)
    }
}

/// Behind a trait object, as published.
impl SyncEncoder for Box<dyn SyncEncoder> {
    fn output(&mut self) -> &mut Vec<u8> {
        (**self).output()
    }

    fn end(&mut self) -> io::Result<()> {
        (**self).end()
    }

    fn restart(&mut self) -> io::Result<()> {
        (**self).restart()
    }
}

/// A sync compressor that works through a buffer of a chosen size.
pub struct Buffered {
    compress: Compress,
    buffer: Vec<u8>,
    output: Vec<u8>,
}

impl Buffered {
    pub fn new(bytes: usize) -> Self {
        Buffered {
            compress: Compress::new(Compression::new(LEVEL), false),
            buffer: Vec::with_capacity(bytes),
            output: Vec::with_capacity(OUTPUT_BYTES),
        }
    }

    /// Compresses until the input is used up and, for a flush or the end, all of it has come out.
    fn run(&mut self, mut input: &[u8], flush: FlushCompress) -> io::Result<()> {
        loop {
            let before = self.compress.total_in();
            let status = self.compress.compress_vec(input, &mut self.buffer, flush)?;
            let read = usize::try_from(self.compress.total_in() - before).unwrap_or(usize::MAX);
            input = &input[read.min(input.len())..];
            let full = self.buffer.len() == self.buffer.capacity();
            self.output.extend_from_slice(&self.buffer);
            self.buffer.clear();
            let done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                FlushCompress::None => input.is_empty(),
                _ => !full,
            };
            if done {
                return Ok(());
            }
        }
    }
}

impl Write for Buffered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.run(bytes, FlushCompress::None)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.run(&[], FlushCompress::Sync)
    }
}

impl SyncEncoder for Buffered {
    fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    fn end(&mut self) -> io::Result<()> {
        self.run(&[], FlushCompress::Finish)
    }

    fn restart(&mut self) -> io::Result<()> {
        self.compress.reset();
        Ok(())
    }
}

/// async-compression's compressor, which works through a buffer of 8 KiB, called directly.
pub fn async_encoder() -> AsyncDeflate<Vec<u8>> {
    AsyncDeflate::with_quality(Vec::with_capacity(OUTPUT_BYTES), Level::Default)
}

impl AsyncEncoder for AsyncDeflate<Vec<u8>> {
    fn output(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }
}

/// Behind a trait object, as published.
impl AsyncEncoder for Box<dyn AsyncEncoder> {
    fn output(&mut self) -> &mut Vec<u8> {
        (**self).output()
    }
}

/// A sync compressor under an async face: what is left of async where nothing has to be waited for.
pub struct Disguised {
    encoder: Buffered,
    /// Before so many bytes it gives way, as an operation does that is not ready; if there are none, it takes whatever it is given, at once.
    block_bytes: Option<usize>,
    /// Whether it has, for the block at hand.
    gave_way: bool,
}

impl Disguised {
    pub fn new(encoder: Buffered, block_bytes: Option<usize>) -> Self {
        Disguised { encoder, block_bytes, gave_way: block_bytes.is_none() }
    }
}

impl AsyncWrite for Disguised {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.gave_way {
            self.gave_way = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.gave_way = self.block_bytes.is_none();
        let block = &bytes[..bytes.len().min(self.block_bytes.unwrap_or(usize::MAX))];
        Poll::Ready(self.encoder.write(block))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.encoder.flush())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.encoder.end())
    }
}

impl AsyncEncoder for Disguised {
    fn output(&mut self) -> &mut Vec<u8> {
        self.encoder.output()
    }
}
