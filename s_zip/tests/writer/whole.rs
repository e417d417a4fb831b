//! Entries added in one call.

use s_zip::{Compression, EntryOptions, Error};

use crate::common::any::By;
use crate::common::archive::{Entry, parse};
use crate::common::calls::{Call, noise, text};
use crate::common::oracle::WHOLE_BYTES;
use crate::common::sinks::{Manner, Sink};

fn add(data: &[u8], options: EntryOptions) -> Vec<Call<'_>> {
    vec![Call::Add("a".to_owned(), data, options)]
}

fn stream(data: &[u8], options: EntryOptions) -> Vec<Call<'_>> {
    vec![Call::Start("a".to_owned(), options), Call::Data(data)]
}

fn only_entry(calls: &[Call]) -> Entry {
    parse(&By::Sync.write(Compression::default(), calls)).entries.remove(0)
}

#[test]
fn no_data_follows_an_added_entry() {
    for by in By::every() {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = by.open(&sink, Compression::default());
        let long = vec![1; WHOLE_BYTES + 1];
        for (name, data) in [("short", b"whole".as_slice()), ("long", &long)] {
            writer.call(&Call::Add(name.to_owned(), data, EntryOptions::new())).unwrap();
            assert!(matches!(writer.call(&Call::Data(b"more")), Err(Error::NoEntry)), "{by:?}");
        }
        writer.end().unwrap();
        let archive = parse(&sink.bytes());
        assert!(archive.entries[0].data == b"whole" && archive.entries[1].data == long, "{by:?}");
    }
}

#[test]
fn above_the_limit_it_is_streamed() {
    let data = text(WHOLE_BYTES + 1, 1);
    for compression in [Compression::Deflate(1), Compression::None] {
        let options = || EntryOptions::new().compression(compression);
        let wanted = By::Sync.write(Compression::default(), &stream(&data, options()));
        for by in By::all() {
            assert!(by.write(Compression::default(), &add(&data, options())) == wanted, "{by:?}");
        }
        let fits = only_entry(&add(&data[1..], options()));
        assert!(fits.data == data[1..] && !fits.descriptor, "its sizes are in its local header");
    }
}

/// Within one percent: which of two compressors wins depends on the text. Random words of a vocabulary of eight, which this is not about,
/// libdeflate makes a tenth larger.
#[test]
fn at_the_same_level_it_is_no_larger_than_streamed() {
    let texts = [include_str!("../../src/core.rs"), include_str!("../../README.md"), include_str!("../../Cargo.lock")];
    let noise = noise(200_000, 4);
    let zeros = vec![0; 1 << 20];
    // Each line is much like the one before, so that it counts as repetitive, and yet adds symbols of its own.
    let line = |n: usize| format!("{{\"number\": {}, \"text\": \"{}\"}}\n", n * n, "all alike ".repeat(8));
    let lines = (0..700).map(line).collect::<Vec<_>>().concat();
    let repetitive = [&lines.as_bytes()[..60_000], &lines.as_bytes()[..10_000], &zeros[..10_000], &zeros[..64 * 1024]];
    for data in texts.map(str::as_bytes).into_iter().chain([&*noise, &zeros]).chain(repetitive) {
        for level in 1..=9 {
            let options = || EntryOptions::new().compression(Compression::Deflate(level));
            let [whole, streamed] = [add(data, options()), stream(data, options())].map(|calls| only_entry(&calls));
            let (ours, theirs) = (whole.payload.len(), streamed.payload.len());
            assert!(whole.data == data && ours <= theirs + theirs / 100, "level {level}: {ours}, streamed {theirs}");
        }
    }
}
