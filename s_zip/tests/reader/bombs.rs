//! Archives that are small and want to become large.

use std::io::{Cursor, Read};

use s_zip::{Limits, ReadError, StreamingZipReader};

use crate::common::forged::{Member, bomb, deflated, stored, zip};

#[test]
fn an_entry_that_quotes_the_next_one_is_refused() {
    // The data of the first is a quotation of the second, to which the directory points.
    let kernel = deflated("b", &vec![0; 100_000]);
    let alone = zip(std::slice::from_ref(&kernel));
    let quoted = zip(&[stored("a", &alone.bytes[..alone.central[0]]), kernel]);
    // Before the data of the first stand its header and its name of one byte.
    let quoted = quoted.with(quoted.central[1] + 42, &[30 + 1, 0, 0, 0]);
    assert_error!(quoted.open(), ReadError::Overlap { name, .. } if name == "a");
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
    let mut source = Cursor::new(&archive.bytes);
    let mut opened = StreamingZipReader::new(&mut source).unwrap();
    let mut got = Vec::new();
    let error = opened.read(0).unwrap().read_to_end(&mut got).unwrap_err();
    assert_error!(Err::<(), _>(error.into()), ReadError::SizeMismatch { declared: 1000, found: 1001, .. });
    assert!(got.len() <= 1000);
    // The entry starts with the file.
    let read = source.position();
    assert!(read < 256 * 1024, "{read} bytes of the source were read");
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
