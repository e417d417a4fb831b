//! This crate's writers and their peers, each used as its documentation shows.

use std::io::{BufWriter, Write};
use std::iter;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;
use async_zip::ZipEntryBuilder;
use async_zip::base::write::ZipFileWriter;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use s_zip::format::LIMIT_32;
use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, ConcurrentZipWriter, StreamingZipWriter};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use zip::write::SimpleFileOptions;

use crate::encoders::LEVEL;
use crate::input::Input;
use crate::many::on_threads;

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
pub(crate) use write_entries;

/// This crate's sync writer, given each entry whole.
pub fn write_at_once<S: Write>(input: &Input, sink: S) -> Result<S> {
    let mut writer = StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?;
    let data = input.entry();
    for index in 0..input.shape.entries {
        writer.add_entry(&Input::name(index), &data)?;
    }
    Ok(writer.finish()?)
}

pub async fn write_async<S: AsyncWrite + Unpin>(input: &Input, sink: S, policy: CompressionPolicy) -> Result<S> {
    let writer = AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL)?;
    write_entries!(input, writer.compression_policy(policy), .await)
}

/// This crate's concurrent writer: as many threads as there are cores, each of which takes the next entry when it is done with one.
pub fn write_concurrent<S: Write + Send>(input: &Input, sink: S) -> Result<S> {
    let writer = ConcurrentZipWriter::from_writer_with_compression(sink, LEVEL)?;
    let next = Mutex::new(0..input.shape.entries);
    // The lock is held until the entry has its place: the archive is checked in the order of the names.
    let start = || {
        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
        Some(writer.start_entry(&Input::name(next.next()?)))
    };
    let work = || -> Result<()> {
        while let Some(entry) = start() {
            let mut entry = entry?;
            for data in input.calls() {
                entry.write_all(data)?;
            }
            entry.finish()?;
        }
        Ok(())
    };
    on_threads(iter::repeat_n(work, thread::available_parallelism().map_or(1, NonZero::get)))?;
    Ok(writer.finish()?)
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

/// The `rawzip` crate into a buffered sink, with flate2 as its documentation has it.
pub fn write_rawzip<S: Write>(input: &Input, sink: S) -> Result<S> {
    let mut archive = rawzip::ZipArchiveWriter::new(BufWriter::with_capacity(PEER_BUFFER_BYTES, sink));
    for index in 0..input.shape.entries {
        let name = Input::name(index);
        let (mut entry, config) =
            archive.new_file(&name).compression_method(rawzip::CompressionMethod::Deflate).start()?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::new(LEVEL)));
        for data in input.calls() {
            writer.write_all(data)?;
        }
        let (encoder, descriptor) = writer.finish()?;
        encoder.finish()?;
        entry.finish(descriptor)?;
    }
    Ok(archive.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?)
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
