//! The records of a ZIP file as bytes: signatures, headers, extra fields. Nothing here reads or writes.

// The signatures of the records.
pub const LOCAL_HEADER: u32 = 0x0403_4b50;
pub const DESCRIPTOR: u32 = 0x0807_4b50;
pub const CENTRAL_HEADER: u32 = 0x0201_4b50;
pub const ZIP64_END: u32 = 0x0606_4b50;
pub const ZIP64_LOCATOR: u32 = 0x0706_4b50;
pub const END: u32 = 0x0605_4b50;

/// Bytes of a local header before name and extra field.
pub const LOCAL_HEADER_BYTES: usize = 30;
/// Bytes of a central header before name, extra field and comment.
pub const CENTRAL_HEADER_BYTES: usize = 46;
/// Bytes of the end record before the comment.
pub const END_BYTES: usize = 22;
/// Bytes of the ZIP64 end record as this crate writes it.
pub const ZIP64_END_BYTES: usize = 56;
pub const ZIP64_LOCATOR_BYTES: usize = 20;

/// General purpose flag: sizes and CRC stand in a descriptor after the data.
pub const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// General purpose flag: the name and comment are UTF-8.
pub const FLAG_UTF8: u16 = 1 << 11;
/// General purpose flag: the data is encrypted.
pub const FLAG_ENCRYPTED: u16 = 1;

/// External attribute of MS-DOS: the entry is a folder.
pub const ATTRIBUTE_FOLDER: u32 = 0x10;

pub const METHOD_STORED: u16 = 0;
pub const METHOD_DEFLATE: u16 = 8;
pub const METHOD_ZSTD: u16 = 93;

/// Extra field: sizes and offset in 64 bits.
pub const EXTRA_ZIP64: u16 = 0x0001;
/// Extra field: time stamps in Unix seconds ("UT").
pub const EXTRA_TIME: u16 = 0x5455;
/// Extra field: time stamps of NTFS, in steps of 100 ns since 1601.
pub const EXTRA_NTFS: u16 = 0x000a;
/// Extra field: time stamps in Unix seconds by PKWARE.
pub const EXTRA_UNIX: u16 = 0x000d;
/// Extra field: time stamps in Unix seconds by older versions of Info-ZIP ("UX").
pub const EXTRA_OLD_UNIX: u16 = 0x5855;
/// Extra field: the name in UTF-8, with the CRC-32 of the name that it stands for ("up").
pub const EXTRA_UNICODE_PATH: u16 = 0x7075;

/// A size or offset of this value or more does not fit 32 bits: this value itself means "see the ZIP64 field".
pub const LIMIT_32: u64 = u32::MAX as u64;
/// A count of this value or more does not fit 16 bits.
pub const LIMIT_16: u64 = u16::MAX as u64;

/// Made on Unix, by the rules of version 6.3.
const MADE_BY: u16 = 3 << 8 | 63;

/// What a local and a central header say of an entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header {
    pub name: Box<str>,
    pub comment: Box<str>,
    pub method: u16,
    pub dos_time: u16,
    pub dos_date: u16,
    /// Unix seconds for the "UT" field.
    pub modified: Option<i32>,
    pub unix_mode: u32,
    pub crc32: u32,
    pub compressed: u64,
    pub uncompressed: u64,
    /// Where the local header starts.
    pub offset: u64,
    /// Sizes and CRC follow the data.
    pub descriptor: bool,
    /// The local header has the ZIP64 field, so the descriptor's sizes have 8 bytes and the central header has the field, too.
    pub zip64_local: bool,
}

impl Header {
    fn flags(&self) -> u16 {
        let ascii = self.name.is_ascii() && self.comment.is_ascii();
        (if self.descriptor { FLAG_DESCRIPTOR } else { 0 }) | (if ascii { 0 } else { FLAG_UTF8 })
    }

    fn version_needed(&self, zip64: bool) -> u16 {
        let by_method = match self.method {
            METHOD_ZSTD => 63,
            METHOD_DEFLATE => 20,
            _ if self.name.ends_with('/') => 20,
            _ => 10,
        };
        if zip64 { by_method.max(45) } else { by_method }
    }

    /// Bytes that `put_local` writes.
    pub fn local_len(&self) -> usize {
        LOCAL_HEADER_BYTES + self.name.len() + self.time_len() + if self.zip64_local { 20 } else { 0 }
    }

    fn time_len(&self) -> usize {
        if self.modified.is_some() { 9 } else { 0 }
    }

    /// The local header. Its length does not change with sizes, CRC, method and `descriptor`, so that it can be written over.
    pub fn put_local(&self, out: &mut Vec<u8>) {
        let known = !self.descriptor;
        let crc32 = if known { self.crc32 } else { 0 };
        let sizes = if known { [self.uncompressed, self.compressed] } else { [0; 2] };
        put_u32s(out, [LOCAL_HEADER]);
        let extra = self.local_len() - LOCAL_HEADER_BYTES - self.name.len();
        self.put_shared(out, self.zip64_local, crc32, sizes.map(|size| narrow(size, self.zip64_local)), extra);
        out.extend_from_slice(self.name.as_bytes());
        if self.zip64_local {
            put_u16s(out, [EXTRA_ZIP64, 16]);
            put_u64s(out, sizes);
        }
        self.put_time(out);
    }

    /// What both headers have in one order; the sizes are the uncompressed one and the compressed one.
    fn put_shared(&self, out: &mut Vec<u8>, zip64: bool, crc32: u32, sizes: [u32; 2], extra_len: usize) {
        put_u16s(out, [self.version_needed(zip64), self.flags(), self.method, self.dos_time, self.dos_date]);
        let [uncompressed, compressed] = sizes;
        put_u32s(out, [crc32, compressed, uncompressed]);
        put_u16s(out, [len16(self.name.len()), len16(extra_len)]);
    }

    fn put_time(&self, out: &mut Vec<u8>) {
        if let Some(seconds) = self.modified {
            put_u16s(out, [EXTRA_TIME, 5]);
            // Bit 0: the time of the last change follows.
            out.push(1);
            put_u32s(out, [seconds.cast_unsigned()]);
        }
    }

    /// The descriptor: sizes of 8 bytes only where the reader can tell, from the ZIP64 field or from the sizes themselves.
    pub fn put_descriptor(&self, out: &mut Vec<u8>) {
        put_u32s(out, [DESCRIPTOR, self.crc32]);
        let sizes = [self.compressed, self.uncompressed];
        // A reader of streams goes by what it has read: 8 bytes from 4 GiB on, not yet at the largest number of 4 bytes.
        if self.zip64_local || sizes.iter().any(|size| *size > LIMIT_32) {
            put_u64s(out, sizes);
        } else {
            put_u32s(out, sizes.map(|size| narrow(size, false)));
        }
    }

    pub fn put_central(&self, out: &mut Vec<u8>) {
        let sizes = [self.uncompressed, self.compressed];
        let wide_sizes = self.zip64_local || sizes.iter().any(|size| *size >= LIMIT_32);
        let wide_offset = self.offset >= LIMIT_32;
        let zip64_len = match 16 * usize::from(wide_sizes) + 8 * usize::from(wide_offset) {
            0 => 0,
            numbers => 4 + numbers,
        };
        put_u32s(out, [CENTRAL_HEADER]);
        put_u16s(out, [MADE_BY]);
        let narrow_sizes = sizes.map(|size| narrow(size, wide_sizes));
        self.put_shared(out, zip64_len > 0, self.crc32, narrow_sizes, zip64_len + self.time_len());
        // Disk number and internal attributes stand after the comment's length.
        put_u16s(out, [len16(self.comment.len()), 0, 0]);
        let folder = if self.name.ends_with('/') { ATTRIBUTE_FOLDER } else { 0 };
        put_u32s(out, [self.unix_mode << 16 | folder, narrow(self.offset, false)]);
        out.extend_from_slice(self.name.as_bytes());
        if zip64_len > 0 {
            put_u16s(out, [EXTRA_ZIP64, len16(zip64_len - 4)]);
            if wide_sizes {
                put_u64s(out, sizes);
            }
            if wide_offset {
                put_u64s(out, [self.offset]);
            }
        }
        self.put_time(out);
        out.extend_from_slice(self.comment.as_bytes());
    }
}

/// The end record of an archive whose directory starts at `offset` and has so many `bytes`, and before it the ZIP64 records if a number does not
/// fit.
pub(crate) fn put_end(out: &mut Vec<u8>, entries: u64, offset: u64, bytes: u64, comment: &str) {
    if entries >= LIMIT_16 || offset >= LIMIT_32 || bytes >= LIMIT_32 {
        put_u32s(out, [ZIP64_END]);
        put_u64s(out, [(ZIP64_END_BYTES - 12) as u64]);
        put_u16s(out, [MADE_BY, 45]);
        // This disk, and the disk with the directory.
        put_u32s(out, [0, 0]);
        put_u64s(out, [entries, entries, bytes, offset]);
        put_u32s(out, [ZIP64_LOCATOR, 0]);
        put_u64s(out, [offset + bytes]);
        // There is one disk in all; readers call 0 corrupt.
        put_u32s(out, [1]);
    }
    let entries = u16::try_from(entries).unwrap_or(u16::MAX);
    put_u32s(out, [END, 0]);
    put_u16s(out, [entries, entries]);
    put_u32s(out, [narrow(bytes, false), narrow(offset, false)]);
    put_u16s(out, [len16(comment.len())]);
    out.extend_from_slice(comment.as_bytes());
}

/// The value, or the mark that says "see the ZIP64 field" where it stands there anyway, or does not fit.
fn narrow(value: u64, in_zip64: bool) -> u32 {
    if in_zip64 { u32::MAX } else { u32::try_from(value).unwrap_or(u32::MAX) }
}

/// Lengths are checked before they get here.
fn len16(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// Writes numbers in little-endian order by functions of these names.
macro_rules! put {
    ($($put:ident: $number:ty),+) => {
        $(fn $put<const N: usize>(out: &mut Vec<u8>, numbers: [$number; N]) {
            for number in numbers {
                out.extend_from_slice(&number.to_le_bytes());
            }
        })+
    };
}

put!(put_u16s: u16, put_u32s: u32, put_u64s: u64);
