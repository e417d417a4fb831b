//! Damaged archives by the million: a generator of mutations, and a run of the reader over the result.
//!
//! Everything follows from a seed, so that a finding is one number.

use std::io::{self, Cursor};

use s_zip::format::{CENTRAL_HEADER, DESCRIPTOR, END, LOCAL_HEADER, LOCAL_HEADER_BYTES, ZIP64_END, ZIP64_LOCATOR};
use s_zip::{Limits, StreamingZipReader};

use super::numbers::Numbers;

/// No archive grows beyond this many bytes.
const LONGEST: usize = 4096;
const SIGNATURES: [u32; 6] = [LOCAL_HEADER, DESCRIPTOR, CENTRAL_HEADER, ZIP64_END, ZIP64_LOCATOR, END];
/// The format's own lengths and other small numbers at which something may happen.
const LENGTHS: [u64; 11] = [0, 1, 2, 3, 4, 8, 20, 22, 30, 46, 56];
/// Bits of the widths and signs at whose limits something may happen.
const WIDTHS: [u32; 9] = [7, 8, 15, 16, 31, 32, 40, 63, 64];

/// What the reader made of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It did not open.
    Refused,
    /// It opened, and at least one entry was refused or damaged.
    Damaged,
    /// Every entry was read.
    Read,
}

/// An archive with some damage: a member of `corpus` after one to six mutations, often with its lengths put right again so that
/// the damage gets past the first checks. The same seed and corpus give the same bytes.
pub fn mutate(seed: u64, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut random = Numbers::new(seed);
    let mut bytes = random.pick(corpus).cloned().unwrap_or_default();
    for _ in 0..=random.below(6) {
        match random.below(12) {
            0 | 1 => flip(&mut random, &mut bytes),
            2 => set_byte(&mut random, &mut bytes),
            3..=6 => set_field(&mut random, &mut bytes),
            7 => {
                let end = random.below(bytes.len() + 1);
                bytes.truncate(end);
            }
            8 => {
                let from = bytes.clone();
                splice(&mut random, &mut bytes, &from);
            }
            9 => {
                let from = random.pick(corpus).map_or(&[][..], Vec::as_slice);
                splice(&mut random, &mut bytes, from);
            }
            10 => fix_checksums(&mut bytes),
            _ => fix_offsets(&mut bytes),
        }
    }
    if random.below(4) > 0 {
        fix_offsets(&mut bytes);
    }
    bytes.truncate(LONGEST);
    bytes
}

/// Opens an archive, lists it and reads every entry to nowhere; also asks whether it could be extracted.
pub fn exercise(bytes: &[u8], limits: Limits) -> Finding {
    let Ok(mut archive) = StreamingZipReader::with_limits(Cursor::new(bytes), limits) else { return Finding::Refused };
    let mut damaged = false;
    // Its answer depends on names, which the outcome does not tell; it must not panic.
    let _ = archive.test();
    let mut total: u64 = 0;
    for index in 0..archive.entries().len() {
        match archive.read(index).map_err(io::Error::from).and_then(|mut entry| io::copy(&mut entry, &mut io::sink())) {
            Ok(bytes) => total = total.saturating_add(bytes),
            Err(_) => damaged = true,
        }
        // Entries are limited one by one; a hostile archive must not keep this busy by their number.
        if total > limits.bytes {
            damaged = true;
            break;
        }
    }
    if damaged { Finding::Damaged } else { Finding::Read }
}

fn flip(random: &mut Numbers, bytes: &mut [u8]) {
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set_byte(random: &mut Numbers, bytes: &mut [u8]) {
    let at = random.below(bytes.len());
    let value = random.pick(&[0, 1, 0x7f, 0x80, 0xff, b'/', b'.', b'P']).copied().unwrap_or(0);
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

/// Overwrites a number of 2, 4 or 8 bytes, mostly one in a header.
fn set_field(random: &mut Numbers, bytes: &mut [u8]) {
    let headers = headers(bytes);
    let at = match random.pick(&headers) {
        Some((start, _)) if random.below(8) > 0 => start + 2 * random.below(24),
        _ => random.below(bytes.len()),
    };
    let near = bytes.len() as u64;
    let value = match random.below(4) {
        0 => near.wrapping_add(random.next() % 64).wrapping_sub(32),
        1 => random.next() % (near + 1),
        2 => random.pick(&LENGTHS).copied().unwrap_or(0),
        _ => {
            let bits = random.pick(&WIDTHS).copied().unwrap_or(64);
            1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(random.next() % 3)
        }
    };
    let width = random.pick(&[2, 2, 4, 4, 8]).copied().unwrap_or(2);
    put(bytes, at, &value.to_le_bytes(), width);
}

/// Replaces a range of the archive by, or puts before it, a range of another archive or of itself.
fn splice(random: &mut Numbers, bytes: &mut Vec<u8>, from: &[u8]) {
    let start = random.below(from.len());
    let end = (start + random.below(200)).min(from.len());
    let at = random.below(bytes.len() + 1);
    let removed = if random.below(2) == 0 { random.below(200) } else { 0 };
    let until = (at + removed).min(bytes.len());
    let piece = from.get(start..end).unwrap_or_default();
    bytes.splice(at..until, piece.iter().copied());
}

/// Where signatures stand, and which.
fn headers(bytes: &[u8]) -> Vec<(usize, u32)> {
    let signature = |window: &[u8]| u32::from_le_bytes(window.try_into().unwrap_or_default());
    let all = bytes.windows(4).map(signature).enumerate();
    all.filter(|(_, signature)| SIGNATURES.contains(signature)).collect()
}

/// Makes the CRC of stored entries right, in the local header and in that of the directory which points to it.
fn fix_checksums(bytes: &mut [u8]) {
    for (at, signature) in headers(bytes) {
        if signature != CENTRAL_HEADER || get(bytes, at + 10, 2) != Some(0) {
            continue;
        }
        let (Some(size), Some(local)) = (get(bytes, at + 20, 4), get(bytes, at + 42, 4)) else { continue };
        let (Some(name), Some(extra)) = (get(bytes, local + 26, 2), get(bytes, local + 28, 2)) else { continue };
        let start = local + LOCAL_HEADER_BYTES + name + extra;
        let Some(data) = bytes.get(start..start.saturating_add(size)) else { continue };
        let crc32 = crc32fast::hash(data).to_le_bytes();
        put(bytes, at + 16, &crc32, 4);
        put(bytes, local + 14, &crc32, 4);
    }
}

/// Makes the end record and the directory point to where the headers are now.
fn fix_offsets(bytes: &mut [u8]) {
    let headers = headers(bytes);
    let of = |wanted: u32| headers.iter().filter(move |(_, signature)| *signature == wanted).map(|(at, _)| *at);
    for (central, local) in of(CENTRAL_HEADER).zip(of(LOCAL_HEADER)) {
        put(bytes, central + 42, &local.to_le_bytes(), 4);
    }
    let (Some(end), Some(directory)) = (of(END).next_back(), of(CENTRAL_HEADER).next()) else { return };
    let wide = of(ZIP64_END).next_back();
    let stop = wide.unwrap_or(end);
    let count = of(CENTRAL_HEADER).count();
    let size = stop.saturating_sub(directory);
    let comment = bytes.len().saturating_sub(end + 22);
    let mut fields = vec![
        (end + 8, count, 2),
        (end + 10, count, 2),
        (end + 12, size, 4),
        (end + 16, directory, 4),
        (end + 20, comment, 2),
    ];
    if let (Some(wide), Some(locator)) = (wide, of(ZIP64_LOCATOR).next_back()) {
        fields.extend([(24, count), (32, count), (40, size), (48, directory)].map(|(at, value)| (wide + at, value, 8)));
        fields.push((locator + 8, wide, 8));
    }
    for (at, value, width) in fields {
        put(bytes, at, &value.to_le_bytes(), width);
    }
}

/// A little-endian number of up to 4 bytes.
fn get(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(width)?)?;
    Some(field.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte)))
}

fn put(bytes: &mut [u8], at: usize, value: &[u8], width: usize) {
    let target = bytes.iter_mut().skip(at);
    target.zip(value.iter().take(width)).for_each(|(to, from)| *to = *from);
}
