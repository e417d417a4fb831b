//! Rows that cost more than ours do, for the map: as much arithmetic when a row is read as when it is applied.
//!
//! Two parts of equal length are what a pipeline gains most from. With the arithmetic in one of them the other soon is too short to gain by, and
//! whoever does it sleeps between two rows.

use std::hint::black_box;
use std::path::Path;

use anyhow::Result;
use txn_engine::Setup;
use txn_engine::input::Input;
use txn_engine::process::read_entries;

/// How many rows a file has, by our reader alone.
pub fn count(path: &Path, steps: u32) -> Result<u64> {
    let mut rows = 0;
    let count = |entry| {
        black_box(entry);
        rows += 1;
        true
    };
    read_entries(Input::open(path)?, Setup::SYNC.reading, || toil(steps), count)?;
    Ok(rows)
}

/// So many steps that wait for each other: work, not time, so that a thread that lost its processor has as much of it to do.
#[inline]
pub fn toil(steps: u32) {
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state = (state ^ (state >> 32)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(state);
}
