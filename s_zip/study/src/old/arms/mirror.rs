//! The published writer's shape, written anew: no output buffer, each header field a write of its own, a question for the position before
//! each entry, a fresh compressor per entry, a sync flush after each `write_data`.
//!
//! An archive of E entries so takes 33 E + 8 writes and E + 2 seeks.

use std::io::{self, Seek, Write};

use tokio::io::{AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt};

use super::encoders::{AsyncEncoder, SyncEncoder};
use super::input::Input;

/// Compressed data waits in memory up to this size.
const THRESHOLD_BYTES: usize = 1 << 20;

const LOCAL_FIELDS: &[usize] = &[4, 2, 2, 2, 4, 4, 4, 4, 2, 2];
const DESCRIPTOR_FIELDS: &[usize] = &[4, 4, 4, 4];
const CENTRAL_FIELDS: &[usize] = &[4, 2, 2, 2, 2, 4, 4, 4, 4, 2, 2, 2, 2, 2, 4, 4];
const END_FIELDS: &[usize] = &[4, 2, 2, 2, 2, 4, 4, 2];

/// How the compressors of an archive come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoders {
    /// A new one for each entry, as published.
    Fresh,
    /// One, started anew for each entry.
    Reused,
}

struct Written {
    name: String,
    offset: u64,
    crc32: u32,
    compressed: u64,
    uncompressed: u64,
}

/// Writes the archive of `input` and gives the sink back.
///
/// # Errors
/// If the sink fails or the archive would need ZIP64.
pub fn write_sync<S: Write + Seek, E: SyncEncoder>(
    input: &Input,
    mut sink: S,
    make: impl Fn() -> E,
    encoders: Encoders,
) -> io::Result<S> {
    let mut kept: Option<E> = None;
    let mut entries = Vec::new();
    for index in 0..input.entries {
        let name = Input::name(index);
        let offset = sink.stream_position()?;
        put(&mut sink, &local_header(&name)?, LOCAL_FIELDS)?;
        sink.write_all(name.as_bytes())?;
        let mut encoder = match kept.take() {
            Some(mut encoder) if encoders == Encoders::Reused => {
                encoder.restart()?;
                encoder
            }
            _ => make(),
        };
        let mut counts = Counts::default();
        for data in input.calls() {
            counts.add(data);
            encoder.write_all(data)?;
            encoder.flush()?;
            if encoder.output().len() >= THRESHOLD_BYTES {
                counts.compressed += encoder.output().len() as u64;
                sink.write_all(&std::mem::take(encoder.output()))?;
            }
        }
        encoder.end()?;
        let rest = std::mem::take(encoder.output());
        if !rest.is_empty() {
            sink.write_all(&rest)?;
        }
        counts.compressed += rest.len() as u64;
        kept = Some(encoder);
        let entry = counts.entry(name, offset);
        put(&mut sink, &descriptor(&entry)?, DESCRIPTOR_FIELDS)?;
        entries.push(entry);
    }
    let directory = sink.stream_position()?;
    for entry in &entries {
        put(&mut sink, &central_header(entry)?, CENTRAL_FIELDS)?;
        sink.write_all(entry.name.as_bytes())?;
    }
    let end = sink.stream_position()?;
    put(&mut sink, &end_record(entries.len(), directory, end)?, END_FIELDS)?;
    sink.flush()?;
    Ok(sink)
}

/// The same, awaiting each operation.
///
/// # Errors
/// If the sink fails or the archive would need ZIP64.
pub async fn write_async<S: AsyncWrite + AsyncSeek + Unpin, E: AsyncEncoder>(
    input: &Input,
    mut sink: S,
    make: impl Fn() -> E,
) -> io::Result<S> {
    let mut entries = Vec::new();
    for index in 0..input.entries {
        let name = Input::name(index);
        let offset = sink.stream_position().await?;
        put_async(&mut sink, &local_header(&name)?, LOCAL_FIELDS).await?;
        sink.write_all(name.as_bytes()).await?;
        let mut encoder = make();
        let mut counts = Counts::default();
        for data in input.calls() {
            counts.add(data);
            encoder.write_all(data).await?;
            encoder.flush().await?;
            if encoder.output().len() >= THRESHOLD_BYTES {
                counts.compressed += encoder.output().len() as u64;
                sink.write_all(&std::mem::take(encoder.output())).await?;
            }
        }
        encoder.shutdown().await?;
        let rest = std::mem::take(encoder.output());
        if !rest.is_empty() {
            sink.write_all(&rest).await?;
        }
        counts.compressed += rest.len() as u64;
        let entry = counts.entry(name, offset);
        put_async(&mut sink, &descriptor(&entry)?, DESCRIPTOR_FIELDS).await?;
        entries.push(entry);
    }
    let directory = sink.stream_position().await?;
    for entry in &entries {
        put_async(&mut sink, &central_header(entry)?, CENTRAL_FIELDS).await?;
        sink.write_all(entry.name.as_bytes()).await?;
    }
    let end = sink.stream_position().await?;
    put_async(&mut sink, &end_record(entries.len(), directory, end)?, END_FIELDS).await?;
    sink.flush().await?;
    Ok(sink)
}

#[derive(Default)]
struct Counts {
    crc: crc32fast::Hasher,
    compressed: u64,
    uncompressed: u64,
}

impl Counts {
    fn add(&mut self, data: &[u8]) {
        self.crc.update(data);
        self.uncompressed += data.len() as u64;
    }

    fn entry(self, name: String, offset: u64) -> Written {
        let Counts { crc, compressed, uncompressed } = self;
        Written { name, offset, crc32: crc.finalize(), compressed, uncompressed }
    }
}

fn put(sink: &mut impl Write, record: &[u8], fields: &[usize]) -> io::Result<()> {
    let mut rest = record;
    for &width in fields {
        let (field, after) = rest.split_at(width);
        sink.write_all(field)?;
        rest = after;
    }
    Ok(())
}

async fn put_async(sink: &mut (impl AsyncWrite + Unpin), record: &[u8], fields: &[usize]) -> io::Result<()> {
    let mut rest = record;
    for &width in fields {
        let (field, after) = rest.split_at(width);
        sink.write_all(field).await?;
        rest = after;
    }
    Ok(())
}

fn local_header(name: &str) -> io::Result<Vec<u8>> {
    let mut record = Vec::with_capacity(30);
    record.extend(crate::format::LOCAL_HEADER.to_le_bytes());
    // Version 20, descriptor follows, Deflate, no time, no CRC, no sizes.
    record.extend([20, 0, 8, 0, 8, 0]);
    record.extend([0; 16]);
    record.extend(narrow16(name.len())?.to_le_bytes());
    record.extend([0; 2]);
    Ok(record)
}

fn descriptor(entry: &Written) -> io::Result<Vec<u8>> {
    let mut record = Vec::with_capacity(16);
    record.extend(crate::format::DESCRIPTOR.to_le_bytes());
    record.extend(entry.crc32.to_le_bytes());
    record.extend(narrow32(entry.compressed)?.to_le_bytes());
    record.extend(narrow32(entry.uncompressed)?.to_le_bytes());
    Ok(record)
}

fn central_header(entry: &Written) -> io::Result<Vec<u8>> {
    let mut record = Vec::with_capacity(46);
    record.extend(crate::format::CENTRAL_HEADER.to_le_bytes());
    record.extend([20, 0, 20, 0, 8, 0, 8, 0, 0, 0, 0, 0]);
    record.extend(entry.crc32.to_le_bytes());
    record.extend(narrow32(entry.compressed)?.to_le_bytes());
    record.extend(narrow32(entry.uncompressed)?.to_le_bytes());
    record.extend(narrow16(entry.name.len())?.to_le_bytes());
    record.extend([0; 12]);
    record.extend(narrow32(entry.offset)?.to_le_bytes());
    Ok(record)
}

fn end_record(entries: usize, directory: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut record = Vec::with_capacity(22);
    record.extend(crate::format::END.to_le_bytes());
    record.extend([0; 4]);
    record.extend(narrow16(entries)?.to_le_bytes());
    record.extend(narrow16(entries)?.to_le_bytes());
    record.extend(narrow32(end - directory)?.to_le_bytes());
    record.extend(narrow32(directory)?.to_le_bytes());
    record.extend([0; 2]);
    Ok(record)
}

fn narrow16(value: usize) -> io::Result<u16> {
    u16::try_from(value).map_err(|_| io::Error::other("the published shape has no ZIP64"))
}

/// Where the published writer lets a 32-bit size or offset overflow, ours fails.
fn narrow32(value: u64) -> io::Result<u32> {
    u32::try_from(value).map_err(|_| io::Error::other("the published shape has no ZIP64"))
}
