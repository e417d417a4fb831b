//! A small parser of archives that shares nothing with the crate and accepts only what the crate's rules allow: it walks the local
//! headers from front to back as a reader of a stream would, then the central directory, and compares the two.

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

/// Reads numbers from front to back.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        taken
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take(2).try_into().unwrap())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn size(&mut self) -> usize {
        self.u32() as usize
    }

    fn text(&mut self, count: u16) -> String {
        String::from_utf8(self.take(count.into()).to_vec()).unwrap()
    }

    fn next_signature(&self) -> Option<u32> {
        self.bytes.get(self.at..self.at + 4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
    }
}

/// Parses a whole archive of entries below 4 GiB.
///
/// # Panics
/// If a single rule is broken.
pub fn parse(bytes: &[u8]) -> Archive {
    let mut cursor = Cursor { bytes, at: 0 };
    let mut entries = Vec::new();
    while cursor.next_signature() == Some(0x0403_4b50) {
        entries.push(local_entry(&mut cursor));
    }
    let directory_at = cursor.at;
    for entry in &mut entries {
        central_entry(&mut cursor, entry);
    }
    let directory_bytes = cursor.at - directory_at;
    let zip64 = entries.len() >= 65_535;
    let numbers = (entries.len(), directory_bytes, directory_at);
    if zip64 {
        zip64_end(&mut cursor, numbers);
    }
    let comment = end(&mut cursor, numbers);
    assert_eq!(cursor.at, bytes.len(), "nothing follows the end record");
    Archive { entries, comment, zip64 }
}

fn local_entry(cursor: &mut Cursor) -> Entry {
    let offset = cursor.at;
    cursor.u32();
    let (version, flags, method, time, day) = (cursor.u16(), cursor.u16(), cursor.u16(), cursor.u16(), cursor.u16());
    let (mut crc32, mut compressed, mut uncompressed) = (cursor.u32(), cursor.size(), cursor.size());
    let (name_len, extra_len) = (cursor.u16(), cursor.u16());
    let name = cursor.text(name_len);
    let extra = cursor.take(extra_len.into());
    let descriptor = flags & 8 != 0;
    assert_eq!(flags & !(8 | 1 << 11), 0, "{name}: only bits 3 and 11 are ever set");
    assert!(!(descriptor && method == 0), "{name}: a stored entry must not have a descriptor");
    assert_eq!(version, if name.ends_with('/') { 20 } else { version_of(method) }, "{name}");
    assert!(day >= 1 << 5 | 1, "{name}: no date lies before 1980-01-01");
    let (data, payload_bytes) = decode(method, &cursor.bytes[cursor.at..], compressed);
    let payload = cursor.take(payload_bytes).to_vec();
    if descriptor {
        assert_eq!((crc32, compressed, uncompressed), (0, 0, 0), "{name}: what is not known yet is zero");
        assert_eq!(cursor.u32(), 0x0807_4b50, "{name}: the descriptor has its signature");
        (crc32, compressed, uncompressed) = (cursor.u32(), cursor.size(), cursor.size());
    }
    assert_eq!((compressed, uncompressed), (payload.len(), data.len()), "{name}");
    assert_eq!(crc32, crc32fast::hash(&data), "{name}");
    let unix_seconds = time_field(extra);
    let text = flags & 1 << 11 != 0;
    // The comment, which stands in the directory only, may ask for bit 11, too.
    let mode = u32::from(text);
    let comment = String::new();
    Entry { name, comment, method, time, date: day, unix_seconds, mode, crc32, offset, descriptor, payload, data }
}

/// Compares a central header with the entry, and adds what only it knows.
fn central_entry(cursor: &mut Cursor, entry: &mut Entry) {
    let local_text_flag = entry.mode == 1;
    let name = &entry.name;
    assert_eq!(
        cursor.u32(),
        0x0201_4b50,
        "{name}: the directory lists the entries in order, with nothing between them"
    );
    assert_eq!(cursor.u16(), 3 << 8 | 63, "{name}: made on Unix by version 6.3");
    assert_eq!(cursor.u16(), if name.ends_with('/') { 20 } else { version_of(entry.method) }, "{name}");
    let flags = cursor.u16();
    assert_eq!((cursor.u16(), cursor.u16(), cursor.u16()), (entry.method, entry.time, entry.date), "{name}");
    assert_eq!(
        (cursor.u32(), cursor.size(), cursor.size()),
        (entry.crc32, entry.payload.len(), entry.data.len()),
        "{name}"
    );
    let (name_len, extra_len, comment_len) = (cursor.u16(), cursor.u16(), cursor.u16());
    assert_eq!((cursor.u16(), cursor.u16()), (0, 0), "{name}: disk and internal attributes");
    let attributes = cursor.u32();
    assert_eq!(cursor.size(), entry.offset, "{name}");
    assert_eq!(&cursor.text(name_len), name);
    assert_eq!(time_field(cursor.take(extra_len.into())), entry.unix_seconds, "{name}: both headers say the same time");
    entry.comment = cursor.text(comment_len);
    entry.mode = attributes >> 16;
    assert_eq!(attributes & 0xffff, if name.ends_with('/') { 0x10 } else { 0 }, "{name}: the bit of a DOS folder");
    let ascii = name.is_ascii() && entry.comment.is_ascii();
    let wanted = u16::from(entry.descriptor) << 3 | u16::from(!ascii) << 11;
    assert_eq!(flags, wanted, "{name}: bit 3 as in the local header, bit 11 if and only if there is more than ASCII");
    assert_eq!(local_text_flag, !ascii, "{name}: bit 11 of the local header");
}

fn zip64_end(cursor: &mut Cursor, (entries, directory_bytes, directory_at): (usize, usize, usize)) {
    let record_at = cursor.at;
    assert_eq!((cursor.u32(), cursor.u64()), (0x0606_4b50, 44));
    assert_eq!((cursor.u16(), cursor.u16()), (3 << 8 | 63, 45));
    assert_eq!((cursor.u32(), cursor.u32()), (0, 0), "this disk and the directory's");
    for number in [entries, entries, directory_bytes, directory_at] {
        assert_eq!(cursor.u64(), number as u64);
    }
    assert_eq!((cursor.u32(), cursor.u32(), cursor.u64()), (0x0706_4b50, 0, record_at as u64));
    assert_eq!(cursor.u32(), 1, "the locator says that there is one disk");
}

fn end(cursor: &mut Cursor, (entries, directory_bytes, directory_at): (usize, usize, usize)) -> String {
    assert_eq!((cursor.u32(), cursor.u32()), (0x0605_4b50, 0));
    let short = u16::try_from(entries).unwrap_or(u16::MAX);
    assert_eq!((cursor.u16(), cursor.u16()), (short, short));
    assert_eq!((cursor.size(), cursor.size()), (directory_bytes, directory_at));
    let comment_len = cursor.u16();
    cursor.text(comment_len)
}

/// The time of the only extra field that an entry below 4 GiB may have.
fn time_field(extra: &[u8]) -> Option<i32> {
    if extra.is_empty() {
        return None;
    }
    assert_eq!(extra.len(), 9, "only the field of the time");
    assert_eq!(extra[..5], [b'U', b'T', 5, 0, 1]);
    Some(i32::from_le_bytes(extra[5..].try_into().unwrap()))
}

fn version_of(method: u16) -> u16 {
    match method {
        0 => 10,
        8 => 20,
        93 => 63,
        _ => panic!("unknown method {method}"),
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
