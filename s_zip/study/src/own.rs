//! This crate's writers and their peers, each used as its documentation shows.

use std::io::{BufWriter, Write};

use anyhow::Result;
use async_zip::ZipEntryBuilder;
use async_zip::base::write::ZipFileWriter;
use s_zip::format::LIMIT_32;
use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, ParallelOptions, ParallelZipWriter, StreamingZipWriter};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use zip::write::SimpleFileOptions;

use crate::encoders::LEVEL;
use crate::input::Input;

/// Buffer that the peers' sinks are given, the size of this crate's own.
const PEER_BUFFER_BYTES: usize = 128 * 1024;

/// The calls that all writers of this crate, and of the published one, share; `$wait` stands behind each.
macro_rules! write_entries {
    ($input:ident, $writer:expr $(, $dot:tt $wait:tt)?) => {{
        let mut writer = $writer;
        for index in 0..$input.shape.entries {
            writer.start_entry(&Input::name(index)) $($dot $wait)? ?;
            for data in $input.calls() {
                writer.write_data(data) $($dot $wait)? ?;
            }
        }
        Ok(writer.finish() $($dot $wait)? ?)
    }};
}
#[cfg(feature = "miniz")]
pub(crate) use write_entries;

/// This crate's sync writer.
pub fn write_sync<S: Write>(input: &Input, sink: S) -> Result<S> {
    write_entries!(input, StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?)
}

/// The same, given each entry whole.
pub fn write_at_once<S: Write>(input: &Input, sink: S) -> Result<S> {
    let mut writer = StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?;
    let data = input.entry();
    for index in 0..input.shape.entries {
        writer.add_entry(&Input::name(index), &data)?;
    }
    Ok(writer.finish()?)
}

/// This crate's async writer.
pub async fn write_async<S: AsyncWrite + Unpin>(input: &Input, sink: S, policy: CompressionPolicy) -> Result<S> {
    let writer = AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL)?;
    write_entries!(input, writer.compression_policy(policy), .await)
}

/// This crate's parallel writer on all cores.
pub fn write_parallel<S: Write>(input: &Input, sink: S) -> Result<S> {
    write_entries!(input, ParallelZipWriter::from_writer(sink, ParallelOptions::new().level(LEVEL))?)
}

/// The `zip` crate, streaming into a buffered sink.
pub fn write_zip_crate<S: Write>(input: &Input, sink: S) -> Result<S> {
    let mut writer = zip::ZipWriter::new_stream(BufWriter::with_capacity(PEER_BUFFER_BYTES, sink));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(LEVEL.into()))
        .large_file(input.shape.entry_bytes() >= LIMIT_32);
    for index in 0..input.shape.entries {
        writer.start_file(Input::name(index), options)?;
        for data in input.calls() {
            writer.write_all(data)?;
        }
    }
    let mut stream = writer.finish()?.into_inner();
    stream.flush()?;
    Ok(stream.into_inner().map_err(std::io::IntoInnerError::into_error)?)
}

/// The `async_zip` crate into a buffered sink, each entry given whole.
///
/// Entries given in pieces it describes wrongly (0.0.19 swaps the two sizes, or announces ZIP64 and then does not use it), which the JDK and
/// this crate's reader refuse; whole ones are right.
pub async fn write_async_zip<S: AsyncWrite + Unpin>(input: &Input, sink: S) -> Result<S> {
    let mut writer = ZipFileWriter::with_tokio(tokio::io::BufWriter::with_capacity(PEER_BUFFER_BYTES, sink));
    let data = input.entry();
    for index in 0..input.shape.entries {
        let entry = ZipEntryBuilder::new(Input::name(index).into(), async_zip::Compression::Deflate);
        writer.write_entry_whole(entry, &data).await?;
    }
    let mut buffered = writer.close().await?.into_inner();
    buffered.flush().await?;
    Ok(buffered.into_inner())
}
