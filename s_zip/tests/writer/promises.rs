//! Sizes and CRCs announced and not kept.

use std::thread;
use std::time::Duration;

use s_zip::{Compression, EntryOptions, Error, StreamingZipWriter};

use crate::common::any::{By, assert_poisoned};
use crate::common::calls::{Call, noise, zstandard};
use crate::common::sinks::{Manner, Sink};

fn methods(by: By) -> Vec<Compression> {
    let always = [Compression::Deflate(6), Compression::None, Compression::Deflate(0), Compression::Deflate(1)];
    always.into_iter().chain(zstandard(1)).take(if by.is_uniform() { 1 } else { usize::MAX }).collect()
}

/// Options that promise something else than `data`.
fn broken(data: &[u8]) -> Vec<EntryOptions> {
    let (size, crc32) = (data.len() as u64, crc32fast::hash(data));
    let plain = EntryOptions::new;
    let mut broken = vec![
        plain().size(size + 1),
        plain().size(u64::MAX),
        plain().size(size + 1).crc32(crc32),
        plain().crc32(!crc32),
        plain().size(size).crc32(!crc32),
    ];
    if let Some(less) = size.checked_sub(1) {
        broken.extend([plain().size(less), plain().size(0), plain().size(less).crc32(crc32)]);
    }
    broken
}

/// For every method, length and broken promise: the calls, which must fail at some point before or in the directory.
fn broken_calls(data: &[u8], by: By) -> Vec<Vec<Call<'_>>> {
    let mut all = Vec::new();
    for method in methods(by) {
        for len in [0, 10, 70_000, data.len()] {
            for options in broken(&data[..len]) {
                let (name, data, options) = ("broken".to_owned(), &data[..len], options.compression(method));
                let whole = vec![Call::Add(name.clone(), data, options.clone())];
                let streamed = vec![Call::Start(name, options), Call::Data(data)];
                for mut calls in [whole, streamed] {
                    calls.insert(0, Call::Data(b"before"));
                    calls.insert(0, Call::Start("before".to_owned(), EntryOptions::new()));
                    calls.push(Call::Directory("folder".to_owned(), EntryOptions::new()));
                    all.push(calls);
                }
            }
        }
    }
    all
}

fn assert_broken(error: &Error) {
    assert!(matches!(error, Error::BrokenPromise { name, .. } if name == "broken"), "{error}");
}

#[test]
fn a_broken_promise_is_an_error_and_poisons() {
    let noise = noise(600_000, 3);
    for by in By::every() {
        // More than a block of the parallel writer.
        let data = &noise[..if by.is_uniform() { 600_000 } else { 200_000 }];
        for mut calls in broken_calls(data, by) {
            let mut writer = by.open(&Sink::new(Manner::GOOD), Compression::default());
            if by.is_uniform() {
                // It finds out once its threads are through.
                calls.extend((0..1000).map(|index| Call::Start(format!("{index}"), EntryOptions::new())));
            } else {
                // A policy that gathers calls finds out at the flush.
                calls.push(Call::Flush);
            }
            let error = calls.iter().enumerate().find_map(|(index, call)| {
                thread::sleep(Duration::from_millis(u64::from(index > 5)));
                writer.call(call).err()
            });
            assert_broken(&error.unwrap_or_else(|| panic!("{by:?} keeps a broken promise")));
            assert_poisoned(writer);
        }
    }
}

#[test]
fn a_promise_broken_by_the_last_entry_fails_the_end() {
    for by in By::every() {
        let mut writer = by.open(&Sink::new(Manner::GOOD), Compression::default());
        writer.call(&Call::Start("broken".to_owned(), EntryOptions::new().size(4))).unwrap();
        writer.call(&Call::Data(b"abc")).unwrap();
        assert_broken(&writer.end().unwrap_err());
    }
}

#[test]
fn only_an_entry_announced_with_4_gib_or_more_has_a_zip64_field_in_its_local_header() {
    const GIB: u64 = 1 << 30;
    for (size, field) in [(0, false), (3 * GIB, false), (4 * GIB - 1, false), (4 * GIB, true), (u64::MAX, true)] {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = StreamingZipWriter::from_writer(sink.clone());
        writer.start_entry_with_options("x", EntryOptions::new().size(size)).unwrap();
        writer.flush().unwrap();
        let header = &sink.bytes()[..if field { 51 } else { 31 }];
        assert_eq!(header[4], if field { 45 } else { 20 }, "{size}: version needed");
        assert_eq!(header[6], 8, "{size}: a descriptor follows");
        assert_eq!(header[18..26], if field { [0xff; 8] } else { [0; 8] }, "{size}");
        assert_eq!(header[28], if field { 20 } else { 0 }, "{size}: length of the extra field");
        assert_eq!(header[31..], [[1, 0, 16, 0].as_slice(), &[0; 16]].concat()[..if field { 20 } else { 0 }], "{size}");
    }
}
