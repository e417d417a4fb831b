//! The valid archives that mutations start from, one for each form that the format has.

use super::times::{ntfs, old_unix, unix};
use super::{Member, deflated, stored, wide_field, zip, zip_after};

const UTF8: u16 = 1 << 11;

/// Valid archives of at most about one KiB each: stored and deflated entries (with the feature `zstd` also those), sizes in the header, in
/// a descriptor and in ZIP64 fields, ZIP64 end records, folders, comments, names that are not ASCII, times and modes, what other programs write.
pub fn corpus() -> Vec<Vec<u8>> {
    let text = "All work and no play makes a dull archive. ".repeat(12);
    let text = text.as_bytes();
    let noise: Vec<u8> = (0..150_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let time = [&b"UT\x05\0\x01"[..], &1_700_000_001_u32.to_le_bytes()].concat();
    let zips = [
        zip(&[]),
        zip(&[stored("stored.txt", b"stored")]),
        zip_after(b"", &[deflated("deflated.txt", text)], b"the comment"),
        zip(&[with_descriptor(deflated("zeros", &vec![0; 20_000]))]),
        zip(&[
            Member { mode: 0o040_755, ..stored("folder/", b"") },
            Member { mode: 0o100_600, ..stored("folder/noise.bin", &noise) },
            with_descriptor(deflated("folder/text", text)),
        ]),
        zip(&[wide(deflated("wide", text)), with_descriptor(wide(deflated("wide, with descriptor", &noise)))]),
        zip_after(b"", &[stored("wide end", b"data")], b"wide").wide(|numbers| numbers),
        zip_after(
            b"",
            &[
                Member {
                    flags: UTF8, comment: "é".into(), ..deflated("größe/日本語.txt", "ü".repeat(40).as_bytes())
                },
                Member { comment: b"nothing in it".to_vec(), ..stored("empty", b"") },
                Member { local_extra: time.clone(), central_extra: time, ..stored("time", b"1") },
            ],
            "Kommentar ü".as_bytes(),
        ),
        zip(&[
            Member { host: 0, mode: 0, central_extra: ntfs(1_700_000_001), ..stored("dos\\folder\\a", b"1") },
            Member { host: 0, mode: 0, attributes: 0x10, ..stored("dos", b"") },
            Member { mode: 0o040_755, central_extra: old_unix(1_700_000_001), ..stored("./unix", b"") },
            Member { local_flags: Some(UTF8), central_extra: unix(1_700_000_001), ..stored("unix//b", b"2") },
        ]),
        #[cfg(feature = "zstd")]
        zip(&[zstandard("zstd", text), with_descriptor(zstandard("again", text))]),
    ];
    zips.into_iter().map(|zip| zip.bytes).collect()
}

#[cfg(feature = "zstd")]
fn zstandard(name: &str, data: &[u8]) -> Member {
    Member { method: 93, data: zstd::bulk::compress(data, 3).unwrap(), ..stored(name, data) }
}

fn wide(member: Member) -> Member {
    let field = wide_field([member.uncompressed.into(), member.data.len() as u64]);
    Member { wide: true, local_extra: field.clone(), central_extra: field, ..member }
}

/// The sizes and the CRC stand behind the data; a local ZIP64 field keeps its place and says nothing.
pub fn with_descriptor(member: Member) -> Member {
    let sizes = [member.data.len() as u64, member.uncompressed.into()].map(u64::to_le_bytes);
    let width = if member.wide { 8 } else { 4 };
    let tail = [b"PK\x07\x08", &member.crc32.to_le_bytes()[..], &sizes[0][..width], &sizes[1][..width]].concat();
    let local_extra = if member.wide { wide_field([0, 0]) } else { member.local_extra };
    Member { flags: member.flags | 8, tail, local_extra, ..member }
}
