//! Many entries: ZIP64 by count, and how often the sink is written to.

use s_zip::{EntryOptions, StreamingZipWriter, WriterOptions};

use crate::common::any::By;
use crate::common::archive::parse;
use crate::common::calls::{Call, noise, text, write_sync};
use crate::common::sinks::{Manner, Sink};

fn name(index: usize) -> String {
    format!("{index:05}")
}

fn empty_entries(count: usize) -> Vec<Call<'static>> {
    (0..count).map(|index| Call::Start(name(index), EntryOptions::new())).collect()
}

#[test]
fn zip64_records_are_there_exactly_from_65535_entries_on() {
    for count in [65_534, 65_535, 65_536, 70_000] {
        let bytes = write_sync(WriterOptions::new(), &empty_entries(count));
        // The parser checks the numbers of all three records.
        let archive = parse(&bytes);
        assert_eq!((archive.entries.len(), archive.zip64), (count, count >= 65_535));
        let tail = &bytes[bytes.len() - 100..];
        assert_eq!(tail.windows(4).any(|bytes| bytes == b"PK\x06\x06"), count >= 65_535, "{count}");
        let mut read = zip::ZipArchive::new(std::io::Cursor::new(&bytes)).unwrap();
        assert_eq!(read.len(), count);
        for index in [0, 65_533, count - 1] {
            assert_eq!(read.by_index(index).unwrap().name().unwrap(), name(index));
        }
    }
}

#[test]
fn every_writer_makes_the_same_of_70000_entries() {
    let calls = empty_entries(70_000);
    let wanted = write_sync(WriterOptions::new(), &calls);
    for by in By::ALL {
        assert!(by.write(WriterOptions::new(), &calls) == wanted, "{by:?}");
    }
}

#[test]
fn fifty_entries_of_10_kb_take_at_most_three_writes() {
    let text = text(10_000, 5);
    for by in By::ALL {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = by.open(&sink, WriterOptions::new());
        for index in 0..50 {
            writer.call(&Call::Start(name(index), EntryOptions::new())).unwrap();
            writer.call(&Call::Data(&text)).unwrap();
        }
        writer.end().unwrap();
        assert!((1..=3).contains(&sink.writes()), "{by:?}: {}", sink.writes());
        assert_eq!(sink.flushes(), 1, "{by:?}: nothing is flushed but the end");
    }
}

#[test]
fn a_large_entry_takes_one_write_per_full_buffer() {
    let noise = noise(3_000_000, 6);
    let sink = Sink::new(Manner::GOOD);
    let mut writer = StreamingZipWriter::from_writer(sink.clone());
    writer.start_entry("noise").unwrap();
    noise.chunks(999).for_each(|chunk| writer.write_data(chunk).unwrap());
    writer.finish().unwrap();
    let buffers = sink.len().div_ceil(128 * 1024);
    assert!(sink.writes() <= buffers + 1, "{} writes for {buffers} buffers", sink.writes());
}
