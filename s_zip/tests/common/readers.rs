//! What other readers make of an archive.

use std::io::{Cursor, Read};

use s_zip::StreamingZipReader;

use super::archive::Archive;

/// Reads the archive with the `zip` crate and compares everything it can say.
///
/// # Panics
/// If it reads something else than `wanted`.
pub fn agree(bytes: &[u8], wanted: &Archive) {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), wanted.entries.len());
    assert_eq!(archive.comment(), wanted.comment.as_bytes());
    for (index, entry) in wanted.entries.iter().enumerate() {
        if entry.method == 93 && !cfg!(feature = "zstd") {
            continue;
        }
        let mut file = archive.by_index(index).unwrap();
        assert_eq!(file.name().unwrap(), entry.name);
        assert_eq!(file.comment(), entry.comment);
        assert_eq!(file.is_dir(), entry.name.ends_with('/'));
        // That crate masks the set-ID and sticky bits; the parser has compared them.
        assert_eq!(file.unix_mode(), Some(entry.mode & 0o170_777));
        let modified = file.last_modified().unwrap();
        assert_eq!((modified.timepart(), modified.datepart()), (entry.time, entry.date), "{}", entry.name);
        assert_eq!((file.size(), file.crc32()), (entry.data.len() as u64, entry.crc32));
        let mut data = Vec::new();
        file.read_to_end(&mut data).unwrap();
        assert!(data == entry.data, "{}", entry.name);
    }
    own_reader(bytes, wanted);
}

/// Reads the archive with the crate's own reader, and compares everything it can say.
fn own_reader(bytes: &[u8], wanted: &Archive) {
    let mut reader = StreamingZipReader::new(Cursor::new(bytes)).unwrap();
    assert_eq!(reader.entries().len(), wanted.entries.len());
    assert_eq!(reader.comment(), wanted.comment.as_bytes());
    for (index, entry) in wanted.entries.iter().enumerate() {
        let listed = &reader.entries()[index];
        assert_eq!((&listed.name, &listed.comment, listed.method), (&entry.name, &entry.comment, entry.method));
        assert_eq!((listed.crc32, listed.unix_mode), (entry.crc32, Some(entry.mode)), "{}", entry.name);
        if let Some(seconds) = entry.unix_seconds {
            assert_eq!(listed.modified_unix, i64::from(seconds), "{}", entry.name);
        }
        let mut data = Vec::new();
        reader.read(index).unwrap().read_to_end(&mut data).unwrap();
        assert!(data == entry.data, "{}", entry.name);
    }
}
