//! Archives that are small and want to become large.

use std::io::{Cursor, Read, Seek, SeekFrom};

use s_zip::{Limits, ReadError, StreamingZipReader};

use crate::common::forged::{Member, bomb, deflated, stored, zip};

#[test]
fn entries_that_quote_the_next_one_are_refused() {
    // Each entry quotes the header of the next one, so that all end in one kernel.
    let kernel = zip(&[deflated("b", &vec![0; 100_000])]);
    let inner = &kernel.bytes[..kernel.central[0]];
    let mut quoted = zip(&[stored("a", inner)]);
    let offset = u32::try_from(quoted.central[0] - inner.len()).unwrap();
    let header = kernel.bytes[kernel.central[0]..kernel.end].to_vec();
    let at = quoted.end;
    quoted.bytes.splice(at..at, header.iter().copied());
    quoted.end += header.len();
    let size = u32::try_from(quoted.end - quoted.central[0]).unwrap();
    let quoted = quoted.with(at + 42, &offset.to_le_bytes()).with(quoted.end + 8, &[2, 0, 2, 0]);
    let quoted = quoted.with(quoted.end + 12, &size.to_le_bytes());
    assert_error!(quoted.open(), ReadError::Overlap { name, .. } if name == "a");
}

/// Counts what is read of a source.
struct Counting<'a>(Cursor<&'a [u8]>, u64);

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).inspect(|bytes| self.1 += *bytes as u64)
    }
}

impl Seek for Counting<'_> {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(position)
    }
}

#[test]
fn a_gigabyte_of_zeros_is_refused_before_it_is_unpacked() {
    let archive = zip(&[bomb()]);
    assert_error!(archive.test(), ReadError::RatioExceeded { name: None, .. });
    assert_error!(archive.open().unwrap().read(0).map(|_| ()), ReadError::RatioExceeded { name: Some(_), .. });
    let limits = Limits { bytes: 1 << 29, ratio: u64::MAX, ..Limits::default() };
    assert_error!(archive.test_within(limits), ReadError::TooLarge { limit: 0x2000_0000, .. });
}

#[test]
fn a_bomb_that_declares_little_is_stopped_at_the_first_byte_too_many() {
    let archive = zip(&[Member { uncompressed: 1000, ..bomb() }]);
    let mut source = Counting(Cursor::new(&archive.bytes), 0);
    let mut opened = StreamingZipReader::new(&mut source).unwrap();
    let mut got = Vec::new();
    let error = opened.read(0).unwrap().read_to_end(&mut got).unwrap_err();
    assert_error!(Err::<(), _>(error.into()), ReadError::SizeMismatch { declared: 1000, found: 1001, .. });
    assert!(got.len() <= 1000);
    assert!(source.1 < 256 * 1024, "{} bytes of the source were read", source.1);
}

#[cfg(feature = "zstd")]
#[test]
fn a_window_beyond_the_limit_is_refused() {
    // A frame with a window of 2 to the power of `log`, and one block of 4 raw bytes.
    let frame = |log: u8| [&[0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3, 0x21, 0, 0][..], b"data"].concat();
    let archive = |log| zip(&[Member { method: 93, data: frame(log), ..stored("a", b"data") }]);
    archive(20).test().unwrap();
    assert_error!(archive(31).test(), ReadError::BadData { .. });
    let limits = Limits { window_log: 19, ..Limits::default() };
    assert_error!(archive(20).test_within(limits), ReadError::BadData { .. });
}
