//! What exists only to be compared does the same work as the crate's designs, and keeps it.

#[path = "../../tests/designs/common.rs"]
mod common;

use proptest::prelude::*;
use sqlite_bench_study::cases::ARMS;

use common::history;

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_arm_returns_the_rows_of_its_history(history in history()) {
        common::arms_return_the_rows_of(&history, ARMS.iter());
    }
}
