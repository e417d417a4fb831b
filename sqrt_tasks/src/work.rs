//! What a task does: the published square roots, the same without the memory, nothing.

use std::hint::black_box;

use strum::{EnumString, VariantArray, VariantNames};

use crate::executor::TaskError;
use crate::kernel;

/// What a task does. All but the first find the roots of 0, 1, ... up to a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantArray, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Work {
    Null,
    /// Collects them into a new vector (published).
    Collect,
    /// Adds them up one by one.
    Sum,
    /// Adds them up in vectors: what an expert would do.
    Vector,
}

/// Roots that each published task finds.
pub const PUBLISHED_LEN: usize = 10_000_000;
/// Rounding of a sum in any order, relative.
const SUM_TOLERANCE: f64 = 1e-11;

impl Work {
    /// Does it for `len` roots and returns its checksum, which [`check`](Self::check) knows.
    pub fn run(self, task: usize, len: usize) -> f64 {
        match self {
            Work::Null => black_box(task) as f64,
            Work::Collect => checksum(black_box(&kernel::collect(black_box(len)))),
            Work::Sum => kernel::sum_in_order(black_box(len)),
            Work::Vector => kernel::sum(black_box(len)),
        }
    }

    /// Whether every task of `len` roots returned what it had to.
    ///
    /// # Errors
    /// Names the first that did not.
    pub fn check(self, len: usize, results: &[f64]) -> Result<(), TaskError> {
        match self {
            Work::Null => check(results, |task| task as f64, 0.0),
            Work::Collect => check(results, |_| probes(len).map(kernel::root_of).sum(), 0.0),
            Work::Sum | Work::Vector => check(results, |_| kernel::expected_sum(len), SUM_TOLERANCE),
        }
    }
}

/// Whether every task returned what it had to, but for a relative error of `tolerance`.
///
/// # Errors
/// Names the first that did not.
pub fn check(results: &[f64], expected: impl Fn(usize) -> f64, tolerance: f64) -> Result<(), TaskError> {
    for (task, &result) in results.iter().enumerate() {
        let expected = expected(task);
        // A NaN is equal to nothing.
        let equal = (result - expected).abs() <= tolerance * expected.abs();
        if !equal {
            return Err(TaskError::WrongAnswer { task, result, expected });
        }
    }
    Ok(())
}

/// The elements that make up a checksum; the rest was written as well, since nobody knows what is looked at.
pub fn probes(len: usize) -> impl Iterator<Item = usize> {
    [0, 1, len / 3, len / 2, len.saturating_sub(1)].into_iter().filter(move |&index| index < len)
}

pub fn checksum(roots: &[f64]) -> f64 {
    probes(roots.len()).map(|index| roots[index]).sum()
}
