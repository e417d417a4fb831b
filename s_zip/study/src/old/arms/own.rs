//! This crate's writers and their peers, each used as its documentation shows.

use std::io::{self, Write};
use std::num::NonZero;

use async_zip::base::write::ZipFileWriter;
use async_zip::{Compression as PeerCompression, ZipEntryBuilder};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use zip::write::SimpleFileOptions;

use super::encoders::LEVEL;
use super::input::Input;
use crate::format::LIMIT_32;
use crate::{
    AsyncStreamingZipWriter, Compression, CompressionPolicy, EntryOptions, ParallelOptions, ParallelZipWriter,
    StreamingZipWriter,
};

/// Buffer that the peers' sinks are given, the size of this crate's own.
const PEER_BUFFER_BYTES: usize = 128 * 1024;

/// This crate's sync writer.
///
/// # Errors
/// If the sink fails.
pub fn write_sync<S: Write>(input: &Input, sink: S) -> io::Result<S> {
    let mut writer = StreamingZipWriter::from_writer_with_compression(sink, LEVEL).map_err(io::Error::other)?;
    for index in 0..input.entries {
        writer.start_entry(&Input::name(index)).map_err(io::Error::other)?;
        for data in input.calls() {
            writer.write_data(data).map_err(io::Error::other)?;
        }
    }
    writer.finish().map_err(io::Error::other)
}

/// This crate's sync writer with entries stored, their size and CRC announced.
///
/// # Errors
/// If the sink fails.
pub fn write_stored<S: Write>(input: &Input, sink: S) -> io::Result<S> {
    let mut writer = StreamingZipWriter::from_writer(sink).map_err(io::Error::other)?;
    let crc32 = input.entry_crc32();
    for index in 0..input.entries {
        let options = EntryOptions::new().compression(Compression::Stored).size(input.entry_bytes()).crc32(crc32);
        writer.start_entry_with_options(&Input::name(index), options).map_err(io::Error::other)?;
        for data in input.calls() {
            writer.write_data(data).map_err(io::Error::other)?;
        }
    }
    writer.finish().map_err(io::Error::other)
}

/// This crate's async writer.
///
/// # Errors
/// If the sink fails.
pub async fn write_async<S: AsyncWrite + Unpin>(input: &Input, sink: S, policy: CompressionPolicy) -> io::Result<S> {
    let writer = AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL).map_err(io::Error::other)?;
    let mut writer = writer.compression_policy(policy);
    for index in 0..input.entries {
        writer.start_entry(&Input::name(index)).await.map_err(io::Error::other)?;
        for data in input.calls() {
            writer.write_data(data).await.map_err(io::Error::other)?;
        }
    }
    writer.finish().await.map_err(io::Error::other)
}

/// This crate's parallel writer with so many threads.
///
/// # Errors
/// If the sink fails or the threads cannot be started.
pub fn write_parallel<S: Write>(input: &Input, sink: S, jobs: Option<NonZero<usize>>) -> io::Result<S> {
    let mut options = ParallelOptions::new().level(LEVEL);
    if let Some(jobs) = jobs {
        options = options.jobs(jobs);
    }
    let mut writer = ParallelZipWriter::from_writer(sink, options).map_err(io::Error::other)?;
    for index in 0..input.entries {
        writer.start_entry(&Input::name(index)).map_err(io::Error::other)?;
        for data in input.calls() {
            writer.write_data(data).map_err(io::Error::other)?;
        }
    }
    writer.finish().map_err(io::Error::other)
}

/// The `zip` crate, streaming into a buffered sink.
///
/// # Errors
/// If the sink fails.
pub fn write_zip_crate<S: Write>(input: &Input, sink: S) -> io::Result<S> {
    let buffered = io::BufWriter::with_capacity(PEER_BUFFER_BYTES, sink);
    let mut writer = zip::ZipWriter::new_stream(buffered);
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(i64::from(LEVEL)))
        .large_file(input.entry_bytes() >= LIMIT_32);
    for index in 0..input.entries {
        writer.start_file(Input::name(index), options).map_err(io::Error::other)?;
        for data in input.calls() {
            writer.write_all(data)?;
        }
    }
    let mut stream = writer.finish().map_err(io::Error::other)?.into_inner();
    stream.flush()?;
    stream.into_inner().map_err(io::IntoInnerError::into_error)
}

/// The `async_zip` crate into a buffered sink, each entry given whole.
///
/// Entries given in pieces it describes wrongly (0.0.19 swaps the two sizes, or announces ZIP64 and then does not use it), which the JDK and
/// this crate's reader refuse; whole ones are right.
///
/// # Errors
/// If the sink fails.
pub async fn write_async_zip<S: AsyncWrite + Unpin>(input: &Input, sink: S) -> io::Result<S> {
    let buffered = tokio::io::BufWriter::with_capacity(PEER_BUFFER_BYTES, sink);
    let mut writer = ZipFileWriter::with_tokio(buffered);
    let data = input.entry();
    for index in 0..input.entries {
        let entry = ZipEntryBuilder::new(Input::name(index).into(), PeerCompression::Deflate);
        writer.write_entry_whole(entry, &data).await.map_err(io::Error::other)?;
    }
    let mut buffered = writer.close().await.map_err(io::Error::other)?.into_inner();
    buffered.flush().await?;
    Ok(buffered.into_inner())
}
