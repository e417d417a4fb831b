//! The parallel writer: the same bytes whatever the threads, within its budget, and errors as the other writers have them.
#![cfg(feature = "parallel")]

mod common;

use std::io::{self, Write};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::any::{fail_everywhere, written};
use common::archive::parse;
use common::calls::{Call, noise, text};
use common::oracle::check_content;
use common::plans::uniform_plan;
use common::sinks::{Manner, Sink};
use proptest::prelude::*;
use s_zip::parallel::BLOCK_BYTES;
use s_zip::{Compression, EntryOptions, Error, ParallelZipWriter};

/// Level, threads and budget in bytes.
type Options = (u32, usize, Option<usize>);

fn open<W: Write>(sink: W, (level, jobs, budget): Options) -> ParallelZipWriter<W> {
    let writer = ParallelZipWriter::from_writer(sink, level, NonZero::new(jobs)).unwrap();
    match budget {
        Some(bytes) => writer.budget_bytes(bytes),
        None => writer,
    }
}

fn write(options: Options, calls: &[Call]) -> Vec<u8> {
    written(|sink| Box::new(open(sink.clone(), options)), calls)
}

/// Calls for an entry per piece of data, cut into chunks.
fn entries(data: &[Vec<u8>], chunk: usize) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    for (index, data) in data.iter().enumerate() {
        calls.push(Call::Start(format!("entry {index}"), EntryOptions::new()));
        calls.extend(data.chunks(chunk).map(Call::Data));
    }
    calls
}

fn check(data: &[Vec<u8>], bytes: &[u8]) {
    assert!(parse(bytes).entries.iter().map(|entry| &entry.data).eq(data));
}

/// Nothing, one block, many blocks, exact multiples, and one byte more or less.
fn len() -> impl Strategy<Value = usize> {
    let exact = (0..4_usize, -1..=1_isize).prop_map(|(blocks, odd)| (blocks * BLOCK_BYTES).saturating_add_signed(odd));
    prop_oneof![1 => Just(0_usize), 4 => 0..20_000_usize, 2 => exact, 1 => 0..4 * BLOCK_BYTES]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_budget_and_cuts_do_not_change_a_byte(
        (plan, level) in uniform_plan(len()),
        budget in 1..3_000_000_usize,
        cuts in any::<[u64; 2]>(),
    ) {
        let data = plan.data();
        let wanted = write((level, 1, None), &plan.calls(&data, cuts[0]));
        check_content(&plan, &data, &parse(&wanted));
        for jobs in [1, 2, 4] {
            let got = write((level, jobs, Some(budget)), &plan.calls(&data, cuts[1]));
            prop_assert!(got == wanted, "{} threads", jobs);
        }
    }
}

#[test]
fn an_entry_of_one_block_needs_no_descriptor_and_one_of_four_does() {
    for (len, descriptor) in [(BLOCK_BYTES, false), (4 * BLOCK_BYTES, true)] {
        let bytes = write((1, 2, None), &entries(&[text(len, 2)], BLOCK_BYTES));
        assert_eq!(parse(&bytes).entries[0].descriptor, descriptor, "{len}");
    }
}

#[test]
fn what_was_used_before_does_not_change_a_byte() {
    // With one thread and no budget to speak of every block but the first gets a used compressor and a buffer that has grown; with more threads
    // and all blocks under way at once mostly new ones. zlib's ports hash a byte behind the dictionary, which a compressor that was only reset
    // still has from its last block. Given all of its room, Deflate of level 6 made other bytes of the first text.
    for (seed, level) in [1, 3, 5, 6, 9].map(|level| (0, level)).into_iter().chain((5..11).map(|seed| (seed, 1))) {
        let data = vec![text(4 * BLOCK_BYTES, seed)];
        let calls = entries(&data, BLOCK_BYTES);
        let wanted = write((level, 1, Some(1)), &calls);
        for jobs in [1, 2, 4, 2, 4] {
            assert!(write((level, jobs, None), &calls) == wanted, "{jobs} threads, level {level}, seed {seed}");
        }
    }
}

#[test]
fn a_compression_that_it_does_not_have_is_refused() {
    let sink = Sink::new(Manner::GOOD);
    let mut writer = open(sink, (1, 2, None));
    for compression in [Compression::None, Compression::Deflate(2)] {
        let refused = writer.start_entry_with_options("a", EntryOptions::new().compression(compression));
        assert!(matches!(refused, Err(Error::OneCompression)), "{refused:?}");
    }
    writer.start_entry_with_options("a", EntryOptions::new().compression(Compression::Deflate(1))).unwrap();
    writer.finish().unwrap();
    let refused = ParallelZipWriter::from_writer(Vec::new(), 10, NonZero::new(1)).map(drop);
    assert!(matches!(refused, Err(Error::BadLevel { .. })));
}

#[test]
fn data_beyond_an_announced_size_is_refused_before_all_of_it_is_there() {
    let sink = Sink::new(Manner::GOOD);
    let mut writer = open(sink, (1, 2, Some(1)));
    writer.start_entry_with_options("a", EntryOptions::new().size(10)).unwrap();
    let error = (0..100).find_map(|_| writer.write_data(&noise(BLOCK_BYTES, 1)).err());
    assert!(matches!(error, Some(Error::BrokenPromise { .. })), "{error:?}");
    assert!(matches!(writer.write_data(b"x"), Err(Error::Poisoned)));
}

#[test]
fn many_small_entries_keep_their_order() {
    let data: Vec<Vec<u8>> = (0..3000).map(|index| text(index % 700, 1)).collect();
    let wanted = write((1, 1, None), &entries(&data, 1000));
    check(&data, &wanted);
    assert!(write((1, 4, Some(1)), &entries(&data, 100)) == wanted);
}

#[test]
fn blocks_refer_to_the_block_before() {
    // Noise that repeats within the window of 32 KiB: a block that could not look back would be larger.
    let data = vec![noise(30_000, 1).repeat(40)];
    let bytes = write((1, 2, None), &entries(&data, 100_000));
    check(&data, &bytes);
    if cfg!(any(feature = "zlib-rs", feature = "zlib-ng")) {
        assert!(bytes.len() < 60_000, "{}", bytes.len());
    }
}

#[test]
fn a_sink_may_fail_anywhere() {
    let data = vec![noise(1000, 1), noise(BLOCK_BYTES + 90_000, 2), Vec::new(), noise(50_000, 3)];
    let calls = entries(&data, 50_000);
    let wanted = write((1, 2, None), &calls);
    let manners = [
        Manner::GOOD,
        Manner { most: 1000, pause_every: 2, ..Manner::GOOD },
        Manner { takes_nothing: true, ..Manner::GOOD },
    ];
    let ends = [1, 30, wanted.len() - 30, wanted.len() - 1];
    let limits: Vec<usize> = (0..wanted.len()).step_by(wanted.len() / 20).chain(ends).collect();
    fail_everywhere(|sink| Box::new(open(sink.clone(), (1, 2, Some(1)))), (&calls, &wanted), &manners, &limits);
}

/// Counts what arrives, slowly.
struct SlowCounter(Arc<AtomicUsize>);

impl Write for SlowCounter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(1));
        self.0.fetch_add(data.len(), Ordering::SeqCst);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_more_is_under_way_than_the_budget() {
    /// Output buffer, the block that is being filled, and one piece on top.
    const FIXED: usize = 128 * 1024 + 2 * BLOCK_BYTES + 4096;
    let (noise, jobs) = (noise(8 * BLOCK_BYTES, 1), 2);
    for budget in [1, 4 * BLOCK_BYTES, 12 * BLOCK_BYTES] {
        let arrived = Arc::new(AtomicUsize::new(0));
        let sink = SlowCounter(Arc::clone(&arrived));
        let mut writer = open(sink, (9, jobs, Some(budget)));
        // Noise does not shrink: what was given and has not arrived is in memory.
        let (mut given, mut most) = (0, 0);
        for index in 0..4 {
            writer.start_entry(&format!("{index}")).unwrap();
            for chunk in noise.chunks(10_000) {
                writer.write_data(chunk).unwrap();
                given += chunk.len();
                most = most.max(given - arrived.load(Ordering::SeqCst).min(given));
            }
        }
        writer.finish().unwrap();
        let bound = budget.max(jobs * BLOCK_BYTES) + FIXED;
        assert!(most <= bound, "{most} bytes under way of a budget of {budget}");
        assert!(most > BLOCK_BYTES, "{most}: the threads are given work before the first piece is back");
    }
}

#[test]
fn a_writer_dropped_without_finish_does_not_hang() {
    let noise = noise(4 * BLOCK_BYTES, 1);
    let sink = Sink::new(Manner::GOOD);
    for _ in 0..10 {
        let mut writer = open(sink.clone(), (9, 2, None));
        writer.start_entry("a").unwrap();
        writer.write_data(&noise).unwrap();
        drop(writer);
    }
    assert_eq!(sink.holders(), 1);
}
