//! A naive writer that makes the archive a second time, from the plan and the compressed data alone.

use crate::archive::{Archive, Entry, parse};
use crate::calls::{Item, Kind, Plan};
use s_zip::Compression;

/// Checks an archive against its plan, byte by byte.
///
/// # Panics
/// If they differ.
pub fn check(plan: &Plan, data: &[Vec<u8>], bytes: &[u8]) -> Archive {
    let archive = parse(bytes);
    assert_eq!(archive.entries.len(), plan.items.len());
    for (index, (item, entry)) in plan.items.iter().zip(&archive.entries).enumerate() {
        let name = item.full_name(index) + if item.directory { "/" } else { "" };
        assert_eq!(entry.name, name);
        assert!(entry.data == data[index], "{name}: its data is what was written");
        check_layout(plan, item, entry);
    }
    assert!(naive(plan, &archive) == bytes, "the naive writer makes the same bytes");
    archive
}

/// The method and the place of sizes follow from what is known of the entry in time.
fn check_layout(plan: &Plan, item: &Item, entry: &Entry) {
    let name = &entry.name;
    let buffer = plan.options_buffer();
    let wanted = item.compression.unwrap_or(plan.compression);
    if item.directory {
        assert_eq!((entry.method, entry.descriptor, entry.payload.len()), (0, false, 0), "{name}");
        return;
    }
    let promised = wanted == Compression::Stored && item.promises_size && item.promises_crc;
    // Three blocks are as much as a compressor may hold back.
    let fits = item.flush.is_none() && entry.data.len() + entry.data.len() / 8 + name.len() + 100 < buffer;
    let exceeds = item.data.kind == Kind::Noise && entry.data.len() > buffer + 65_536 + 1000;
    if promised {
        assert!(!entry.descriptor && entry.method == 0, "{name}: announced with size and CRC");
    } else if item.flush.is_some() {
        assert!(entry.descriptor, "{name}: flushed before it was complete");
    } else if entry.data.is_empty() {
        assert_eq!((entry.method, entry.descriptor), (0, false), "{name}: empty");
    } else if fits {
        assert!(!entry.descriptor, "{name}: fits the buffer");
    } else if exceeds {
        assert!(entry.descriptor, "{name}: is larger than the buffer");
    }
    let method = match wanted {
        Compression::Stored if entry.descriptor => 8,
        Compression::Deflate(_) => 8,
        #[cfg(feature = "zstd")]
        Compression::Zstd(_) => 93,
        _ => 0,
    };
    assert_eq!(entry.method, if entry.payload.is_empty() { 0 } else { method }, "{name}");
}

impl Plan {
    fn options_buffer(&self) -> usize {
        self.buffer_bytes.clamp(64 * 1024, 256 * 1024)
    }
}

/// The archive as the format's description has it, with the payloads taken from `archive`.
fn naive(plan: &Plan, archive: &Archive) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for (item, entry) in plan.items.iter().zip(&archive.entries) {
        let offset = out.len();
        let crc32 = crc32fast::hash(&entry.data);
        let version: u16 = match entry.method {
            93 => 63,
            8 => 20,
            _ => 10 + 10 * u16::from(item.directory),
        };
        let ascii = entry.name.is_ascii() && item.comment.is_ascii();
        let flags = u16::from(entry.descriptor) * 8 + u16::from(!ascii) * 2048;
        let (time, date) = dos(item.modified.unwrap_or(0));
        let sizes: Vec<u8> =
            [crc32, len32(&entry.payload), len32(&entry.data)].into_iter().flat_map(u32::to_le_bytes).collect();
        let start: Vec<u8> =
            [version, flags, entry.method, time, date].into_iter().flat_map(u16::to_le_bytes).collect();
        let extra = match item.modified.map(i32::try_from) {
            Some(Ok(seconds)) => [b"UT\x05\0\x01".as_slice(), &seconds.to_le_bytes()].concat(),
            _ => Vec::new(),
        };
        let lengths = [len16(entry.name.as_bytes()), len16(&extra)].concat();
        let in_header = if entry.descriptor { &[0; 12] } else { sizes.as_slice() };
        out.extend([b"PK\x03\x04", start.as_slice(), in_header, &lengths, entry.name.as_bytes(), &extra].concat());
        out.extend_from_slice(&entry.payload);
        if entry.descriptor {
            out.extend([b"PK\x07\x08", sizes.as_slice()].concat());
        }
        let kind = if item.directory { 0o040_755 } else { 0o100_644 };
        let mode = item.mode.map_or(kind, |mode| kind & 0o170_000 | mode);
        let attributes = (mode << 16) + u32::from(item.directory) * 16;
        let rest = [&len16(item.comment.as_bytes())[..], &[0; 4], &attributes.to_le_bytes(), &u32_of(offset)].concat();
        central.extend([b"PK\x01\x02\x3f\x03", start.as_slice(), &sizes, &lengths, &rest].concat());
        central.extend([entry.name.as_bytes(), &extra, item.comment.as_bytes()].concat());
    }
    let count = u16::try_from(plan.items.len()).unwrap().to_le_bytes();
    let end = [b"PK\x05\x06\0\0\0\0", &count[..], &count, &u32_of(central.len()), &u32_of(out.len())].concat();
    [out, central, end, len16(plan.comment.as_bytes()).to_vec(), plan.comment.clone().into_bytes()].concat()
}

fn len16(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap().to_le_bytes()
}

fn len32(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap()
}

fn u32_of(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap().to_le_bytes()
}

/// DOS time and date, by counting years and months.
fn dos(unix_seconds: i64) -> (u16, u16) {
    if unix_seconds < 315_532_800 {
        return (0, 1 << 5 | 1);
    }
    let (mut year, mut month, mut days) = (1970, 1, unix_seconds / 86_400);
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while year < 2108 && days >= 365 + i64::from(leap(year)) {
        days -= 365 + i64::from(leap(year));
        year += 1;
    }
    if year == 2108 {
        return (23 * 2048 + 59 * 32 + 29, 127 * 512 + 12 * 32 + 31);
    }
    for length in [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let seconds = unix_seconds % 86_400;
    let time = seconds / 3600 * 2048 + seconds / 60 % 60 * 32 + seconds % 60 / 2;
    let date = (year - 1980) * 512 + month * 32 + days + 1;
    (u16::try_from(time).unwrap(), u16::try_from(date).unwrap())
}
