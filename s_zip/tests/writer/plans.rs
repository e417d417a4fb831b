//! Random plans.

use proptest::prelude::*;
use s_zip::Compression;

use crate::common::calls::{Data, Item, Plan, any_kind};

fn compression() -> impl Strategy<Value = Compression> {
    let deflate = (0_u32..=9).prop_map(Compression::Deflate);
    #[cfg(feature = "zstd")]
    return prop_oneof![2 => Just(Compression::None), 4 => deflate, 1 => (1..=6_u32).prop_map(Compression::Zstd)];
    #[cfg(not(feature = "zstd"))]
    return prop_oneof![1 => Just(Compression::None), 3 => deflate];
}

/// Lengths around the block (64 KiB) and the output buffer (64 to 256 KiB), and small ones.
fn len() -> impl Strategy<Value = usize> {
    let around = |middle: usize| middle - 70..middle + 3;
    prop_oneof![
        3 => Just(0_usize),
        12 => 0..3000_usize,
        2 => 65_535..=65_537_usize,
        1 => around(65_536),
        1 => around(131_072),
        1 => 0..=300_000_usize,
    ]
}

fn data() -> impl Strategy<Value = Data> {
    (any_kind(), len(), any::<u64>()).prop_map(|(kind, len, seed)| Data { kind, len, seed })
}

fn item() -> impl Strategy<Value = Item> {
    let name = prop::sample::select(vec!["", ".txt", "/a/b", "ä", "/日本/語", " x", ":", "/..."]);
    let times = vec![i64::MIN, -1, 0, 315_532_799, 315_532_801, 1_709_251_199, 2_147_483_647, 2_147_483_648, i64::MAX];
    let modified = prop::option::of(prop_oneof![prop::sample::select(times), 0..4_000_000_000_i64]);
    let comment = prop::sample::select(vec!["", "", "note", "größer"]).prop_map(str::to_owned);
    let flush = prop_oneof![6 => Just(None), 1 => any::<u8>().prop_map(Some)];
    let text = (name, comment, modified, prop::option::of(0..0o10_000_u32));
    let rest = (
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.3),
        prop::option::of(compression()),
        any::<bool>(),
        any::<bool>(),
        data(),
        flush,
    );
    (text, rest).prop_map(
        |((name, comment, modified, mode), (directory, whole, compression, size, crc, data, flush))| Item {
            name,
            directory,
            compression,
            modified,
            mode,
            comment,
            promises_size: size && !directory,
            promises_crc: crc && !directory,
            data,
            whole,
            flush: flush.filter(|_| !whole),
        },
    )
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let buffer = prop_oneof![Just(64 * 1024), Just(128 * 1024), 1..300_000_usize];
    let comment = prop::sample::select(vec!["", "all of it", "größer"]).prop_map(str::to_owned);
    (compression(), buffer, prop::collection::vec(item(), 0..6), comment)
        .prop_map(|(compression, buffer_bytes, items, comment)| Plan { compression, buffer_bytes, items, comment })
}
