//! Every work returns the checksum that is known, and a wrong one is noticed.

use proptest::prelude::*;
use sqrt_tasks_study::job::{COLLECT, Job, VECTOR, Work};

const WORKS: &[Work] =
    &[COLLECT, VECTOR, Work::Add(2), Work::ReuseSmall, Work::ReuseLarge, Work::Kept, Work::HugePages, Work::Mimalloc];

proptest! {
    #[test]
    fn every_work_returns_the_checksum_that_is_known(work in proptest::sample::select(WORKS), len in 0..70_000_usize) {
        let job = Job::new(work, len, 2);
        let results: Vec<f64> = (0..3).map(|task| job.run(task)).collect();
        prop_assert!(job.check(&results).is_ok(), "{work:?}: {results:?}");
    }
}

#[test]
fn a_wrong_checksum_is_noticed_and_named() {
    for &work in WORKS {
        let job = Job::new(work, 10_000, 1);
        let good: Vec<f64> = (0..3).map(|task| job.run(task)).collect();
        for wrong in [f64::NAN, 0.0, good[1] + 0.001, good[1] * (1.0 + 1e-9)] {
            // Zero is what a task of nothing with the number 0 returns.
            let error = job.check(&[good[0], good[1], wrong]).unwrap_err().to_string();
            assert!(error.starts_with("wrong answer: task 2 returned"), "{work:?}: {error}");
        }
    }
}
