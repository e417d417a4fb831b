//! What a task does: the works of the crate, and controls that change one factor of the published one.

use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use sqrt_tasks::work::{check, probes};
use sqrt_tasks::{TaskError, cpu, kernel, work};
use study_kit::usage::keep_blocks;

use crate::memory;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A work of the crate.
    Plain(work::Work),
    /// So many dependent additions in place of each root: what neither memory nor divider limits.
    Add(u64),
    /// Writes the roots into a block of 256 KiB, over and over, which stays in the cache.
    ReuseSmall,
    /// Writes them into a block of full size that is there already.
    ReuseLarge,
    /// Collects them into a new vector in memory that glibc has kept from the task before.
    Kept,
    /// Writes them into a fresh block of huge pages.
    HugePages,
    /// Writes them into a fresh block of mimalloc.
    Mimalloc,
}

pub const COLLECT: Work = Work::Plain(work::Work::Collect);
pub const VECTOR: Work = Work::Plain(work::Work::Vector);

/// Elements of the small block: 256 KiB.
const SMALL_LEN: usize = 32 * 1024;

/// The work of a task, with what it needs ready.
#[derive(Clone)]
pub struct Job {
    work: Work,
    len: usize,
    blocks: Arc<Mutex<Vec<Vec<f64>>>>,
}

impl Job {
    /// Makes ready for tasks of `len` roots, so many at once: what is reused is there and has been touched.
    pub fn new(work: Work, len: usize, at_once: usize) -> Self {
        let blocks = |len| (0..at_once).map(|_| kernel::collect(len)).collect::<Vec<_>>();
        let blocks = match work {
            Work::ReuseSmall => blocks(SMALL_LEN.min(len)),
            Work::ReuseLarge => blocks(len),
            Work::Kept => {
                keep_blocks();
                drop(blocks(len));
                Vec::new()
            }
            _ => Vec::new(),
        };
        Job { work, len, blocks: Arc::new(Mutex::new(blocks)) }
    }

    /// Runs the task and returns its checksum, which [`check`](Self::check) knows.
    pub fn run(&self, task: usize) -> f64 {
        match self.work {
            Work::Plain(work) => work.run(task, self.len),
            Work::Kept => work::Work::Collect.run(task, self.len),
            Work::Add(additions) => {
                // Elsewhere there is nothing like it: a wrong checksum says so.
                let done = cpu::dependent_additions(additions * self.len as u64);
                done.map_or(f64::NAN, |()| self.len as f64)
            }
            Work::ReuseSmall | Work::ReuseLarge => self.reuse(),
            // Without memory there is no checksum.
            Work::HugePages => memory::in_huge_pages(black_box(self.len)).unwrap_or(f64::NAN),
            Work::Mimalloc => memory::in_mimalloc(black_box(self.len)).unwrap_or(f64::NAN),
        }
    }

    /// # Errors
    /// If a task did not return what it had to; names the first.
    pub fn check(&self, results: &[f64]) -> Result<(), TaskError> {
        match self.work {
            Work::Plain(work) => work.check(self.len, results),
            Work::Add(_) => check(results, |_| self.len as f64, 0.0),
            _ => work::Work::Collect.check(self.len, results),
        }
    }

    /// Fills a block that is there, round after round until all roots were written once.
    fn reuse(&self) -> f64 {
        let locked = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut block = locked().pop().unwrap_or_else(|| vec![0.0; self.len]);
        let mut checksum = 0.0;
        let mut first = 0;
        while first < self.len {
            let part = block.len().min(self.len - first);
            for (offset, slot) in block[..part].iter_mut().enumerate() {
                *slot = kernel::root_of(first + offset);
            }
            for index in probes(self.len) {
                if let Some(value) = index.checked_sub(first).and_then(|offset| black_box(&block[..part]).get(offset)) {
                    checksum += value;
                }
            }
            first += part;
        }
        locked().push(block);
        checksum
    }
}
