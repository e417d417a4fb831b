//! A small parser of archives that shares nothing with the crate and accepts only what the crate's rules allow: it walks the local
//! headers from front to back as a reader of a stream would, takes from the central directory what stands only there, and then makes the
//! archive a second time, as the format's description has it: every byte has to be the same.

use std::io::Read;

use super::forged::corpus::with_descriptor;
use super::forged::{Member, stored, zip_after};

/// What the archive says of one entry, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub comment: String,
    pub method: u16,
    pub time: u16,
    pub date: u16,
    pub unix_seconds: Option<i32>,
    pub mode: u32,
    pub crc32: u32,
    pub offset: usize,
    pub descriptor: bool,
    pub payload: Vec<u8>,
    pub data: Vec<u8>,
}

#[derive(Debug)]
pub struct Archive {
    pub entries: Vec<Entry>,
    pub comment: String,
    pub zip64: bool,
}

/// Reads from front to back.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        self.0.split_off(..count).unwrap()
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take(2).try_into().unwrap())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn text(&mut self, count: u16) -> String {
        String::from_utf8(self.take(count.into()).to_vec()).unwrap()
    }
}

/// Parses a whole archive of entries below 4 GiB.
///
/// # Panics
/// If a single rule is broken.
pub fn parse(bytes: &[u8]) -> Archive {
    let mut cursor = Cursor(bytes);
    let mut entries = Vec::new();
    while cursor.0.starts_with(b"PK\x03\x04") {
        let offset = bytes.len() - cursor.0.len();
        entries.push(local_entry(&mut cursor, offset));
    }
    for entry in &mut entries {
        central_entry(&mut cursor, entry);
    }
    let zip64 = entries.len() >= 65_535;
    // Past the ZIP64 records and the short one, but for the comment's length.
    cursor.take(if zip64 { 76 + 20 } else { 20 });
    let comment_len = cursor.u16();
    let archive = Archive { entries, comment: cursor.text(comment_len), zip64 };
    assert!(archive.build() == bytes, "a naive writer makes the same bytes");
    archive
}

fn local_entry(cursor: &mut Cursor, offset: usize) -> Entry {
    cursor.take(6);
    let (flags, method, time, day) = (cursor.u16(), cursor.u16(), cursor.u16(), cursor.u16());
    cursor.take(4);
    let compressed = cursor.u32() as usize;
    cursor.take(4);
    let (name_len, extra_len) = (cursor.u16(), cursor.u16());
    let name = cursor.text(name_len);
    let extra = cursor.take(extra_len.into());
    let descriptor = flags & 8 != 0;
    assert!(!(descriptor && method == 0), "{name}: a stored entry must not have a descriptor");
    assert!(day >= 1 << 5 | 1, "{name}: no date lies before 1980-01-01");
    // The time is the only extra field that an entry below 4 GiB may have.
    let unix_seconds = extra.get(5..9).map(|seconds| i32::from_le_bytes(seconds.try_into().unwrap()));
    let (data, payload_bytes) = decode(method, cursor.0, compressed);
    let payload = cursor.take(payload_bytes).to_vec();
    cursor.take(if descriptor { 16 } else { 0 });
    let (crc32, comment) = (crc32fast::hash(&data), String::new());
    Entry { name, comment, method, time, date: day, unix_seconds, mode: 0, crc32, offset, descriptor, payload, data }
}

/// Adds what only the central header knows.
fn central_entry(cursor: &mut Cursor, entry: &mut Entry) {
    cursor.take(28);
    let (name_len, extra_len, comment_len) = (cursor.u16(), cursor.u16(), cursor.u16());
    cursor.take(4);
    entry.mode = cursor.u32() >> 16;
    cursor.take(4 + usize::from(name_len + extra_len));
    entry.comment = cursor.text(comment_len);
}

impl Archive {
    /// The archive as the format's description has it, with the payloads as they are.
    fn build(&self) -> Vec<u8> {
        let members: Vec<Member> = self.entries.iter().map(Entry::member).collect();
        let zip = zip_after(b"", &members, self.comment.as_bytes());
        let offsets: Vec<usize> = self.entries.iter().map(|entry| entry.offset).collect();
        assert_eq!(zip.local, offsets);
        if !self.zip64 {
            return zip.bytes;
        }
        let wide = zip.wide(|numbers| numbers);
        // Size and offset of the directory stay where they fit.
        wide.with(wide.end + 12, &zip.bytes[zip.end + 12..zip.end + 20]).bytes
    }
}

impl Entry {
    fn member(&self) -> Member {
        let folder = self.name.ends_with('/');
        let version = match self.method {
            93 => 63,
            8 => 20,
            _ => 10 + 10 * u16::from(folder),
        };
        let ascii = self.name.is_ascii() && self.comment.is_ascii();
        let time = self.unix_seconds.map(|seconds| [b"UT\x05\0\x01".as_slice(), &seconds.to_le_bytes()].concat());
        let extra = time.unwrap_or_default();
        let member = Member {
            version,
            flags: u16::from(!ascii) << 11,
            method: self.method,
            data: self.payload.clone(),
            mode: self.mode,
            time: self.time,
            date: self.date,
            comment: self.comment.clone().into_bytes(),
            local_extra: extra.clone(),
            central_extra: extra,
            ..stored(&self.name, &self.data)
        };
        if self.descriptor { with_descriptor(member) } else { member }
    }
}

/// The data at the start of `bytes`, and how many bytes it takes there: the stream itself says where it ends.
fn decode(method: u16, bytes: &[u8], stored_len: usize) -> (Vec<u8>, usize) {
    let mut data = Vec::new();
    let used = match method {
        0 => {
            data.extend_from_slice(&bytes[..stored_len]);
            stored_len
        }
        8 => {
            let mut decoder = flate2::bufread::DeflateDecoder::new(bytes);
            decoder.read_to_end(&mut data).unwrap();
            usize::try_from(decoder.total_in()).unwrap()
        }
        #[cfg(feature = "zstd")]
        93 => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).unwrap().single_frame();
            decoder.read_to_end(&mut data).unwrap();
            bytes.len() - decoder.finish().len()
        }
        _ => panic!("unknown method {method}"),
    };
    (data, used)
}
