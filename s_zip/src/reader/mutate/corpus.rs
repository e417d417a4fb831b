//! The valid archives that mutations start from, one for each form that the format has.

use flate2::{Compress, Compression, FlushCompress};

use crate::format::{END, End, Header, METHOD_DEFLATE, METHOD_STORED, ZIP64_END, ZIP64_LOCATOR};
use crate::time::{DOS_EPOCH, DosDateTime};

/// Valid archives of at most about one KiB each: stored and deflated entries (with the feature `zstd` also those), sizes in the header, in
/// a descriptor and in ZIP64 fields, ZIP64 end records, folders, comments, names that are not ASCII, times and modes.
pub fn corpus() -> Vec<Vec<u8>> {
    let text = "All work and no play makes a dull archive. ".repeat(12);
    let zeros = vec![0; 20_000];
    let noise: Vec<u8> = (0..150_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let all = vec![
        Archive::new().end(""),
        Archive::new().add("stored.txt", METHOD_STORED, b"stored", |_| ()).end(""),
        Archive::new().add("deflated.txt", METHOD_DEFLATE, text.as_bytes(), |_| ()).end("the comment"),
        Archive::new().add("zeros", METHOD_DEFLATE, &zeros, |header| header.descriptor = true).end(""),
        Archive::new()
            .add("folder/", METHOD_STORED, b"", |header| header.unix_mode = 0o040_755)
            .add("folder/noise.bin", METHOD_STORED, &noise, |header| header.unix_mode = 0o100_600)
            .add("folder/text", METHOD_DEFLATE, text.as_bytes(), |header| header.descriptor = true)
            .end(""),
        Archive::new()
            .add("wide", METHOD_DEFLATE, text.as_bytes(), |header| header.zip64_local = true)
            .add("wide, with descriptor", METHOD_DEFLATE, &noise, |header| {
                (header.zip64_local, header.descriptor) = (true, true);
            })
            .end(""),
        Archive::new().add("wide end", METHOD_STORED, b"data", |_| ()).wide_end("wide"),
        Archive::new()
            .add("größe/日本語.txt", METHOD_DEFLATE, "ü".repeat(40).as_bytes(), |header| {
                header.comment = "é".into();
            })
            .add("empty", METHOD_STORED, b"", |header| header.comment = "nothing in it".into())
            .add("time", METHOD_STORED, b"1", |header| header.modified = Some(1_700_000_001))
            .end("Kommentar ü"),
    ];
    #[cfg(feature = "zstd")]
    let all = [all, vec![zstandard(text.as_bytes())]].concat();
    all
}

#[cfg(feature = "zstd")]
fn zstandard(data: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(data, 3).unwrap_or_default();
    let archive = Archive::new().add_packed("zstd", crate::format::METHOD_ZSTD, data, &packed, |_| ());
    archive.add_packed("again", crate::format::METHOD_ZSTD, data, &packed, |header| header.descriptor = true).end("")
}

/// An archive in the making.
struct Archive {
    bytes: Vec<u8>,
    central: Vec<u8>,
    entries: u64,
}

impl Archive {
    fn new() -> Self {
        Archive { bytes: Vec::new(), central: Vec::new(), entries: 0 }
    }

    fn add(self, name: &str, method: u16, data: &[u8], change: impl FnOnce(&mut Header)) -> Self {
        let packed = if method == METHOD_DEFLATE { deflate(data) } else { data.to_vec() };
        self.add_packed(name, method, data, &packed, change)
    }

    fn add_packed(
        mut self,
        name: &str,
        method: u16,
        data: &[u8],
        packed: &[u8],
        change: impl FnOnce(&mut Header),
    ) -> Self {
        let dos = DosDateTime::from_unix(DOS_EPOCH);
        let mut header = Header {
            name: name.into(),
            comment: "".into(),
            method,
            dos_time: dos.time,
            dos_date: dos.date,
            modified: None,
            unix_mode: 0o100_644,
            crc32: crc32fast::hash(data),
            compressed: packed.len() as u64,
            uncompressed: data.len() as u64,
            offset: self.bytes.len() as u64,
            descriptor: false,
            zip64_local: false,
        };
        change(&mut header);
        header.put_local(&mut self.bytes);
        self.bytes.extend_from_slice(packed);
        if header.descriptor {
            header.put_descriptor(&mut self.bytes);
        }
        header.put_central(&mut self.central);
        self.entries += 1;
        self
    }

    fn end(mut self, comment: &str) -> Vec<u8> {
        let (directory_offset, directory_bytes) = (self.bytes.len() as u64, self.central.len() as u64);
        self.bytes.append(&mut self.central);
        End { entries: self.entries, directory_offset, directory_bytes, comment }.put(&mut self.bytes);
        self.bytes
    }

    /// With ZIP64 end records although nothing needs them.
    fn wide_end(mut self, comment: &str) -> Vec<u8> {
        let (offset, size) = (self.bytes.len() as u64, self.central.len() as u64);
        let mut out = std::mem::take(&mut self.bytes);
        out.append(&mut self.central);
        let put = |out: &mut Vec<u8>, value: u64, width: usize| out.extend(value.to_le_bytes().iter().take(width));
        let fields = [
            (ZIP64_END.into(), 4),
            (44, 8),
            (45, 2),
            (45, 2),
            (0, 8),
            (self.entries, 8),
            (self.entries, 8),
            (size, 8),
            (offset, 8),
            (ZIP64_LOCATOR.into(), 4),
            (0, 4),
            (offset + size, 8),
            (1, 4),
            (END.into(), 4),
            (0, 4),
            (u64::MAX, 4),
            (u64::MAX, 8),
            (comment.len() as u64, 2),
        ];
        for (value, width) in fields {
            put(&mut out, value, width);
        }
        out.extend_from_slice(comment.as_bytes());
        out
    }
}

fn deflate(data: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(data.len() + 64);
    // There is room for all of it: it cannot fail, and would make an archive that a test refuses.
    let _ = Compress::new(Compression::default(), false).compress_vec(data, &mut packed, FlushCompress::Finish);
    packed
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, Outcome, exercise};
    use super::corpus;

    #[test]
    fn every_archive_of_the_corpus_is_small_and_read_in_full() {
        for (index, archive) in corpus().iter().enumerate() {
            let outcome = exercise(archive, Limits::default());
            assert!(matches!(outcome, Outcome::Read { .. }), "{index}: {outcome:?}");
            assert!(archive.len() <= 1200, "{index}: {} bytes", archive.len());
        }
    }
}
