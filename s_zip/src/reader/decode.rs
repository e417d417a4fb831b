//! The decoders, driven over pieces of input and reused from entry to entry.

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::Cause;
#[cfg(feature = "zstd")]
use crate::format::METHOD_ZSTD;
use crate::format::{METHOD_DEFLATE, METHOD_STORED};

/// The methods that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Stored,
    Deflate,
    #[cfg(feature = "zstd")]
    Zstd,
}

impl Method {
    pub fn of(number: u16) -> Option<Self> {
        match number {
            METHOD_STORED => Some(Method::Stored),
            METHOD_DEFLATE => Some(Method::Deflate),
            #[cfg(feature = "zstd")]
            METHOD_ZSTD => Some(Method::Zstd),
            _ => None,
        }
    }
}

/// What one step did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Step {
    pub read: usize,
    pub written: usize,
    /// The stream ended.
    pub ended: bool,
}

/// Decoders that exist already, one per method.
#[derive(Default)]
pub(super) struct Decoders {
    deflate: Option<Decompress>,
    #[cfg(feature = "zstd")]
    zstd: Option<zstd::stream::raw::Decoder<'static>>,
}

impl Decoders {
    /// Makes ready for the start of a stream.
    #[cfg_attr(
        not(feature = "zstd"),
        expect(clippy::unnecessary_wraps, unused_variables, reason = "only Zstandard can fail")
    )]
    pub fn begin(&mut self, method: Method, window_log: u32) -> Result<(), Cause> {
        match method {
            Method::Stored => {}
            Method::Deflate => match &mut self.deflate {
                Some(decoder) => decoder.reset(false),
                none => *none = Some(Decompress::new(false)),
            },
            #[cfg(feature = "zstd")]
            Method::Zstd => match &mut self.zstd {
                Some(decoder) => zstd::stream::raw::Operation::reinit(decoder)?,
                none => {
                    let mut decoder = zstd::stream::raw::Decoder::new()?;
                    let window = zstd::stream::raw::DParameter::WindowLogMax(window_log.clamp(10, 31));
                    decoder.set_parameter(window)?;
                    *none = Some(decoder);
                }
            },
        }
        Ok(())
    }

    /// Decodes some of `input` to `output`, which has room for something. `last` says that no input follows this one.
    pub fn step(&mut self, method: Method, input: &[u8], output: &mut [u8], last: bool) -> Result<Step, Cause> {
        match method {
            Method::Stored => Ok(copy(input, output, last)),
            Method::Deflate => {
                let decoder = self.deflate.as_mut().ok_or("the decoder was not begun")?;
                inflate(decoder, input, output)
            }
            #[cfg(feature = "zstd")]
            Method::Zstd => {
                let decoder = self.zstd.as_mut().ok_or("the decoder was not begun")?;
                unpack_zstd(decoder, input, output, last)
            }
        }
    }
}

fn copy(input: &[u8], output: &mut [u8], last: bool) -> Step {
    let bytes = input.len().min(output.len());
    for (to, from) in output.chunks_mut(bytes.max(1)).zip(input.chunks(bytes.max(1))).take(1) {
        to.copy_from_slice(from);
    }
    Step { read: bytes, written: bytes, ended: last && bytes == input.len() }
}

fn inflate(decoder: &mut Decompress, input: &[u8], output: &mut [u8]) -> Result<Step, Cause> {
    let (read, written) = (decoder.total_in(), decoder.total_out());
    let status = decoder.decompress(input, output, FlushDecompress::None)?;
    let since = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(usize::MAX);
    Ok(Step {
        read: since(decoder.total_in(), read),
        written: since(decoder.total_out(), written),
        ended: status == Status::StreamEnd,
    })
}

/// A stream may consist of several frames; it ends where a frame and the input end together.
#[cfg(feature = "zstd")]
fn unpack_zstd(
    decoder: &mut zstd::stream::raw::Decoder<'static>,
    input: &[u8],
    output: &mut [u8],
    last: bool,
) -> Result<Step, Cause> {
    use zstd::stream::raw::Operation;

    let status = decoder.run_on_buffers(input, output)?;
    let ended = status.remaining == 0 && last && status.bytes_read == input.len();
    Ok(Step { read: status.bytes_read, written: status.bytes_written, ended })
}
