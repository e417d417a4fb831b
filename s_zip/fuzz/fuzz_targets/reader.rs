//! Any bytes as an archive: opened, listed and read in full within small limits.
//!
//! The first four bytes choose what follows: zeros mean the bytes as they are, everything else is the seed of a mutation of the tests' own
//! corpus, so that the fuzzer has valid archives without a folder of seeds.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use s_zip::Limits;

use forged::corpus::corpus;
use forged::mutation::{exercise, mutate};

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../../tests/common/forged/mod.rs"]
mod forged;

static CORPUS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    let limits =
        Limits { entries: 10_000, bytes: 1 << 22, directory_bytes: 1 << 20, window_log: 20, ..Limits::default() };
    let Some((seed, bytes)) = data.split_first_chunk::<4>() else { return };
    match u32::from_le_bytes(*seed) {
        0 => exercise(bytes, limits),
        seed => exercise(&mutate(seed.into(), CORPUS.get_or_init(corpus)), limits),
    };
});
