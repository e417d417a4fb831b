//! The end of an archive and its central directory.

use std::io::{Read, Seek, SeekFrom};

use crate::format::{
    CENTRAL_HEADER, CENTRAL_HEADER_BYTES, END, END_BYTES, FLAG_UTF8, LIMIT_16, LIMIT_32, LOCAL_HEADER, ZIP64_END,
    ZIP64_END_BYTES, ZIP64_LOCATOR, ZIP64_LOCATOR_BYTES,
};
use crate::name::shown;
use crate::time::DosDateTime;

use super::Limits;
use super::entry::{Entry, FLAGS_ENCRYPTED, Host, read_fields, read_name};
use super::error::ReadError;
use super::source::{Cursor, fill, gather, seek};
use super::text;

/// Numbers of 16 and of 32 bits start over here, where a program does not write ZIP64.
const WRAP_16: u64 = 1 << 16;
const WRAP_32: u64 = 1 << 32;
/// Zeros that may stand behind an archive: bsdtar fills up its last block of 10 KiB when it writes to a pipe.
const PADDING_BYTES: usize = 64 * 1024;

/// Where the directory is, by the end record and the ZIP64 end record.
#[derive(Clone, Copy)]
struct Place {
    entries: u64,
    offset: u64,
    bytes: u64,
}

/// The end record as it stands in the file.
struct End {
    /// Where it starts.
    at: u64,
    place: Place,
    comment: Vec<u8>,
}

/// Reads the directory and the comment of the archive, and checks that they are consistent in themselves and with the file's length.
pub(super) fn read<R: Read + Seek>(source: &mut R, limits: &Limits) -> Result<(Vec<Entry>, Vec<u8>), ReadError> {
    let length = source.seek(SeekFrom::End(0)).map_err(ReadError::Read)?;
    let end = find_end(source, length)?;
    let wide = find_zip64_end(source, &end)?;
    let (mut place, ends_at) = wide.unwrap_or((end.place, end.at));
    // The offset may have wrapped: the directory ends where the end record starts.
    if wide.is_none()
        && let Some(offset) = ends_at.checked_sub(place.bytes)
        && offset % WRAP_32 == place.offset
    {
        place.offset = offset;
    }
    // Offsets count from the start of the file: something before the archive is fine as long as the offsets know of it.
    if place.offset.checked_add(place.bytes) != Some(ends_at) {
        return Err(ReadError::BadDirectory { what: "it does not end where the end record says" });
    }
    let room = place.bytes / CENTRAL_HEADER_BYTES as u64;
    if place.entries > room {
        return Err(ReadError::ImpossibleCount { claimed: place.entries, room });
    }
    if place.entries > limits.entries {
        return Err(ReadError::TooManyEntries { claimed: place.entries, limit: limits.entries });
    }
    if place.bytes > limits.directory_bytes {
        return Err(ReadError::DirectoryTooLarge { bytes: place.bytes, limit: limits.directory_bytes });
    }
    afford(place.bytes, place.entries)?;
    seek(source, place.offset)?;
    let bytes = gather(source, place.bytes, "the central directory")?;
    let (count, name_bytes) = measure(&bytes)?;
    if place.entries != if wide.is_none() { count % WRAP_16 } else { count } {
        return Err(ReadError::BadDirectory { what: "it holds another number of entries than the end record counts" });
    }
    if count > limits.entries {
        return Err(ReadError::TooManyEntries { claimed: count, limit: limits.entries });
    }
    afford(needed(&bytes, count, name_bytes), count)?;
    let mut entries = parse(&bytes, count)?;
    if wide.is_none() && place.offset != end.place.offset {
        restore_offsets(source, &mut entries, place.offset, place.offset - end.place.offset)?;
    }
    lay_out(&mut entries, place.offset)?;
    Ok((entries, end.comment))
}

/// Bytes of memory for the entries of a directory, beside the directory itself; not much less, nor much more.
fn needed(directory: &[u8], entries: u64, name_bytes: u64) -> u64 {
    // Its place by offset and by name, and what allocations round up.
    const BESIDE_ENTRY: usize = 80;
    let texts = (directory.len() as u64).saturating_sub(entries.saturating_mul(CENTRAL_HEADER_BYTES as u64));
    // A byte of code page 437 is up to three of UTF-8. A name that is changed stands as in the archive, too.
    let foreign = 2 * directory.iter().filter(|byte| !byte.is_ascii()).count() as u64;
    entries.saturating_mul((size_of::<Entry>() + BESIDE_ENTRY) as u64) + texts + foreign + name_bytes
}

/// Whether there are so many bytes of memory for a directory. An allocation that fails later, one of many small ones, aborts the program.
fn afford(bytes: u64, entries: u64) -> Result<(), ReadError> {
    let mut all: Vec<u8> = Vec::new();
    let fits = usize::try_from(bytes).is_ok_and(|bytes| all.try_reserve_exact(bytes).is_ok());
    // Or the compiler may leave out what nobody looks at.
    std::hint::black_box(&all);
    if fits { Ok(()) } else { Err(ReadError::NoMemory { entries, bytes }) }
}

/// The one end record whose comment reaches the end of the file, or the zeros there.
fn find_end<R: Read + Seek>(source: &mut R, length: u64) -> Result<End, ReadError> {
    let tail_bytes = length.min((END_BYTES + usize::from(u16::MAX) + PADDING_BYTES) as u64);
    let tail_at = length - tail_bytes;
    seek(source, tail_at)?;
    let tail = gather(source, tail_bytes, "the end record")?;
    let zeros = tail.iter().rev().take(PADDING_BYTES).take_while(|byte| **byte == 0).count();
    let mut found = None;
    for (at, window) in tail.windows(4).enumerate() {
        if window == END.to_le_bytes()
            && let Some(end) = parse_end(&tail[at..], zeros, tail_at + at as u64)
            && found.replace(end).is_some()
        {
            return Err(ReadError::SeveralEnds);
        }
    }
    let (end, one_disk) = found.ok_or(ReadError::NotAZip)?;
    if one_disk { Ok(end) } else { Err(ReadError::MultiDisk) }
}

/// An end record and whether it speaks of one disk; none if the comment does not reach the end exactly, or the `zeros` there.
fn parse_end(record: &[u8], zeros: usize, at: u64) -> Option<(End, bool)> {
    let mut cursor = Cursor(record);
    let [_signature] = cursor.u32s()?;
    let [disk, directory_disk, entries_here, entries] = cursor.u16s()?;
    let [bytes, offset] = cursor.u32s()?;
    let [comment_bytes] = cursor.u16s()?;
    let comment = cursor.take(comment_bytes.into())?;
    if cursor.0.len() > zeros {
        return None;
    }
    let unmarked = |value: u16| value != 0 && value != u16::MAX;
    let one_disk = !unmarked(disk) && !unmarked(directory_disk) && entries_here == entries;
    let place = Place { entries: entries.into(), offset: offset.into(), bytes: bytes.into() };
    Some((End { at, place, comment: comment.to_vec() }, one_disk))
}

/// The place by the ZIP64 end record, and where that record starts; none if there is no locator.
fn find_zip64_end<R: Read + Seek>(source: &mut R, end: &End) -> Result<Option<(Place, u64)>, ReadError> {
    // A directory that ends at the short record leaves no room for others: what looks like a locator is the end of a name or comment.
    // What is a whole record all the same could be believed by other readers, and is held against the short one.
    let plain = end.place.offset.checked_add(end.place.bytes) == Some(end.at);
    let unless_plain = |error| if plain { Ok(None) } else { Err(error) };
    let bad = |what| ReadError::BadDirectory { what };
    let Some(locator_at) = end.at.checked_sub(ZIP64_LOCATOR_BYTES as u64) else { return Ok(None) };
    let mut locator = [0; ZIP64_LOCATOR_BYTES];
    seek(source, locator_at)?;
    fill(source, &mut locator, "the ZIP64 locator")?;
    let mut cursor = Cursor(&locator);
    let (Some([ZIP64_LOCATOR, disk]), Some([at]), Some([disks])) = (cursor.u32s(), cursor.u64s(), cursor.u32s()) else {
        return Ok(None);
    };
    // Some writers count no disks at all.
    if disk != 0 || disks > 1 {
        return unless_plain(ReadError::MultiDisk);
    }
    let fits = at.checked_add(ZIP64_END_BYTES as u64).is_some_and(|least| least <= locator_at);
    if !fits {
        return unless_plain(bad("the ZIP64 locator points to no place for a ZIP64 end record"));
    }
    let mut record = [0; ZIP64_END_BYTES];
    seek(source, at)?;
    fill(source, &mut record, "the ZIP64 end record")?;
    let mut cursor = Cursor(&record);
    let (Some([ZIP64_END]), Some([size]), Some([_versions, disk, directory_disk])) =
        (cursor.u32s(), cursor.u64s(), cursor.u32s())
    else {
        return unless_plain(bad("there is no ZIP64 end record where the locator points"));
    };
    if at.checked_add(12).and_then(|start| start.checked_add(size)) != Some(locator_at) {
        return Err(bad("the ZIP64 end record does not end at its locator"));
    }
    let [here, entries, bytes, offset] = cursor.u64s().ok_or(bad("the ZIP64 end record is too short"))?;
    if disk != 0 || directory_disk != 0 || here != entries {
        return Err(ReadError::MultiDisk);
    }
    // Each number of the short record is either the mark or the same number.
    let agrees = |short: u64, wide: u64, mark: u64| short == mark || short == wide;
    if !agrees(end.place.entries, entries, LIMIT_16)
        || !agrees(end.place.bytes, bytes, LIMIT_32)
        || !agrees(end.place.offset, offset, LIMIT_32)
    {
        return Err(bad("the end record and the ZIP64 end record disagree"));
    }
    Ok(Some((Place { entries, offset, bytes }, at)))
}

const SHORT: ReadError = ReadError::BadDirectory { what: "an entry's header runs past its end" };

/// How many entries a directory holds, and the bytes of their names.
fn measure(directory: &[u8]) -> Result<(u64, u64), ReadError> {
    let (mut count, mut names) = (0, 0);
    let mut cursor = Cursor(directory);
    while !cursor.0.is_empty() {
        // The lengths of name, extra fields and comment; disk, attributes and offset follow.
        cursor.take(28).ok_or(SHORT)?;
        let lengths = cursor.u16s::<3>().ok_or(SHORT)?.map(usize::from);
        cursor.take(12 + lengths.iter().sum::<usize>()).ok_or(SHORT)?;
        count += 1;
        names += lengths[0] as u64;
    }
    Ok((count, names))
}

fn parse(bytes: &[u8], count: u64) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let mut cursor = Cursor(bytes);
    while !cursor.0.is_empty() {
        entries.push(parse_header(&mut cursor)?);
    }
    Ok(entries)
}

fn parse_header(cursor: &mut Cursor<'_>) -> Result<Entry, ReadError> {
    if cursor.u32s().ok_or(SHORT)? != [CENTRAL_HEADER] {
        return Err(ReadError::BadDirectory { what: "an entry's header does not start with its signature" });
    }
    let [made_by, _needed, flags, method, dos_time, dos_date] = cursor.u16s().ok_or(SHORT)?;
    let [crc32, compressed, uncompressed] = cursor.u32s().ok_or(SHORT)?;
    let [name_bytes, extra_bytes, comment_bytes, disk, _internal] = cursor.u16s().ok_or(SHORT)?;
    let [attributes, offset] = cursor.u32s().ok_or(SHORT)?;
    let raw_name = cursor.take(name_bytes.into()).ok_or(SHORT)?;
    let extra = cursor.take(extra_bytes.into()).ok_or(SHORT)?;
    let raw_comment = cursor.take(comment_bytes.into()).ok_or(SHORT)?;

    let host = Host::new(made_by >> 8);
    let made_on_unix = host == Host::Unix;
    let (comment, _) = text::decode(raw_comment, flags & FLAG_UTF8 != 0, made_on_unix);
    let fields = read_fields(extra, [uncompressed, compressed, offset], disk);
    let fields = fields.map_err(|what| {
        let (name, _) = text::decode(raw_name, flags & FLAG_UTF8 != 0, made_on_unix);
        ReadError::BadField { name: shown(&name), what }
    })?;
    if fields.disk != 0 {
        return Err(ReadError::MultiDisk);
    }
    let (name, is_text) = read_name(raw_name, flags, host, host.is_folder(attributes), &fields);
    let from_dos = DosDateTime { time: dos_time, date: dos_date }.to_unix();
    // Fields of 32 bits wrap in 2038, and the DOS time in 2107.
    let wraps = |seconds: i64| if seconds < 0 && from_dos > i32::MAX.into() { 1 << 32 } else { 0 };
    let modified_unix = fields.modified.map_or(from_dos, |seconds| seconds + wraps(seconds));
    let mode = attributes >> 16;
    Ok(Entry {
        raw_name: (name.as_bytes() != raw_name).then(|| raw_name.into()),
        not_utf8: !is_text,
        bad_field: fields.fault,
        name,
        comment,
        method,
        crc32,
        compressed: fields.compressed,
        uncompressed: fields.uncompressed,
        modified_unix,
        unix_mode: (made_on_unix && mode != 0).then_some(mode),
        offset: fields.offset,
        encrypted: flags & FLAGS_ENCRYPTED != 0,
        flags,
        host,
        ceiling: 0,
    })
}

/// Gives offsets back what they lost beyond 32 bits, where the directory's own offset has lost something, too: entries stand one after another, so
/// that each starts at the first place behind the one before it that its offset can mean.
fn restore_offsets<R: Read + Seek>(
    source: &mut R,
    entries: &mut [Entry],
    directory_at: u64,
    lost: u64,
) -> Result<(), ReadError> {
    const AMBIGUOUS: ReadError = ReadError::BadDirectory {
        what: "numbers of more than 32 bits are cut off, and the rest can mean several places: pack the files again with ZIP64",
    };
    let mut least = 0_u64;
    for entry in entries {
        // Many readers take what was lost for the length of something before the archive, and look here.
        let elsewhere = entry.offset.saturating_add(lost);
        let wraps = least.saturating_sub(entry.offset).div_ceil(WRAP_32);
        entry.offset = entry.offset.saturating_add(wraps.saturating_mul(WRAP_32));
        least = entry.least_end(entry.raw_name().len() as u64).unwrap_or(u64::MAX);
        if elsewhere != entry.offset && elsewhere < directory_at {
            seek(source, elsewhere)?;
            if gather(source, 4, "a local header")? == LOCAL_HEADER.to_le_bytes() {
                return Err(AMBIGUOUS);
            }
        }
    }
    // A size that was cut off leaves a gap.
    if directory_at.saturating_sub(least) < WRAP_32 { Ok(()) } else { Err(AMBIGUOUS) }
}

/// Checks by the least that each entry must occupy that none reaches into the next, and enters the place where each must have ended.
/// What an entry occupies exactly is known once its local header is read, and is held against that place.
fn lay_out(entries: &mut [Entry], directory_at: u64) -> Result<(), ReadError> {
    let mut order: Vec<(u64, usize)> = entries.iter().enumerate().map(|(index, entry)| (entry.offset, index)).collect();
    order.sort_unstable();
    let (mut ceiling, mut follower) = (directory_at, None);
    for (offset, index) in order.into_iter().rev() {
        let entry = &entries[index];
        if entry.least_end(entry.raw_name().len() as u64).is_none_or(|end| end > ceiling) {
            let of = |follower: usize| format!("the entry {:?}", shown(&entries[follower].name));
            return Err(entry.overlaps(follower.map_or_else(|| "the central directory".to_owned(), of)));
        }
        entries[index].ceiling = ceiling;
        (ceiling, follower) = (offset, Some(index));
    }
    Ok(())
}
