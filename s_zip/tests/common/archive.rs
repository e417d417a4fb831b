//! What an archive says, accepted only if it keeps the crate's rules: the crate's reader tells its content, of which then a naive writer, which
//! shares nothing with the crate, makes the archive a second time, as the format's description has it: every byte has to be the same. The `zip` crate
//! has to tell the same content.

use std::io::{Cursor, Read};

use s_zip::StreamingZipReader;

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

/// Parses a whole archive of entries below 4 GiB.
///
/// # Panics
/// If a single rule is broken.
pub fn parse(bytes: &[u8]) -> Archive {
    let mut reader = StreamingZipReader::new(Cursor::new(bytes)).unwrap();
    let entries: Vec<Entry> = (0..reader.entries().len()).map(|index| entry(&mut reader, index, bytes)).collect();
    let zip64 = entries.len() >= 65_535;
    let archive = Archive { entries, comment: String::from_utf8(reader.comment().to_vec()).unwrap(), zip64 };
    assert!(archive.build() == bytes, "a naive writer makes the same bytes");
    zip_crate_agrees(bytes, &archive);
    archive
}

/// Compares everything that the `zip` crate can say.
fn zip_crate_agrees(bytes: &[u8], wanted: &Archive) {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), wanted.entries.len());
    assert_eq!(archive.comment(), wanted.comment.as_bytes());
    for (index, entry) in wanted.entries.iter().enumerate() {
        let mut file = archive.by_index(index).unwrap();
        assert_eq!(file.name().unwrap(), entry.name);
        assert_eq!(file.comment(), entry.comment);
        assert_eq!(file.is_dir(), entry.name.ends_with('/'));
        // It masks the set-ID and sticky bits.
        assert_eq!(file.unix_mode(), Some(entry.mode & 0o170_777));
        let modified = file.last_modified().unwrap();
        assert_eq!((modified.timepart(), modified.datepart()), (entry.time, entry.date), "{}", entry.name);
        assert_eq!((file.size(), file.crc32()), (entry.data.len() as u64, entry.crc32));
        let mut data = Vec::new();
        file.read_to_end(&mut data).unwrap();
        assert!(data == entry.data, "{}", entry.name);
    }
}

fn entry(reader: &mut StreamingZipReader<Cursor<&[u8]>>, index: usize, bytes: &[u8]) -> Entry {
    let mut data = Vec::new();
    reader.read(index).unwrap().read_to_end(&mut data).unwrap();
    let listed = &reader.entries()[index];
    let name = listed.name.clone();
    let offset = usize::try_from(listed.offset).unwrap();
    // What the reader does not tell.
    let local = &bytes[offset..];
    let [flags, time, day, name_len, extra_len] =
        [6, 10, 12, 26, 28].map(|at| u16::from_le_bytes([local[at], local[at + 1]]));
    let (extra, rest) = local[30 + usize::from(name_len)..].split_at(extra_len.into());
    let descriptor = flags & 8 != 0;
    assert!(!(descriptor && listed.method == 0), "{name}: a stored entry must not have a descriptor");
    assert!(day >= 1 << 5 | 1, "{name}: no date lies before 1980-01-01");
    // The time is the only extra field that an entry below 4 GiB may have.
    let unix_seconds = extra.get(5..9).map(|seconds| i32::from_le_bytes(seconds.try_into().unwrap()));
    assert!(unix_seconds.is_none_or(|seconds| listed.modified_unix == i64::from(seconds)), "{name}");
    Entry {
        name,
        comment: listed.comment.clone(),
        method: listed.method,
        time,
        date: day,
        unix_seconds,
        mode: listed.unix_mode.unwrap(),
        crc32: crc32fast::hash(&data),
        offset,
        descriptor,
        payload: rest[..usize::try_from(listed.compressed).unwrap()].to_vec(),
        data,
    }
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
