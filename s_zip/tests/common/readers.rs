//! What other readers make of an archive.

use std::io::{Cursor, Read};

use s_zip::StreamingZipReader;

use super::archive::Archive;

/// Reads the archive with the `zip` crate and with the crate's own reader, and compares everything they can say.
///
/// # Panics
/// If one reads something else than `wanted`.
pub fn agree(bytes: &[u8], wanted: &Archive) {
    let mut theirs = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut ours = StreamingZipReader::new(Cursor::new(bytes)).unwrap();
    assert_eq!([theirs.len(), ours.entries().len()], [wanted.entries.len(); 2]);
    assert_eq!([theirs.comment(), ours.comment()], [wanted.comment.as_bytes(); 2]);
    for (index, entry) in wanted.entries.iter().enumerate() {
        let name = &entry.name;
        let listed = &ours.entries()[index];
        assert_eq!((&listed.name, &listed.comment, listed.method), (name, &entry.comment, entry.method));
        assert_eq!((listed.crc32, listed.unix_mode), (entry.crc32, Some(entry.mode)), "{name}");
        if let Some(seconds) = entry.unix_seconds {
            assert_eq!(listed.modified_unix, i64::from(seconds), "{name}");
        }
        assert!(read(ours.read(index).unwrap()) == entry.data, "{name}");
        let file = theirs.by_index(index).unwrap();
        assert_eq!((&*file.name().unwrap(), file.comment()), (&**name, &*entry.comment));
        assert_eq!(file.is_dir(), name.ends_with('/'));
        // That crate masks the set-ID and sticky bits; the parser has compared them.
        assert_eq!(file.unix_mode(), Some(entry.mode & 0o170_777), "{name}");
        let modified = file.last_modified().unwrap();
        assert_eq!((modified.timepart(), modified.datepart()), (entry.time, entry.date), "{name}");
        assert_eq!((file.size(), file.crc32()), (entry.data.len() as u64, entry.crc32), "{name}");
        assert!(read(file) == entry.data, "{name}");
    }
}

fn read(mut file: impl Read) -> Vec<u8> {
    let mut data = Vec::new();
    file.read_to_end(&mut data).unwrap();
    data
}
