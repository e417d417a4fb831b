//! One entry: what the directory says of it, and whether what stands beside its data says the same.

use std::io::{Read, Seek};

use crate::format::{
    ATTRIBUTE_FOLDER, DESCRIPTOR, EXTRA_NTFS, EXTRA_OLD_UNIX, EXTRA_TIME, EXTRA_UNICODE_PATH, EXTRA_UNIX, EXTRA_ZIP64,
    FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_UTF8, LOCAL_HEADER, LOCAL_HEADER_BYTES,
};
use crate::name::{self, shown};

use super::Limits;
use super::decode;
use super::error::ReadError;
use super::source::{Cursor, fill, gather, seek};
use super::text;

/// Encrypted, strongly encrypted, or with an encrypted directory.
pub(super) const FLAGS_ENCRYPTED: u16 = FLAG_ENCRYPTED | 1 << 6 | 1 << 13;
const FILE_TYPE: u32 = 0o170_000;

/// The kind of system on which an archive was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// MS-DOS and Windows: a backslash separates folders, and a bit of the attributes marks them.
    Dos,
    /// Unix and macOS: the upper half of the attributes is a mode.
    Unix,
    Other,
}

impl Host {
    /// The system by its number in the format.
    pub fn new(number: u16) -> Self {
        match number {
            // FAT, NTFS by the format and by Info-ZIP, VFAT.
            0 | 10 | 11 | 14 => Host::Dos,
            3 | 19 => Host::Unix,
            _ => Host::Other,
        }
    }

    pub fn is_folder(self, attributes: u32) -> bool {
        match self {
            Host::Dos => attributes & ATTRIBUTE_FOLDER != 0,
            Host::Unix => attributes >> 16 & FILE_TYPE == 0o040_000,
            Host::Other => false,
        }
    }
}

/// What the central directory says of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The name: UTF-8 if the entry is marked so; otherwise the Unicode Path field (0x7075) if its CRC-32 is that of the name; otherwise
    /// UTF-8 if it is that and the archive was made on Unix or macOS; otherwise decoded from code page 437.
    ///
    /// Backslashes become slashes if the archive was made on MS-DOS or Windows. Empty parts and `.` are left out; what is left of nothing else is
    /// `./`, the folder that is extracted to. A folder's name ends in a slash, whether its name, its Unix type or its MS-DOS attribute says that it is
    /// one. The name may be unsafe; [`crate::name::check`] tells, and [`extract`](super::StreamingZipReader::extract) refuses it.
    pub name: String,
    /// The comment, decoded like the name.
    pub comment: String,
    /// The method's number in the format: 0 Stored, 8 Deflate, 93 Zstandard.
    pub method: u16,
    /// CRC-32 of the uncompressed data.
    pub crc32: u32,
    /// Compressed bytes.
    pub compressed: u64,
    /// Uncompressed bytes.
    pub uncompressed: u64,
    /// Time of the last change in Unix seconds, from the first of these that the directory has: the fields "UT" (0x5455), NTFS (0x000a), "UX" (0x5855)
    /// and PKWARE's Unix (0x000d), and the DOS time taken as UTC.
    pub modified_unix: i64,
    /// File type and permissions, if the archive was made on Unix or macOS.
    pub unix_mode: Option<u32>,
    /// Where the local header starts, in bytes from the start of the file.
    pub offset: u64,
    /// The data is encrypted and cannot be read.
    pub encrypted: bool,
    pub(super) flags: u16,
    pub(super) host: Host,
    /// The name is marked as UTF-8 and is not.
    pub(super) not_utf8: bool,
    /// What is wrong with the extra fields.
    pub(super) bad_field: Option<&'static str>,
    /// The name in the archive, where that is another one.
    pub(super) raw_name: Option<Box<[u8]>>,
    /// Where the entry must have ended: the start of the next one in the file, or of the directory.
    pub(super) ceiling: u64,
}

impl Entry {
    /// Whether the entry is a folder: its name ends in a slash.
    pub fn is_directory(&self) -> bool {
        self.name.ends_with('/')
    }

    /// The name without the slash of a folder; empty for the folder that is extracted to.
    pub(super) fn path(&self) -> &str {
        let name = if self.name == name::ROOT { "" } else { &self.name };
        name.strip_suffix('/').unwrap_or(name)
    }

    /// What the entry is, if that is neither a file nor a folder.
    pub(super) fn special_kind(&self) -> Option<&'static str> {
        if self.is_directory() && self.uncompressed > 0 {
            return Some("a folder with data");
        }
        match self.unix_mode? & FILE_TYPE {
            0o120_000 => Some("a symbolic link"),
            // A program that packed what came through a pipe may have recorded the pipe's type: what has data is a file.
            _ if self.uncompressed > 0 => None,
            0o060_000 | 0o020_000 => Some("a device"),
            0o010_000 => Some("a pipe"),
            0o140_000 => Some("a socket"),
            _ => None,
        }
    }

    pub(super) fn raw_name(&self) -> &[u8] {
        self.raw_name.as_deref().unwrap_or(self.name.as_bytes())
    }

    /// Whether the data can be read, as far as the directory tells.
    pub(super) fn check_readable(&self, limits: &Limits) -> Result<(), ReadError> {
        if let Some(what) = self.bad_field {
            return Err(ReadError::BadField { name: shown(&self.name), what });
        }
        if self.encrypted {
            return Err(ReadError::Encrypted { name: shown(&self.name) });
        }
        if !decode::is_known(self.method) {
            return Err(ReadError::UnsupportedMethod { name: shown(&self.name), method: self.method });
        }
        limits.check(Some(&self.name), self.compressed, self.uncompressed)
    }

    /// Where the data ends at the earliest, if the local header has so many bytes of name and extra fields.
    pub(super) fn least_end(&self, variable_bytes: u64) -> Option<u64> {
        let beside = LOCAL_HEADER_BYTES as u64 + variable_bytes;
        self.offset.checked_add(beside)?.checked_add(self.compressed)
    }

    /// The error for an entry that reaches into `other`.
    pub(super) fn overlaps(&self, other: String) -> ReadError {
        ReadError::Overlap { name: shown(&self.name), other }
    }

    /// Fails with the first of what does not agree.
    fn agree<const N: usize>(&self, facts: [(bool, &'static str); N]) -> Result<(), ReadError> {
        let differs = |(_, what)| Err(ReadError::HeaderMismatch { name: shown(&self.name), what });
        facts.into_iter().find(|(agrees, _)| !agrees).map_or(Ok(()), differs)
    }

    /// Reads the local header, checks that it says what the directory says, and leaves the source at the start of the data. If a descriptor
    /// follows the data, gives the bytes between the end of the data and whatever follows the entry.
    pub(super) fn check_local<R: Read + Seek>(&self, source: &mut R) -> Result<Option<u64>, ReadError> {
        const LEAST_DESCRIPTOR: u64 = 12;
        const SHORT: ReadError = ReadError::Truncated { what: "a local header" };
        seek(source, self.offset)?;
        let mut fixed = [0; LOCAL_HEADER_BYTES];
        fill(source, &mut fixed, "a local header")?;
        let mut local = Cursor(&fixed);
        let [signature] = local.u32s().ok_or(SHORT)?;
        // Time and date are taken from the directory.
        let [_needed, flags, method, _time, _date] = local.u16s().ok_or(SHORT)?;
        let [crc32, compressed, uncompressed] = local.u32s().ok_or(SHORT)?;
        let [name_bytes, extra_bytes] = local.u16s().ok_or(SHORT)?;
        // Other flags matter by what they change.
        self.agree([
            (signature == LOCAL_HEADER, "local header's signature"),
            (method == self.method, "method"),
            (flags & FLAGS_ENCRYPTED == self.flags & FLAGS_ENCRYPTED, "encryption"),
            (usize::from(name_bytes) == self.raw_name().len(), "name"),
        ])?;
        let rest = u64::from(name_bytes) + u64::from(extra_bytes);
        let overlaps = || self.overlaps("what follows it".to_owned());
        let room = self.least_end(rest).and_then(|end| self.ceiling.checked_sub(end)).ok_or_else(overlaps)?;
        let rest = gather(source, rest, "a local header")?;
        let (name, extra) = rest.split_at_checked(name_bytes.into()).ok_or(SHORT)?;
        self.agree([(name == self.raw_name(), "name")])?;
        let fields = read_fields(extra, [uncompressed, compressed, 0], 0);
        let fields = fields.and_then(|fields| fields.fault.map_or(Ok(fields), Err));
        let fields = fields.map_err(|what| ReadError::BadField { name: shown(&self.name), what })?;
        let numbers = [
            (u64::from(crc32), u64::from(self.crc32), "CRC-32"),
            (fields.compressed, self.compressed, "compressed size"),
            (fields.uncompressed, self.uncompressed, "uncompressed size"),
        ];
        // With a descriptor the header may leave out what it did not know yet.
        let announced = flags & FLAG_DESCRIPTOR != 0;
        self.agree(numbers.map(|(here, there, what)| (here == there || (announced && here == 0), what)))?;
        // The same bytes are another name by another flag or Unicode name.
        let named_alike = (flags ^ self.flags) & FLAG_UTF8 == 0 && fields.unicode_name(name).is_none();
        let same_name = named_alike || self.name == read_name(name, flags, self.host, self.is_directory(), &fields).0;
        self.agree([(same_name, "name")])?;
        // One header alone is not believed that there is a descriptor unless one is needed.
        let needed = numbers.iter().any(|(here, there, _)| here != there);
        if !announced || (self.flags & FLAG_DESCRIPTOR == 0 && !needed) {
            return Ok(None);
        }
        if room < LEAST_DESCRIPTOR { Err(overlaps()) } else { Ok(Some(room)) }
    }

    /// Checks the descriptor right after the data: with or without signature, with sizes of 4 or 8 bytes.
    pub(super) fn check_descriptor<R: Read>(&self, source: &mut R, room: u64) -> Result<(), ReadError> {
        const LONGEST: u64 = 24;
        let bytes = gather(source, room.min(LONGEST), "a data descriptor")?;
        let unsigned = Cursor(&bytes);
        let mut cursor = unsigned;
        let signed = cursor.u32s() == Some([DESCRIPTOR]);
        let agrees = (signed && self.descriptor_agrees(cursor)) || self.descriptor_agrees(unsigned);
        self.agree([(agrees, "data descriptor")])
    }

    fn descriptor_agrees(&self, mut cursor: Cursor<'_>) -> bool {
        let sizes = Some([self.compressed, self.uncompressed]);
        let crc32 = cursor.u32s();
        let mut narrow = cursor;
        crc32 == Some([self.crc32])
            && (cursor.u64s() == sizes || narrow.u32s().map(|sizes| sizes.map(u64::from)) == sizes)
    }
}

/// The numbers of a header with the ZIP64 field taken into account, the time and the name.
pub(super) struct Fields<'a> {
    pub uncompressed: u64,
    pub compressed: u64,
    pub offset: u64,
    pub disk: u32,
    /// Unix seconds.
    pub modified: Option<i64>,
    path: Option<&'a [u8]>,
    /// What is wrong with the fields behind those that were read.
    pub fault: Option<&'static str>,
}

impl Fields<'_> {
    /// The name of the Unicode Path field, if it stands for the name that the header has.
    pub fn unicode_name(&self, raw_name: &[u8]) -> Option<&str> {
        let (version, rest) = self.path?.split_first()?;
        let mut cursor = Cursor(rest);
        let stands = *version == 1 && cursor.u32s()? == [crc32fast::hash(raw_name)];
        std::str::from_utf8(cursor.0).ok().filter(|_| stands)
    }
}

/// Walks through the extra fields. `numbers` are the uncompressed size, the compressed size and the offset as the header has them, where its ZIP64
/// field may stand in for them and for `disk`. Fails if such a number is missing.
pub(super) fn read_fields(extra: &[u8], numbers: [u32; 3], disk: u16) -> Result<Fields<'_>, &'static str> {
    let (mut wide, mut times, mut path) = (None, [None; 4], None);
    let mut cursor = Cursor(extra);
    let mut walk = || {
        // Tools that align data pad this area with zeros.
        while cursor.0.len() >= 4 || cursor.0.iter().any(|byte| *byte != 0) {
            let [id, bytes] = cursor.u16s().ok_or("it is cut off")?;
            let field = cursor.take(bytes.into()).ok_or("it is longer than the area of extra fields")?;
            match id {
                EXTRA_ZIP64 if wide.replace(field).is_some() => return Err("there are two ZIP64 fields"),
                EXTRA_TIME => times[0] = read_time(field).or(times[0]),
                EXTRA_NTFS => times[1] = read_ntfs_time(field).or(times[1]),
                EXTRA_OLD_UNIX => times[2] = read_unix_time(field).or(times[2]),
                EXTRA_UNIX => times[3] = read_unix_time(field).or(times[3]),
                EXTRA_UNICODE_PATH => path = path.or(Some(field)),
                _ => {}
            }
        }
        Ok(())
    };
    let fault = walk().err();
    let mut wide = Cursor(wide.unwrap_or_default());
    let mut number = |narrow: u32| match narrow {
        u32::MAX => {
            let lacks = fault.unwrap_or("the ZIP64 field lacks a number that the header says it has");
            wide.u64s().map(|[number]| number).ok_or(lacks)
        }
        narrow => Ok(narrow.into()),
    };
    let [uncompressed, compressed, offset] = numbers;
    let (uncompressed, compressed, offset) = (number(uncompressed)?, number(compressed)?, number(offset)?);
    let disk = match disk {
        u16::MAX => wide.u32s().map(|[disk]| disk).ok_or("the ZIP64 field lacks the disk number")?,
        disk => disk.into(),
    };
    let modified = times.into_iter().flatten().next();
    Ok(Fields { uncompressed, compressed, offset, disk, modified, path, fault })
}

/// The name that a header means by its bytes, its flags and its extra fields, and whether it is what the flags say that it is.
pub(super) fn read_name(raw_name: &[u8], flags: u16, host: Host, folder: bool, fields: &Fields<'_>) -> (String, bool) {
    let utf8 = flags & FLAG_UTF8 != 0;
    let (mut name, is_text) = match fields.unicode_name(raw_name) {
        Some(name) if !utf8 => (name.to_owned(), true),
        _ => text::decode(raw_name, utf8, host == Host::Unix),
    };
    if host == Host::Dos {
        name = name.replace('\\', "/");
    }
    (name::normal(&name, folder), is_text)
}

/// Bit 0 of the first byte says that the time of the last change follows.
fn read_time(field: &[u8]) -> Option<i64> {
    let (flags, rest) = field.split_first()?;
    let [seconds] = Cursor(rest).u32s()?;
    (flags & 1 != 0).then_some(seconds.cast_signed().into())
}

/// The time of the last access stands before that of the last change.
fn read_unix_time(field: &[u8]) -> Option<i64> {
    let [_accessed, modified] = Cursor(field).u32s()?;
    Some(modified.cast_signed().into())
}

/// Attributes by number and length follow 4 reserved bytes; the first has the times.
fn read_ntfs_time(field: &[u8]) -> Option<i64> {
    const STEPS_PER_SECOND: i64 = 10_000_000;
    /// From 1601 to 1970.
    const SECONDS_BEFORE_UNIX: i64 = 11_644_473_600;
    let mut cursor = Cursor(field);
    let [_reserved] = cursor.u32s()?;
    loop {
        let [number, bytes] = cursor.u16s()?;
        let attribute = cursor.take(bytes.into())?;
        if number == 1 {
            let [steps, _accessed, _created] = Cursor(attribute).u64s()?;
            // No time at all, or one that Windows cannot name.
            let steps = i64::try_from(steps).ok().filter(|steps| *steps > 0)?;
            return Some(steps / STEPS_PER_SECOND - SECONDS_BEFORE_UNIX);
        }
    }
}
