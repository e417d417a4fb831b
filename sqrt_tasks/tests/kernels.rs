//! The kernels against plain square roots: every short length, special values, and a sum that is known.

use proptest::prelude::*;
use sqrt_tasks::Work;
use sqrt_tasks::kernel::{self, Level};
use strum::VariantArray;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

#[test]
fn roots_and_sums_of_every_short_length_are_the_plain_ones() {
    for len in 0..=1000_u32 {
        let roots: Vec<f64> = (0..len).map(|index| f64::from(index).sqrt()).collect();
        let plain: f64 = roots.iter().sum();
        let len = len as usize;
        assert_eq!(kernel::collect(len), roots);
        assert!(close(kernel::sum_in_order(len), plain), "{len}");
        assert!(close(kernel::expected_sum(len), plain), "{len}: {} and {plain}", kernel::expected_sum(len));
        for level in Level::available() {
            assert!(close(kernel::sum_at(level, len), plain), "{} of {len}", level.name);
        }
    }
}

#[test]
fn a_long_sum_is_that_of_the_formula() {
    for len in [1 << 20, 10_000_000, 10_000_001] {
        for level in Level::available() {
            let (sum, expected) = (kernel::sum_at(level, len), kernel::expected_sum(len));
            assert!((sum - expected).abs() <= 1e-13 * expected * 100.0, "{}: {sum} and {expected}", level.name);
        }
    }
}

#[test]
fn roots_of_special_values_have_the_bits_of_the_standard_library() {
    let special =
        [0.0, 1.0, 2.0, 4.0, f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, f64::EPSILON, f64::INFINITY, f64::NAN];
    let special = special.into_iter().flat_map(|value| [value, -value]);
    for len in 0..=1000 {
        assert_roots(&special.clone().cycle().take(len).collect::<Vec<f64>>());
    }
}

/// At every level the roots of `values` have the bits that the standard library gives them.
fn assert_roots(values: &[f64]) {
    for level in Level::available() {
        let mut roots = values.to_owned();
        kernel::roots_at(level, &mut roots);
        for (value, root) in values.iter().zip(&roots) {
            let plain = value.sqrt();
            let same = root.to_bits() == plain.to_bits() || (root.is_nan() && plain.is_nan());
            assert!(same, "{}: root of {value} is {root}, not {plain}", level.name);
        }
    }
}

proptest! {
    #[test]
    fn roots_have_the_bits_of_the_standard_library(values in prop::collection::vec(any::<f64>(), 0..200)) {
        assert_roots(&values);
    }

    #[test]
    fn every_work_returns_the_checksum_that_is_known(work in proptest::sample::select(Work::VARIANTS), len in 0..70_000_usize) {
        let results: Vec<f64> = (0..3).map(|task| work.run(task, len)).collect();
        prop_assert!(work.check(len, &results).is_ok());
    }
}

#[test]
fn a_wrong_checksum_is_noticed_and_named() {
    for &work in Work::VARIANTS {
        let good: Vec<f64> = (0..3).map(|task| work.run(task, 10_000)).collect();
        for wrong in [f64::NAN, 0.0, good[1] + 0.001, good[1] * (1.0 + 1e-9)] {
            // Zero is what a task of nothing with the number 0 returns.
            let error = work.check(10_000, &[good[0], good[1], wrong]).unwrap_err().to_string();
            assert!(error.starts_with("wrong answer: task 2 returned"), "{work:?}: {error}");
        }
    }
    // A sum that lacks a single root.
    assert!(Work::Vector.check(10_000_000, &[kernel::sum(9_999_999)]).is_err());
    assert!(Work::Collect.check(1000, &[Work::Collect.run(0, 999)]).is_err());
}
