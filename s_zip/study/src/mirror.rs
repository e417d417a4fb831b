//! The published writer's shape, written anew: no output buffer, each header field a write of its own, a question for the position before
//! each entry, a fresh compressor per entry, a sync flush after each `write_data`. An archive of E entries so takes 33 E + 8 writes and E + 2 seeks.

use std::io::{self, Seek, Write};

use anyhow::{Result, ensure};
use s_zip::format::{CENTRAL_HEADER, DESCRIPTOR, END, LOCAL_HEADER};
use tokio::io::{AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt};

use crate::encoders::{AsyncEncoder, SyncEncoder};
use crate::input::Input;

/// Compressed data waits in memory up to this size.
const THRESHOLD_BYTES: usize = 1 << 20;

/// An entry as far as it is written.
#[derive(Default)]
struct Written {
    name: String,
    offset: u64,
    crc: crc32fast::Hasher,
    crc32: u32,
    compressed: u64,
    uncompressed: u64,
}

/// Writes the archive of `$input` to `$sink`: one text for both writers, so that they differ in nothing but that `$wait` stands behind every
/// operation. `$encoder` is where the compressor of an entry comes from, `$done` where it goes, `$end` what completes its stream.
macro_rules! write_archive {
    ($input:ident, $sink:ident, $encoder:expr, $done:expr, $end:ident, $put:ident $(, $dot:tt $wait:tt)?) => {{
        let mut entries = Vec::new();
        for index in 0..$input.shape.entries {
            let offset = $sink.stream_position() $($dot $wait)? ?;
            let mut entry = Written { name: Input::name(index), offset, ..Written::default() };
            $put(&mut $sink, &entry.local_header(), &LOCAL_FIELDS) $($dot $wait)? ?;
            $sink.write_all(entry.name.as_bytes()) $($dot $wait)? ?;
            let mut encoder = $encoder;
            for data in $input.calls() {
                entry.crc.update(data);
                entry.uncompressed += data.len() as u64;
                encoder.write_all(data) $($dot $wait)? ?;
                encoder.flush() $($dot $wait)? ?;
                if encoder.output().len() >= THRESHOLD_BYTES {
                    entry.compressed += encoder.output().len() as u64;
                    $sink.write_all(&std::mem::take(encoder.output())) $($dot $wait)? ?;
                }
            }
            encoder.$end() $($dot $wait)? ?;
            let rest = std::mem::take(encoder.output());
            if !rest.is_empty() {
                $sink.write_all(&rest) $($dot $wait)? ?;
            }
            entry.compressed += rest.len() as u64;
            $done(encoder);
            entry.crc32 = entry.crc.clone().finalize();
            $put(&mut $sink, &entry.descriptor(), &DESCRIPTOR_FIELDS) $($dot $wait)? ?;
            entries.push(entry);
        }
        let directory = $sink.stream_position() $($dot $wait)? ?;
        for entry in &entries {
            $put(&mut $sink, &entry.central_header(), &CENTRAL_FIELDS) $($dot $wait)? ?;
            $sink.write_all(entry.name.as_bytes()) $($dot $wait)? ?;
        }
        let end = $sink.stream_position() $($dot $wait)? ?;
        $put(&mut $sink, &end_record(entries.len() as u64, directory, end), &END_FIELDS) $($dot $wait)? ?;
        $sink.flush() $($dot $wait)? ?;
        Ok($sink)
    }};
}

/// Writes the archive of `input` and gives the sink back. The compressor of an entry is made of the one before.
pub fn write_sync<S: Write + Seek, E: SyncEncoder>(
    input: &Input,
    mut sink: S,
    make: impl Fn(Option<E>) -> io::Result<E>,
) -> Result<S> {
    let mut used = None;
    write_archive!(input, sink, make(used.take())?, |encoder| used = Some(encoder), end, put)
}

/// The same, awaiting each operation, with a new compressor for each entry.
pub async fn write_async<S: AsyncWrite + AsyncSeek + Unpin, E: AsyncEncoder>(
    input: &Input,
    mut sink: S,
    make: impl Fn() -> E,
) -> Result<S> {
    write_archive!(input, sink, make(), drop, shutdown, put_async, .await)
}

// The widths of a record's fields in bytes.
const LOCAL_FIELDS: [usize; 10] = [4, 2, 2, 2, 4, 4, 4, 4, 2, 2];
const DESCRIPTOR_FIELDS: [usize; 4] = [4; 4];
const CENTRAL_FIELDS: [usize; 16] = [4, 2, 2, 2, 2, 4, 4, 4, 4, 2, 2, 2, 2, 2, 4, 4];
const END_FIELDS: [usize; 8] = [4, 2, 2, 2, 2, 4, 4, 2];

impl Written {
    /// Version 20, a descriptor follows, Deflate; no time, no CRC, no sizes.
    fn local_header(&self) -> [u64; 10] {
        [LOCAL_HEADER.into(), 20, 8, 8, 0, 0, 0, 0, self.name.len() as u64, 0]
    }

    fn descriptor(&self) -> [u64; 4] {
        [DESCRIPTOR.into(), self.crc32.into(), self.compressed, self.uncompressed]
    }

    fn central_header(&self) -> [u64; 16] {
        let (crc32, name) = (self.crc32.into(), self.name.len() as u64);
        let Written { compressed, uncompressed, offset, .. } = *self;
        [CENTRAL_HEADER.into(), 20, 20, 8, 8, 0, crc32, compressed, uncompressed, name, 0, 0, 0, 0, 0, offset]
    }
}

fn end_record(entries: u64, directory: u64, end: u64) -> [u64; 8] {
    [END.into(), 0, 0, entries, entries, end - directory, directory, 0]
}

fn put(sink: &mut impl Write, record: &[u64], widths: &[usize]) -> Result<()> {
    for (&number, &width) in record.iter().zip(widths) {
        check(number, width)?;
        sink.write_all(&number.to_le_bytes()[..width])?;
    }
    Ok(())
}

async fn put_async(sink: &mut (impl AsyncWrite + Unpin), record: &[u64], widths: &[usize]) -> Result<()> {
    for (&number, &width) in record.iter().zip(widths) {
        check(number, width)?;
        sink.write_all(&number.to_le_bytes()[..width]).await?;
    }
    Ok(())
}

/// Where the published writer lets a number overflow, ours fails.
fn check(number: u64, width: usize) -> Result<()> {
    ensure!(number >> (8 * width) == 0, "the published shape has no ZIP64");
    Ok(())
}
