//! How often the sink is written to, and where the buffer ends.

use s_zip::{Compression, EntryOptions};

use crate::common::any::By;
use crate::common::archive::parse;
use crate::common::calls::{Call, noise, text};
use crate::common::sinks::{Manner, Sink};

#[test]
fn fifty_entries_of_10_kb_take_at_most_three_writes() {
    let text = text(10_000, 5);
    for by in By::all() {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = by.open(&sink, Compression::default());
        for index in 0..50 {
            writer.call(&Call::Start(index.to_string(), EntryOptions::new())).unwrap();
            writer.call(&Call::Data(&text)).unwrap();
        }
        writer.end().unwrap();
        assert!((1..=3).contains(&sink.writes()), "{by:?}: {}", sink.writes());
        assert_eq!(sink.flushes(), 1, "{by:?}: nothing is flushed but the end");
    }
}

#[test]
fn a_large_entry_takes_one_write_per_full_buffer_however_small_its_pieces() {
    for (len, piece) in [(3_000_000, 999), (300_000, 1)] {
        let noise = noise(len, 6);
        let start = || Call::Start("noise".to_owned(), EntryOptions::new());
        let wanted = By::Sync.write(Compression::default(), &[start(), Call::Data(&noise)]);
        for by in By::all() {
            let sink = Sink::new(Manner::GOOD);
            let mut writer = by.open(&sink, Compression::default());
            writer.call(&start()).unwrap();
            noise.chunks(piece).for_each(|piece| writer.call(&Call::Data(piece)).unwrap());
            writer.end().unwrap();
            assert!(sink.bytes() == wanted, "{by:?}, pieces of {piece}");
            let buffers = sink.len().div_ceil(128 * 1024);
            assert!(sink.writes() <= buffers + 1, "{by:?}: {} writes for {buffers} buffers", sink.writes());
        }
    }
}

#[test]
fn what_the_buffer_takes_needs_no_descriptor() {
    let (noise, text) = (noise(131_073, 2), text(300_000, 1));
    for (compression, data, descriptor) in [
        (Compression::None, &noise[..131_071], false),
        // The last block that it takes is not full.
        (Compression::None, &noise[..131_072], true),
        (Compression::None, &noise, true),
        (Compression::Deflate(0), &text, true),
        (Compression::Deflate(1), &text, false),
        (Compression::Deflate(9), &text, false),
    ] {
        let start = Call::Start("edge".to_owned(), EntryOptions::new().compression(compression));
        let after = Call::Start("after".to_owned(), EntryOptions::new());
        let calls = [start, Call::Data(data), after];
        let entry = parse(&By::Sync.write(Compression::default(), &calls)).entries.remove(0);
        let method = if compression == Compression::None && !descriptor { 0 } else { 8 };
        assert_eq!((entry.descriptor, entry.method), (descriptor, method), "{compression:?}, {} bytes", data.len());
    }
}
