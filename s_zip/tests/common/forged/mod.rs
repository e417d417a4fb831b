//! Archives made by hand, so that every field can lie.

pub mod corpus;
pub mod mutation;
pub mod numbers;
pub mod times;

use std::io::Cursor;

use flate2::{Compress, Compression, FlushCompress};
use s_zip::reader::Summary;
use s_zip::{Limits, ReadError, StreamingZipReader};

/// One entry as it is to be written.
#[derive(Clone, Default)]
pub struct Member {
    pub name: Vec<u8>,
    /// The version that it takes to read it.
    pub version: u16,
    pub flags: u16,
    /// The flags of the local header, if they are others.
    pub local_flags: Option<u16>,
    pub method: u16,
    pub data: Vec<u8>,
    pub crc32: u32,
    pub uncompressed: u32,
    pub mode: u32,
    /// The system that the archive was made on, by its number.
    pub host: u8,
    /// The attributes of MS-DOS.
    pub attributes: u32,
    pub time: u16,
    pub date: u16,
    pub comment: Vec<u8>,
    /// Both headers say that the sizes stand in a ZIP64 field, which is one of the extra fields below.
    pub wide: bool,
    pub local_extra: Vec<u8>,
    pub central_extra: Vec<u8>,
    /// What follows the data.
    pub tail: Vec<u8>,
}

pub fn stored(name: &str, data: &[u8]) -> Member {
    Member {
        name: name.as_bytes().to_vec(),
        version: 20,
        data: data.to_vec(),
        crc32: crc32fast::hash(data),
        uncompressed: u32::try_from(data.len()).unwrap(),
        mode: 0o100_644,
        host: 3,
        date: 1 << 5 | 1,
        ..Member::default()
    }
}

pub fn deflated(name: &str, data: &[u8]) -> Member {
    Member { method: 8, data: deflate(data, FlushCompress::Finish), ..stored(name, data) }
}

pub fn deflate(data: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut packed = Vec::with_capacity(data.len() + 100);
    Compress::new(Compression::best(), false).compress_vec(data, &mut packed, flush).unwrap();
    packed
}

/// The ZIP64 field with these sizes, uncompressed and compressed.
pub fn wide_field(sizes: [u64; 2]) -> Vec<u8> {
    let [uncompressed, compressed] = sizes.map(u64::to_le_bytes);
    [&[1, 0, 16, 0][..], &uncompressed, &compressed].concat()
}

/// A gigabyte of zeros, as the same megabyte again and again.
pub fn bomb() -> Member {
    let zeros = vec![0; 1 << 20];
    let mut data = deflate(&zeros, FlushCompress::Full).repeat(1024);
    data.extend(deflate(b"", FlushCompress::Finish));
    Member { method: 8, data, uncompressed: 1 << 30, ..stored("bomb", b"") }
}

/// An archive and where its parts are.
#[derive(Clone)]
pub struct Zip {
    pub bytes: Vec<u8>,
    pub local: Vec<usize>,
    pub central: Vec<usize>,
    pub end: usize,
}

pub fn zip(members: &[Member]) -> Zip {
    zip_after(b"", members, b"")
}

/// An archive with something before it, whose offsets know that, and with a comment.
pub fn zip_after(prefix: &[u8], members: &[Member], comment: &[u8]) -> Zip {
    let mut zip = Zip { bytes: prefix.to_vec(), local: Vec::new(), central: Vec::new(), end: 0 };
    for member in members {
        zip.local.push(zip.bytes.len());
        // A descriptor takes the place of these numbers.
        let flags = member.local_flags.unwrap_or(member.flags);
        let shared = member.shared(flags, flags & 8 == 0);
        let local = [&b"PK\x03\x04"[..], &shared, &len16(&member.name), &len16(&member.local_extra), &member.name];
        zip.bytes.extend(local.concat());
        zip.bytes.extend([&member.local_extra[..], &member.data, &member.tail].concat());
    }
    let directory = zip.bytes.len();
    for (member, offset) in members.iter().zip(&zip.local) {
        zip.central.push(zip.bytes.len());
        zip.bytes.extend([&b"PK\x01\x02\x3f"[..], &[member.host], &member.shared(member.flags, true)].concat());
        zip.bytes.extend(
            [len16(&member.name), len16(&member.central_extra), len16(&member.comment), [0; 2], [0; 2]].concat(),
        );
        let folder = u32::from(member.name.ends_with(b"/")) * 16;
        zip.bytes.extend((member.mode << 16 | member.attributes | folder).to_le_bytes());
        zip.bytes.extend(u32::try_from(*offset).unwrap().to_le_bytes());
        zip.bytes.extend([&member.name[..], &member.central_extra, &member.comment].concat());
    }
    zip.end = zip.bytes.len();
    let count = u32::try_from(members.len()).unwrap().to_le_bytes();
    // Without ZIP64 it wraps.
    let count = &count[..2];
    zip.bytes.extend([&b"PK\x05\x06\0\0\0\0"[..], count, count].concat());
    zip.bytes.extend(u32::try_from(zip.end - directory).unwrap().to_le_bytes());
    zip.bytes.extend(u32::try_from(directory).unwrap().to_le_bytes());
    zip.bytes.extend([&len16(comment)[..], comment].concat());
    zip
}

impl Member {
    fn shared(&self, flags: u16, known: bool) -> Vec<u8> {
        let crc32 = if known { self.crc32 } else { 0 };
        let numbers = match (self.wide, known) {
            (true, _) => [crc32, u32::MAX, u32::MAX],
            (false, true) => [crc32, u32::try_from(self.data.len()).unwrap(), self.uncompressed],
            (false, false) => [0; 3],
        };
        let mut bytes: Vec<u8> =
            [self.version, flags, self.method, self.time, self.date].into_iter().flat_map(u16::to_le_bytes).collect();
        bytes.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
        bytes
    }
}

fn len16(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_le_bytes()
}

impl Zip {
    /// The archive with other bytes at some place.
    pub fn with(&self, at: usize, bytes: &[u8]) -> Zip {
        let mut changed = self.clone();
        changed.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    }

    /// Puts ZIP64 records before the end record; the numbers are entries, bytes and offset of the directory.
    pub fn wide(&self, numbers: impl FnOnce([u64; 3]) -> [u64; 3]) -> Zip {
        let field = |at: usize| u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap());
        let (size, offset) = (u64::from(field(self.end + 12)), u64::from(field(self.end + 16)));
        let [entries, size, offset] = numbers([self.central.len() as u64, size, offset]);
        let mut changed = self.clone();
        let end = changed.bytes.split_off(self.end);
        changed.bytes.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x3f\x03\x2d\0\0\0\0\0\0\0\0\0");
        for number in [entries, entries, size, offset] {
            changed.bytes.extend(number.to_le_bytes());
        }
        changed.bytes.extend(b"PK\x06\x07\0\0\0\0");
        changed.bytes.extend((self.end as u64).to_le_bytes());
        changed.bytes.extend(1_u32.to_le_bytes());
        changed.end = changed.bytes.len();
        changed.bytes.extend(end);
        changed.with(changed.end + 8, &[0xff; 12])
    }

    pub fn open(&self) -> Result<StreamingZipReader<Cursor<&[u8]>>, ReadError> {
        StreamingZipReader::new(Cursor::new(&self.bytes[..]))
    }

    pub fn test(&self) -> Result<Summary, ReadError> {
        self.open()?.test()
    }

    pub fn test_within(&self, limits: Limits) -> Result<Summary, ReadError> {
        StreamingZipReader::with_limits(Cursor::new(&self.bytes[..]), limits)?.test()
    }
}
