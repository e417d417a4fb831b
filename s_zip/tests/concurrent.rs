//! The concurrent writer: the bytes of the sync one whoever is fast, within its budget, and nobody left waiting.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use common::any::By;
use common::archive::parse;
use common::calls::{Item, Kind, Plan, noise, text};
use common::oracle::WHOLE_BYTES;
use common::plans::uniform_plan;
use common::sinks::{Manner, Sink};
use proptest::prelude::*;
use s_zip::{Compression, ConcurrentZipWriter, EntryOptions, EntryWriter, Error, Result};

/// Longer than any call takes that has nothing to wait for.
const A_WHILE: Duration = Duration::from_millis(200);
const TOO_LONG: Duration = Duration::from_mins(1);

fn one_after_another(plan: &Plan, data: &[Vec<u8>]) -> Vec<u8> {
    By::Sync.write(plan.compression, &plan.calls(data, 0))
}

/// Each entry on a thread of its own; those that are added whole start when the calling thread comes to them.
fn all_at_once((plan, level): (&Plan, u32), data: &[Vec<u8>], budget: usize, chunk: usize) -> Vec<u8> {
    let writer = ConcurrentZipWriter::from_writer_with_compression(Vec::new(), level).unwrap().budget_bytes(budget);
    thread::scope(|scope| {
        for (item, data) in plan.items.iter().zip(data) {
            let (name, options) = (&item.name, item.options(data));
            if item.is_folder() {
                writer.add_directory_with_options(name, options).unwrap();
            } else if item.whole {
                writer.add_entry_with_options(name, data, options).unwrap();
            } else {
                let mut entry = writer.start_entry_with_options(name, options).unwrap();
                scope.spawn(move || {
                    data.chunks(chunk).for_each(|chunk| entry.write_all(chunk).unwrap());
                    entry.finish().unwrap();
                });
            }
        }
    });
    writer.set_comment(&*plan.comment).unwrap();
    writer.finish().unwrap()
}

/// Nothing, some of a block, whole blocks and a byte more or less, more than the output buffer.
fn len() -> impl Strategy<Value = usize> {
    let blocks = (0..5_usize, -1..=1_isize).prop_map(|(blocks, odd)| (blocks * 65_536).saturating_add_signed(odd));
    prop_oneof![1 => Just(0_usize), 4 => 0..30_000_usize, 3 => blocks, 1 => 0..400_000_usize]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_archive_is_that_of_the_sync_writer(
        (plan, level) in uniform_plan(len()),
        budget in prop_oneof![Just(0_usize), 0..2_000_000_usize],
        chunk in prop_oneof![1_000..5_000_usize, 60_000..1_000_000_usize],
    ) {
        let data = plan.data();
        let wanted = one_after_another(&plan, &data);
        parse(&wanted);
        prop_assert!(all_at_once((&plan, level), &data, budget, chunk) == wanted);
    }
}

#[test]
fn more_than_is_compressed_whole_is_streamed() {
    let item = Item { whole: true, ..Item::new("large", Kind::Zeros, WHOLE_BYTES + 1) };
    let plan = Plan { compression: Compression::Deflate(1), items: vec![item], comment: String::new() };
    let data = plan.data();
    assert!(all_at_once((&plan, 1), &data, 0, 1) == one_after_another(&plan, &data));
}

#[test]
fn the_first_entry_goes_to_the_sink_as_it_grows() {
    let sink = Sink::new(Manner::GOOD);
    let writer = ConcurrentZipWriter::from_writer(sink.clone());
    let mut first = writer.start_entry("first").unwrap();
    let mut second = writer.start_entry("second").unwrap();
    second.write_all(&noise(1_000_000, 7)).unwrap();
    assert_eq!(sink.len(), 0, "it is not its turn");
    first.write_all(&noise(1_000_000, 7)).unwrap();
    assert!((800_000..1_000_200).contains(&sink.len()), "{}", sink.len());
    first.finish().unwrap();
    assert!(sink.len() > 1_800_000, "{}", sink.len());
    second.finish().unwrap();
    writer.finish().unwrap();
}

thread_local! {
    /// Bytes that this thread has allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size().cast_signed());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        unsafe { System.dealloc(bytes, layout) };
    }
}

#[test]
fn what_waits_holds_little_more_than_its_bytes() {
    let writer = ConcurrentZipWriter::from_writer_with_compression(Vec::new(), 1).unwrap();
    let first = writer.start_entry("first").unwrap();
    let (zeros, text) = (vec![0; 1_000_000], text(1_000_000, 1));
    let before = HELD.get();
    let mut second = writer.start_entry("second").unwrap();
    (0..64).for_each(|_| second.write_all(&zeros).unwrap());
    second.finish().unwrap();
    (0..32).for_each(|index| writer.add_entry(&format!("{index}"), &text).unwrap());
    let held = HELD.get() - before;
    first.finish().unwrap();
    let archive = writer.finish().unwrap();
    // The compressor that is kept for the next entry takes most of the rest.
    let most = archive.len().cast_signed() + 1_500_000;
    assert!(held < most, "{held} bytes for an archive of {}", archive.len());
}

#[test]
fn of_a_hundred_entries_at_once_sixteen_leave_their_compressors() {
    let writer = ConcurrentZipWriter::from_writer(Vec::new());
    let before = HELD.get();
    let entries = (0..100).map(|index| writer.start_entry(&format!("{index}")).unwrap());
    let entries: Vec<EntryWriter<_>> = entries.collect();
    for mut entry in entries {
        entry.write_all(b"data").unwrap();
        entry.finish().unwrap();
    }
    let held = HELD.get() - before;
    assert!(held < 16 * 400_000 + 500_000, "{held} bytes");
    writer.finish().unwrap();
}

/// What a thread says that writes more than may wait, once it is through; `meanwhile` happens while it waits.
fn while_one_waits<W: Write + Send + 'static>(sink: W, meanwhile: impl FnOnce(EntryWriter<W>)) -> Result<()> {
    let writer = ConcurrentZipWriter::from_writer(sink).budget_bytes(200_000);
    let first = writer.start_entry("first").unwrap();
    let mut second = writer.start_entry("second").unwrap();
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let result = second.write_all(&noise(1_000_000, 7));
        sender.send(result.map_err(|error| *error.into_inner().unwrap().downcast().unwrap())).unwrap();
        let _ = second.finish();
    });
    assert_eq!(receiver.recv_timeout(A_WHILE).map(|_: Result<()>| ()), Err(RecvTimeoutError::Timeout), "it waits");
    meanwhile(first);
    receiver.recv_timeout(TOO_LONG).expect("it goes on")
}

#[test]
fn who_exceeds_the_budget_waits_for_its_turn() {
    while_one_waits(Vec::new(), |first| first.finish().unwrap()).unwrap();
}

#[test]
fn who_waits_learns_that_the_archive_is_lost() {
    assert!(matches!(while_one_waits(Vec::new(), drop), Err(Error::Poisoned)));
    let broken = while_one_waits(Vec::new(), |mut first| {
        first.write_all(b"x").unwrap();
        drop(first);
    });
    assert!(matches!(broken, Err(Error::Poisoned)));
    let panicked = while_one_waits(Panics, |first| assert!(thread::spawn(|| first.finish()).join().is_err()));
    assert!(matches!(panicked, Err(Error::Poisoned)));
    // Nobody drops this entry, whose first data goes straight to the sink.
    let panicked = while_one_waits(Panics, |mut first| {
        let write = AssertUnwindSafe(|| first.write_all(&noise(1_000_000, 8)));
        assert!(catch_unwind(write).is_err());
        std::mem::forget(first);
    });
    assert!(matches!(panicked, Err(Error::Poisoned)));
}

struct Panics;

impl Write for Panics {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        panic!("a sink may do so")
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_entry_dropped_unfinished_leaves_no_archive() {
    let writer = ConcurrentZipWriter::from_writer(Vec::new());
    drop(writer.start_entry("a").unwrap());
    assert!(matches!(writer.start_entry("b").map(drop), Err(Error::Poisoned)));
    assert!(matches!(writer.add_entry("b", b"x"), Err(Error::Poisoned)));
    assert!(matches!(writer.add_directory("b"), Err(Error::Poisoned)));
    assert!(matches!(writer.set_comment("b"), Err(Error::Poisoned)));
    assert!(matches!(writer.finish(), Err(Error::Poisoned)));
}

#[test]
fn an_archive_does_not_end_before_its_entries() {
    let writer = ConcurrentZipWriter::from_writer(Vec::new());
    let mut entry = writer.start_entry("a").unwrap();
    assert!(matches!(writer.finish(), Err(Error::OpenEntries)));
    assert!(entry.write_all(&noise(70_000, 7)).is_err());
    assert!(matches!(entry.finish(), Err(Error::Poisoned)));
}

#[test]
fn a_sink_may_fail_anywhere() {
    let data = [noise(1_000, 7), noise(400_000, 7), Vec::new(), noise(50_000, 7)];
    let write = |sink: &Sink| -> Result<()> {
        let writer = ConcurrentZipWriter::from_writer(sink.clone()).budget_bytes(0);
        let entries: Vec<_> = (0..)
            .zip(&data)
            .map(|(index, data)| Ok((writer.start_entry(&format!("{index}"))?, data)))
            .collect::<Result<_>>()?;
        let results: Vec<Result<()>> = thread::scope(|scope| {
            let write = |(mut entry, data): (EntryWriter<Sink>, &Vec<u8>)| match entry.write_all(data) {
                Ok(()) => entry.finish(),
                Err(error) => Err(*error.into_inner().unwrap().downcast().unwrap()),
            };
            let threads: Vec<_> = entries.into_iter().map(|entry| scope.spawn(move || write(entry))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let end = writer.finish().map(drop);
        match results.into_iter().find(|result| matches!(result, Err(Error::Sink(_)))) {
            Some(failure) => {
                assert!(matches!(end, Err(Error::Poisoned)), "{end:?}");
                failure
            }
            None => end,
        }
    };
    let sink = Sink::new(Manner::GOOD);
    write(&sink).unwrap();
    let wanted = sink.bytes();
    let ends = [1, 30, wanted.len() - 30, wanted.len() - 1];
    for limit in (0..wanted.len()).step_by(wanted.len() / 20).chain(ends) {
        let sink = Sink::new(Manner { limit, ..Manner::GOOD });
        assert!(matches!(write(&sink), Err(Error::Sink(_))), "{limit} bytes are not enough");
        assert!(sink.bytes() == wanted[..limit], "a prefix");
    }
}

#[test]
fn a_broken_promise_is_an_error_and_poisons() {
    let plain = EntryOptions::new;
    for promise in [plain().size(4), plain().size(2), plain().crc32(1)] {
        let writer = ConcurrentZipWriter::from_writer(Vec::new());
        let mut entry = writer.start_entry_with_options("a", promise.clone()).unwrap();
        entry.write_all(b"abc").unwrap();
        assert!(matches!(entry.finish(), Err(Error::BrokenPromise { .. })));
        assert!(matches!(writer.finish(), Err(Error::Poisoned)));
        let writer = ConcurrentZipWriter::from_writer(Vec::new());
        assert!(matches!(writer.add_entry_with_options("a", b"abc", promise), Err(Error::BrokenPromise { .. })));
    }
}

#[test]
fn whoever_breaks_a_promise_learns_it_while_others_stand_before() {
    let plain = EntryOptions::new;
    for promise in [plain().size(10), plain().size(2), plain().crc32(1)] {
        let writer = ConcurrentZipWriter::from_writer(Vec::new());
        let first = writer.start_entry("a").unwrap();
        let mut second = writer.start_entry_with_options("b", promise).unwrap();
        second.write_all(b"abcde").unwrap();
        let error = second.finish().unwrap_err();
        assert!(matches!(&error, Error::BrokenPromise { name, .. } if name == "b"), "{error}");
        assert!(matches!(first.finish(), Err(Error::Poisoned)));
    }
    for others in 0..2 {
        let writer = ConcurrentZipWriter::from_writer(Vec::new());
        let _others: Vec<_> = (0..others).map(|_| writer.start_entry("a").unwrap()).collect();
        let mut entry = writer.start_entry_with_options("b", plain().size(10)).unwrap();
        let error = entry.write_all(&noise(70_000, 7)).unwrap_err();
        assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::BrokenPromise { .. })), "{error}");
    }
}

#[test]
fn a_refused_call_changes_nothing() {
    let long = "x".repeat(65_536);
    let writer = ConcurrentZipWriter::from_writer(Vec::new());
    writer.add_directory("folder").unwrap();
    let entry = writer.start_entry("a").unwrap();
    for name in ["", "/a", "../a", "a\\b", "b/", "a", "folder"] {
        assert!(writer.start_entry(name).is_err(), "{name}");
        assert!(writer.add_entry(name, b"").is_err(), "{name}");
    }
    assert!(matches!(writer.add_directory("a"), Err(Error::DuplicateName { .. })));
    assert!(matches!(writer.set_comment(&*long), Err(Error::LongComment { .. })));
    for compression in [Compression::None, Compression::Deflate(2)] {
        let refused = writer.start_entry_with_options("b", EntryOptions::new().compression(compression));
        assert!(matches!(refused.map(drop), Err(Error::OneCompression)));
    }
    entry.finish().unwrap();
    writer.add_entry("b", b"").unwrap();
    let archive = parse(&writer.finish().unwrap());
    assert!(archive.entries.iter().map(|entry| &entry.name).eq(["folder/", "a", "b"]));
    let refused = ConcurrentZipWriter::from_writer_with_compression(Vec::new(), 10).map(drop);
    assert!(matches!(refused, Err(Error::BadLevel { .. })));
}
