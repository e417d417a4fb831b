//! What a plan must become.

use s_zip::Compression;

use super::archive::{Archive, Entry};
use super::calls::{Item, Kind, Plan};

/// The most that `add_entry` does not stream.
pub const WHOLE_BYTES: usize = 4 << 20;

/// Checks an archive against its plan, byte by byte.
///
/// # Panics
/// If they differ.
pub fn check(plan: &Plan, data: &[Vec<u8>], archive: &Archive) {
    check_content(plan, data, archive);
    for (item, entry) in plan.items.iter().zip(&archive.entries) {
        check_layout(plan, item, entry);
    }
}

/// What holds whichever writer made it.
///
/// # Panics
/// As [`check`].
pub fn check_content(plan: &Plan, data: &[Vec<u8>], archive: &Archive) {
    assert_eq!((archive.entries.len(), &archive.comment), (plan.items.len(), &plan.comment));
    for ((item, data), entry) in plan.items.iter().zip(data).zip(&archive.entries) {
        let name = &item.name;
        assert_eq!((&entry.name, &entry.comment), (name, &item.comment));
        assert!(entry.data == *data, "{name}: its data is what was written");
        let kind = if item.is_folder() { 0o040_755 } else { 0o100_644 };
        assert_eq!(entry.mode, item.mode.map_or(kind, |mode| kind & 0o170_000 | mode), "{name}");
        assert_eq!((entry.time, entry.date), dos(item.modified.unwrap_or(0)), "{name}");
        assert_eq!(entry.unix_seconds, item.modified.and_then(|seconds| i32::try_from(seconds).ok()), "{name}");
        let method = match item.compression.unwrap_or(plan.compression) {
            _ if entry.payload.is_empty() => 0,
            Compression::None if entry.descriptor => 8,
            Compression::Deflate(_) => 8,
            #[cfg(feature = "zstd")]
            Compression::Zstd(_) => 93,
            _ => 0,
        };
        assert_eq!(entry.method, method, "{name}");
    }
}

/// The place of sizes follows from what is known of the entry in time.
fn check_layout(plan: &Plan, item: &Item, entry: &Entry) {
    let name = &entry.name;
    let (buffer, len) = (128 * 1024, entry.data.len());
    let wanted = item.compression.unwrap_or(plan.compression);
    let promised = wanted == Compression::None && item.promises_size && item.promises_crc;
    // Three blocks are as much as a compressor may hold back.
    let fits = len + len / 8 + name.len() + 100 < buffer;
    let exceeds = item.data.kind == Kind::Noise && len > buffer + 65_536 + held_back(wanted);
    if item.is_folder() {
        assert_eq!((entry.descriptor, entry.payload.len()), (false, 0), "{name}");
    } else if promised {
        assert!(!entry.descriptor && entry.method == 0, "{name}: announced with size and CRC");
    } else if !item.flushes.is_empty() {
        assert!(entry.descriptor, "{name}: flushed before it was complete");
    } else if entry.data.is_empty() {
        assert_eq!((entry.method, entry.descriptor), (0, false), "{name}: empty");
    } else if fits || item.whole && len <= WHOLE_BYTES {
        assert!(!entry.descriptor, "{name}: fits the buffer, or came whole");
    } else if exceeds {
        assert!(entry.descriptor, "{name}: is larger than the buffer");
    }
}

/// The most that a compressor keeps back of noise: zstd a block of its own, Deflate two windows.
fn held_back(compression: Compression) -> usize {
    match compression {
        Compression::Deflate(_) => 65_536,
        #[cfg(feature = "zstd")]
        Compression::Zstd(_) => 131_072,
        _ => 0,
    }
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
