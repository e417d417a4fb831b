//! A small parser of archives that shares nothing with the crate and accepts only what the crate's rules allow: it walks the local
//! headers from front to back as a reader of a stream would, takes from the central directory what stands only there, and then makes the
//! archive a second time, as the format's description has it: every byte has to be the same.

use std::io::Read;

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
        let (mut out, mut central) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            let folder = entry.name.ends_with('/');
            let version = match entry.method {
                93 => 63,
                8 => 20,
                _ => 10 + 10 * u16::from(folder),
            };
            let ascii = entry.name.is_ascii() && entry.comment.is_ascii();
            let flags = u16::from(entry.descriptor) * 8 + u16::from(!ascii) * 2048;
            let start = [version, flags, entry.method, entry.time, entry.date].map(u16::to_le_bytes).concat();
            let sizes = [entry.crc32.to_le_bytes(), u32_of(entry.payload.len()), u32_of(entry.data.len())].concat();
            let extra = match entry.unix_seconds {
                Some(seconds) => [b"UT\x05\0\x01".as_slice(), &seconds.to_le_bytes()].concat(),
                None => Vec::new(),
            };
            let lengths = [len16(entry.name.as_bytes()), len16(&extra)].concat();
            assert_eq!(out.len(), entry.offset);
            // What is not known yet is zero.
            let in_header = if entry.descriptor { &[0; 12] } else { sizes.as_slice() };
            out.extend([b"PK\x03\x04", start.as_slice(), in_header, &lengths, entry.name.as_bytes(), &extra].concat());
            out.extend_from_slice(&entry.payload);
            if entry.descriptor {
                out.extend([b"PK\x07\x08", sizes.as_slice()].concat());
            }
            let attributes = (entry.mode << 16) + u32::from(folder) * 16;
            let comment = entry.comment.as_bytes();
            let rest = [&len16(comment)[..], &[0; 4], &attributes.to_le_bytes(), &u32_of(entry.offset)].concat();
            central.extend([b"PK\x01\x02\x3f\x03", start.as_slice(), &sizes, &lengths, &rest].concat());
            central.extend([entry.name.as_bytes(), &extra, comment].concat());
        }
        let (count, directory) = (self.entries.len() as u64, out.len());
        let short = u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
        let end = [b"PK\x05\x06\0\0\0\0", &short[..], &short, &u32_of(central.len()), &u32_of(directory)].concat();
        out.extend(&central);
        if self.zip64 {
            let record_at = out.len() as u64;
            out.extend([b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x3f\x03\x2d\0".as_slice(), &[0; 8]].concat());
            let numbers = [count, count, central.len() as u64, directory as u64];
            out.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
            // The locator says that there is one disk.
            out.extend([b"PK\x06\x07\0\0\0\0".as_slice(), &record_at.to_le_bytes(), &[1, 0, 0, 0]].concat());
        }
        out.extend([&end[..], &len16(self.comment.as_bytes()), self.comment.as_bytes()].concat());
        out
    }
}

fn len16(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_le_bytes()
}

fn u32_of(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_le_bytes()
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
