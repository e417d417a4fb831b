//! What the parallel writer holds at most. Alone in its program, because memory of all threads is counted.
#![cfg(feature = "parallel")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use s_zip::ParallelZipWriter;
use s_zip::parallel::BLOCK_BYTES;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(HELD.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(bytes, layout) };
    }
}

#[test]
fn entries_of_any_size_stay_within_a_few_times_the_budget() {
    /// Compressors and output buffers.
    const FIXED: usize = 3 << 20;
    /// Per entry, for the directory, whose buffers double as they grow.
    const DIRECTORY: usize = 400;
    let (data, budget) = (vec![7; 4 * BLOCK_BYTES], 1 << 20);
    for jobs in [1, 2] {
        for sizes in [&[100][..], &[100, 100, 100, 150_000], &[BLOCK_BYTES, 4 * BLOCK_BYTES, 1], &[5000, 40_000]] {
            let entries = 20_000_000 / (2000 + sizes.iter().sum::<usize>() / sizes.len());
            let before = HELD.load(Relaxed);
            MOST.store(before, Relaxed);
            let writer = ParallelZipWriter::from_writer(io::sink(), 6, NonZero::new(jobs)).unwrap();
            let mut writer = writer.budget_bytes(budget);
            for (index, size) in sizes.iter().cycle().take(entries).enumerate() {
                writer.add_entry(&index.to_string(), &data[..*size]).unwrap();
            }
            writer.finish().unwrap();
            let most = MOST.load(Relaxed) - before;
            assert!(
                most < 4 * budget + FIXED + entries * DIRECTORY,
                "{most} bytes, {jobs} threads, entries of {sizes:?}"
            );
        }
    }
}
