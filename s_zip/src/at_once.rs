//! Deflate of an entry that is there whole, by libdeflate.

use libdeflater::{CompressionLvl, Compressor};

use crate::buffer::Buffer;
use crate::encoder::compressor_error;
use crate::error::Result;

/// The compressor, once there is one, and its level.
#[derive(Default)]
pub(crate) struct AtOnce(Option<(u32, Compressor)>);

impl AtOnce {
    /// Compresses `data` to the end of `out`.
    pub fn deflate(&mut self, level: u32, data: &[u8], out: &mut Buffer) -> Result<()> {
        let compressor = match &mut self.0 {
            Some((of, made)) if *of == level => made,
            other => {
                // Its levels 4 and 5 make a little more of text than the streaming compressor's do.
                let theirs = if matches!(level, 4 | 5) { level + 1 } else { level };
                let theirs =
                    CompressionLvl::new(theirs.cast_signed()).map_err(|_| compressor_error("no such level"))?;
                &mut other.insert((level, Compressor::new(theirs))).1
            }
        };
        let room = out.room(compressor.deflate_compress_bound(data.len()));
        let written = compressor.deflate_compress(data, room).map_err(compressor_error)?;
        out.advance(written);
        Ok(())
    }
}

/// Whether `data` looks like one thing over and over: libdeflate then visits each byte of each match, where the others leap and are two to six
/// times as fast. Four places decide, if each stands within a kilobyte before itself.
pub(crate) fn repeats(data: &[u8]) -> bool {
    const REACH: usize = 1024;
    const MATCH: usize = 64;
    data.len() >= 8 * REACH
        && (1..=4).map(|part| data.len() / 5 * part).all(|at| {
            let here = &data[at..at + MATCH];
            (at - REACH..at).any(|before| data[before] == here[0] && data[before..before + MATCH] == *here)
        })
}
