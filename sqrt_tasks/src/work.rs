//! What a task does: the published square roots, and the same with one factor changed.

use std::hint::black_box;
use std::num::NonZero;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use study_kit::error::unknown;

use crate::executor::{Executor, TaskError};
use crate::memory::{self, Block, Source};
use crate::{cpu, kernel};

/// What a task does. All but the first two find the roots of 0, 1, ... up to the length of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Nothing.
    Null,
    /// Sixteen dependent additions in place of each root: what neither memory nor divider limits.
    Add,
    /// Collects them into a new vector (published).
    Collect,
    /// Adds them up one by one.
    Sum,
    /// Adds them up in vectors: what an expert would do.
    Vector,
    /// Writes them into a block of 256 KiB, over and over, which stays in the cache.
    ReuseSmall,
    /// Writes them into a block of full size that is there already.
    ReuseLarge,
    /// Writes them into a fresh block that glibc has kept from the task before.
    Kept,
    /// Writes them into a fresh block of huge pages.
    HugePages,
    /// Writes them into a fresh block of mimalloc.
    Mimalloc,
}

/// Elements of the small block: 256 KiB.
const SMALL_LEN: usize = 32 * 1024;
/// Additions in place of a root, so that they take longer than a root does.
const ADDITIONS: u64 = 16;
/// Rounding of a sum in any order, relative.
const SUM_TOLERANCE: f64 = 1e-11;

impl Work {
    /// Every work.
    pub const ALL: [Work; 10] = [
        Work::Null,
        Work::Add,
        Work::Collect,
        Work::Sum,
        Work::Vector,
        Work::ReuseSmall,
        Work::ReuseLarge,
        Work::Kept,
        Work::HugePages,
        Work::Mimalloc,
    ];

    /// The work's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Work::Null => "null",
            Work::Add => "add",
            Work::Collect => "collect",
            Work::Sum => "sum",
            Work::Vector => "vector",
            Work::ReuseSmall => "reuse_small",
            Work::ReuseLarge => "reuse_large",
            Work::Kept => "kept",
            Work::HugePages => "huge_pages",
            Work::Mimalloc => "mimalloc",
        }
    }
}

impl FromStr for Work {
    type Err = study_kit::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Work::ALL
            .into_iter()
            .find(|work| work.name() == name)
            .ok_or_else(|| unknown("work", name, Work::ALL.map(Work::name)))
    }
}

/// The work of a task, with what it needs ready.
#[derive(Clone)]
pub struct Job {
    work: Work,
    len: usize,
    blocks: Arc<Mutex<Vec<Vec<f64>>>>,
}

impl Job {
    /// Makes ready for tasks of `len` roots on `threads` threads: what is reused is there and has been touched.
    #[must_use]
    pub fn new(work: Work, len: usize, threads: usize) -> Self {
        let block = |len: usize| {
            let mut block = vec![0.0; len];
            kernel::fill(&mut block);
            block
        };
        let blocks = match work {
            Work::ReuseSmall => (0..threads).map(|_| block(SMALL_LEN.min(len))).collect(),
            Work::ReuseLarge => (0..threads).map(|_| block(len)).collect(),
            Work::Kept => {
                // Elsewhere it runs as the default does; its page faults say so.
                let _ = memory::keep_freed_blocks();
                drop((0..threads).map(|_| block(len)).collect::<Vec<_>>());
                Vec::new()
            }
            _ => Vec::new(),
        };
        Job { work, len, blocks: Arc::new(Mutex::new(blocks)) }
    }

    /// Runs the task and returns its checksum, which [`check`](Self::check) knows.
    ///
    /// # Panics
    /// If there is no memory for a block.
    #[must_use]
    pub fn run(&self, task: usize) -> f64 {
        match self.work {
            Work::Null => number(black_box(task)),
            Work::Add => {
                // Elsewhere there is nothing like it: a wrong checksum says so.
                let done = cpu::dependent_additions(ADDITIONS * self.len as u64);
                done.map_or(f64::NAN, |()| number(self.len))
            }
            Work::Sum => kernel::sum_in_order(black_box(self.len)),
            Work::Vector => kernel::sum(black_box(self.len)),
            Work::Collect => {
                let roots = kernel::collect(black_box(self.len));
                checksum(black_box(&roots))
            }
            Work::ReuseSmall | Work::ReuseLarge => self.reuse(),
            Work::Kept => in_fresh(Source::Default, self.len),
            Work::HugePages => in_fresh(Source::HugePages, self.len),
            Work::Mimalloc => in_fresh(Source::Mimalloc, self.len),
        }
    }

    /// Runs so many tasks on `executor` and returns their checksums, in the order of the tasks.
    ///
    /// # Errors
    /// If a task panicked or the threads cannot be started.
    pub fn run_all(&self, executor: Executor, threads: NonZero<usize>, tasks: usize) -> Result<Vec<f64>, TaskError> {
        let job = self.clone();
        executor.run(threads, tasks, move |task| job.run(task))
    }

    /// Whether every task returned what it had to.
    ///
    /// # Errors
    /// Names the first that did not.
    pub fn check(&self, results: &[f64]) -> Result<(), String> {
        let expected = match self.work {
            Work::Null => None,
            Work::Add => Some(number(self.len)),
            Work::Sum | Work::Vector => Some(kernel::expected_sum(self.len)),
            _ => Some(expected_checksum(self.len)),
        };
        let tolerance = if matches!(self.work, Work::Sum | Work::Vector) { SUM_TOLERANCE } else { 0.0 };
        for (task, &result) in results.iter().enumerate() {
            let expected = expected.unwrap_or(number(task));
            // A NaN is equal to nothing.
            let equal = (result - expected).abs() <= tolerance * expected.abs();
            if !equal {
                return Err(format!("task {task} returned {result} instead of {expected}"));
            }
        }
        Ok(())
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

/// Writes the roots into a fresh block in the way of the published loop.
fn in_fresh(source: Source, len: usize) -> f64 {
    match Block::of_roots(source, black_box(len)) {
        Some(block) => checksum(black_box(block.as_slice())),
        None if len == 0 => 0.0,
        None => panic!("no memory for {len} numbers"),
    }
}

/// The elements that make up a checksum; the rest was written as well, since nobody knows what is looked at.
fn probes(len: usize) -> impl Iterator<Item = usize> {
    [0, 1, len / 3, len / 2, len.saturating_sub(1)].into_iter().filter(move |&index| index < len)
}

fn checksum(roots: &[f64]) -> f64 {
    probes(roots.len()).map(|index| roots[index]).sum()
}

fn expected_checksum(len: usize) -> f64 {
    probes(len).map(kernel::root_of).sum()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tasks and elements stay far below 2^53")]
fn number(count: usize) -> f64 {
    count as f64
}
