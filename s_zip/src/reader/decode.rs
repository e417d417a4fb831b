//! The decoders, driven over pieces of input and reused from entry to entry.

use flate2::{Decompress, FlushDecompress, Status};
#[cfg(feature = "zstd")]
use zstd::stream::raw::{DParameter, Decoder, Operation};

use crate::error::Cause;
use crate::format::{METHOD_DEFLATE, METHOD_STORED, METHOD_ZSTD};

pub(super) fn is_known(method: u16) -> bool {
    matches!(method, METHOD_STORED | METHOD_DEFLATE) || (cfg!(feature = "zstd") && method == METHOD_ZSTD)
}

/// What one step did.
pub(super) struct Step {
    pub read: usize,
    pub written: usize,
    pub ended: bool,
}

/// Decoders that exist already, one per method.
#[derive(Default)]
pub(super) struct Decoders {
    deflate: Option<Decompress>,
    #[cfg(feature = "zstd")]
    zstd: Option<Decoder<'static>>,
}

impl Decoders {
    /// Makes ready for the start of a stream.
    #[cfg_attr(
        not(feature = "zstd"),
        expect(clippy::unnecessary_wraps, unused_variables, reason = "only Zstandard can fail")
    )]
    pub fn begin(&mut self, method: u16, window_log: u32) -> Result<(), Cause> {
        match method {
            METHOD_DEFLATE => self.deflate.get_or_insert_with(|| Decompress::new(false)).reset(false),
            #[cfg(feature = "zstd")]
            METHOD_ZSTD => match &mut self.zstd {
                Some(decoder) => decoder.reinit()?,
                none => {
                    let mut decoder = Decoder::new()?;
                    decoder.set_parameter(DParameter::WindowLogMax(window_log.clamp(10, 31)))?;
                    *none = Some(decoder);
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// Decodes some of `input` to `output`, which has room for something. `last` says that no input follows this one.
    pub fn step(&mut self, method: u16, input: &[u8], output: &mut [u8], last: bool) -> Result<Step, Cause> {
        const NOT_BEGUN: &str = "the decoder was not begun";
        match method {
            METHOD_STORED => {
                let bytes = input.len().min(output.len());
                output[..bytes].copy_from_slice(&input[..bytes]);
                Ok(Step { read: bytes, written: bytes, ended: last && bytes == input.len() })
            }
            METHOD_DEFLATE => {
                let decoder = self.deflate.as_mut().ok_or(NOT_BEGUN)?;
                let (read, written) = (decoder.total_in(), decoder.total_out());
                let ended = decoder.decompress(input, output, FlushDecompress::None)? == Status::StreamEnd;
                let since = |now: u64, before: u64| usize::try_from(now.saturating_sub(before)).unwrap_or(usize::MAX);
                Ok(Step { read: since(decoder.total_in(), read), written: since(decoder.total_out(), written), ended })
            }
            #[cfg(feature = "zstd")]
            METHOD_ZSTD => {
                let status = self.zstd.as_mut().ok_or(NOT_BEGUN)?.run_on_buffers(input, output)?;
                // A stream may consist of several frames; it ends where a frame and the input end together.
                let ended = status.remaining == 0 && last && status.bytes_read == input.len();
                Ok(Step { read: status.bytes_read, written: status.bytes_written, ended })
            }
            _ => Err(NOT_BEGUN.into()),
        }
    }
}
