//! Random plans.

use proptest::prelude::*;
use s_zip::Compression;

use super::calls::{Data, Item, Kind, Plan, zstandard};

/// With entries that each may have a compression of their own, and flushes.
pub fn plan() -> impl Strategy<Value = Plan> {
    // Lengths around the block (64 KiB) and the output buffer (128 KiB), and small ones.
    let around = |middle: usize| middle - 70..middle + 3;
    let len = prop_oneof![
        3 => Just(0_usize),
        12 => 0..3000_usize,
        2 => 65_535..=65_537_usize,
        1 => around(65_536),
        1 => around(131_072),
        1 => 0..=300_000_usize,
    ];
    let deflate = (0_u32..=9).prop_map(Compression::Deflate);
    let zstd = (1..=6_u32).prop_map(|level| zstandard(level).unwrap_or(Compression::None));
    let compression = prop_oneof![2 => Just(Compression::None), 4 => deflate, 1 => zstd].boxed();
    let flushes = prop_oneof![6 => Just(Vec::new()), 1 => prop::collection::vec(any::<u8>(), 1..3)];
    let item =
        (item(len), prop::option::of(compression.clone()), flushes).prop_map(|(item, compression, mut flushes)| {
            flushes.sort_unstable();
            flushes.truncate(if item.whole { 0 } else { flushes.len() });
            Item { compression, flushes, ..item }
        });
    plan_of(compression, item)
}

/// For writers that have one compression and no flush, and the level of Deflate.
pub fn uniform_plan(len: impl Strategy<Value = usize>) -> impl Strategy<Value = (Plan, u32)> {
    let level = prop_oneof![0_u32..=9, Just(6)];
    (plan_of(Just(Compression::Deflate(6)), item(len)), level)
        .prop_map(|(plan, level)| (Plan { compression: Compression::Deflate(level), ..plan }, level))
}

fn plan_of(
    compression: impl Strategy<Value = Compression>,
    item: impl Strategy<Value = Item>,
) -> impl Strategy<Value = Plan> {
    let comment = prop::sample::select(vec!["", "all of it", "größer"]).prop_map(str::to_owned);
    (compression, prop::collection::vec(item, 0..6), comment).prop_map(|(compression, mut items, comment)| {
        for (index, item) in items.iter_mut().enumerate() {
            item.name.insert_str(0, &index.to_string());
        }
        Plan { compression, items, comment }
    })
}

fn item(len: impl Strategy<Value = usize>) -> impl Strategy<Value = Item> {
    // Not signatures: an end record in stored data may by chance reach the end of the archive, and that is refused.
    let kind = prop::sample::select(vec![Kind::Zeros, Kind::Text, Kind::Noise]);
    let data = (kind, len, any::<u64>()).prop_map(|(kind, len, seed)| Data { kind, len, seed });
    let name = prop::sample::select(vec!["", ".txt", "/a/b", "ä", "/日本/語", " x", ":", "/..."]);
    let times = vec![i64::MIN, -1, 0, 315_532_799, 315_532_801, 1_709_251_199, 2_147_483_647, 2_147_483_648, i64::MAX];
    let modified = prop::option::of(prop_oneof![prop::sample::select(times), 0..4_000_000_000_i64]);
    let comment = prop::sample::select(vec!["", "", "note", "größer"]);
    let (mode, folder, whole) =
        (prop::option::of(0..0o10_000_u32), prop::bool::weighted(0.1), prop::bool::weighted(0.3));
    (name, data, modified, mode, comment, folder, whole, any::<[bool; 2]>()).prop_map(
        |(name, data, modified, mode, comment, folder, whole, [promises_size, promises_crc])| {
            let item = Item { modified, mode, comment: comment.to_owned(), ..Item::new(name, data.kind, 0) };
            if folder {
                return Item { name: item.name + "/", ..item };
            }
            Item { promises_size, promises_crc, data, whole, ..item }
        },
    )
}
