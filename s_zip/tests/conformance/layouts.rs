//! The archives that the validators read: every form that the writers give to entries and to the end.

use s_zip::Compression;

use crate::common::any::By;
use crate::common::calls::Kind::{Noise, Signatures, Text, Zeros};
use crate::common::calls::{Item, Kind, Plan};

/// More than the writers' buffer: the local header is sent before the entry's sizes are known.
const LARGE: usize = 300_000;

/// Every layout, small ones first, and who writes it.
pub fn all() -> Vec<(&'static str, By, Plan)> {
    let layouts = [
        ("empty", Vec::new()),
        ("empty-entry", vec![file("nothing", Text, 0)]),
        ("small-deflate", vec![file("notes.txt", Text, 5000)]),
        ("small-stored", vec![stored("notes.txt", Text, 5000)]),
        ("stored-unknown", vec![stored("noise", Noise, LARGE)]),
        ("stored-announced", vec![stored("noise", Noise, LARGE).announced()]),
        ("deflate-large", vec![file("noise", Noise, LARGE)]),
        ("deflate-large-announced", vec![file("noise", Noise, LARGE).announced()]),
        ("mixed", (0..300).map(mixed).collect()),
        ("folders", folders()),
        ("names-and-comments", names_and_comments()),
        ("times-and-modes", times_and_modes()),
        ("levels", (0..=9).flat_map(levels).collect()),
        ("flushes", flushes()),
        ("whole", whole()),
        ("many-65534", many(65_534)),
        ("many-65535", many(65_535)),
        ("many-65536", many(65_536)),
        ("many-70000", many(70_000)),
        #[cfg(feature = "zstd")]
        ("zstd", zstd()),
    ];
    let plan = |items, comment: &str| Plan { compression: Compression::Deflate(6), items, comment: comment.to_owned() };
    let by_sync = |(name, items)| {
        let comment = if name == "names-and-comments" { "comment of the archive: ä 漢字 🎉" } else { "" };
        (name, By::Sync, plan(items, comment))
    };
    let layouts = layouts.into_iter().map(by_sync);
    #[cfg(feature = "parallel")]
    let layouts = layouts.chain([("parallel", By::Parallel, plan(parallel(), "of all cores"))]);
    layouts.collect()
}

fn file(name: impl Into<String>, kind: Kind, len: usize) -> Item {
    Item::new(name, kind, len)
}

fn folder(name: &str) -> Item {
    Item::new(name, Text, 0)
}

fn stored(name: impl Into<String>, kind: Kind, len: usize) -> Item {
    file(name, kind, len).stored()
}

fn deflated(level: u32, item: Item) -> Item {
    Item { compression: Some(Compression::Deflate(level)), ..item }
}

fn noted(comment: &str, item: Item) -> Item {
    Item { comment: comment.to_owned(), ..item }
}

fn mixed(index: usize) -> Item {
    let name = format!("mixed/{index:03}");
    match index % 6 {
        // The first is empty.
        0 => file(name, Text, index * 37),
        1 => stored(name, Noise, index * 11),
        2 => file(name, Text, 0),
        3 => file(name, Noise, 3000).announced(),
        4 if index % 50 == 4 => file(name, Noise, 210_000),
        4 => deflated(1, file(name, Text, 20_000)),
        _ if index % 50 == 5 => stored(name, Noise, 210_000),
        _ => stored(name, Signatures, 16),
    }
}

fn folders() -> Vec<Item> {
    vec![
        folder("a/"),
        file("a/one.txt", Text, 100),
        folder("a/b/"),
        folder("a/b/empty/"),
        file("a/b/two.txt", Noise, 200_000),
        Item { mode: Some(0o700), ..folder("private/") },
        file("without/its/folder.txt", Text, 10),
    ]
}

fn names_and_comments() -> Vec<Item> {
    vec![
        file("plain name (1) [x]{y} & 'z'.txt", Text, 30),
        file("äöü.txt", Text, 10),
        file("漢字/かな.txt", Text, 10),
        folder("emoji 🎉/"),
        noted("a plain comment", file("emoji 🎉/👩‍👩‍👧.txt", Text, 40)),
        noted("ein Kommentar mit Größe", file("ascii", Text, 5)),
        noted("of a folder", folder("noted/")),
        noted("漢", file("große Daten", Noise, LARGE)),
    ]
}

fn times_and_modes() -> Vec<Item> {
    let at = |seconds, item: Item| Item { modified: Some(seconds), ..item };
    let with = |mode, item: Item| Item { mode: Some(mode), ..item };
    let small = |name: &str| file(name, Text, 50);
    vec![
        at(1, small("1970")),
        at(-315_619_199, small("1960")),
        at(1_709_251_199, with(0o755, small("2024"))),
        at(2_147_483_647, with(0o600, small("2038"))),
        // No signed 32 bits hold a second of 2100, so that time comes from the DOS date.
        at(4_102_444_800, with(0o444, small("2100"))),
        at(1_735_689_600, with(0o750, folder("2025/"))),
        at(1_000_000_001, with(0o640, file("large", Noise, LARGE))),
    ]
}

fn levels(level: u32) -> [Item; 3] {
    [("small", Text, 3000), ("large", Text, LARGE), ("noise", Noise, LARGE)]
        .map(|(name, kind, len)| deflated(level, file(format!("{name}-{level}"), kind, len)))
}

fn flushes() -> Vec<Item> {
    let flushed = |flushes: &[u8], item: Item| Item { flushes: flushes.to_vec(), ..item };
    vec![
        flushed(&[100], file("once", Text, 5000)),
        flushed(&[0], file("first", Text, 5000)),
        flushed(&[255], file("last", Text, 5000)),
        flushed(&(0..=255).collect::<Vec<_>>(), file("often", Noise, LARGE)),
        flushed(&[150], stored("stored", Noise, 5000)),
        flushed(&[0], file("empty", Text, 0)),
        flushed(&[0, 0], stored("twice", Text, 0)),
        flushed(&[0], stored("announced", Text, 5000).announced()),
        file("after", Text, 100),
    ]
}

fn whole() -> Vec<Item> {
    let items = [
        file("empty", Text, 0),
        Item { modified: Some(1_709_251_199), mode: Some(0o755), ..noted("ä", file("small", Text, 5000)) },
        file("large", Noise, LARGE),
        file("announced", Text, LARGE).announced(),
        file("zeros", Zeros, LARGE),
        stored("stored", Noise, LARGE),
        stored("stored, announced", Noise, LARGE).announced(),
        file("streamed", Noise, (4 << 20) + 1),
    ];
    let levels = (0..=9).map(|level| deflated(level, file(format!("level-{level}"), Text, LARGE)));
    items.into_iter().chain(levels).map(|item| Item { whole: true, ..item }).collect()
}

fn many(entries: usize) -> Vec<Item> {
    (0..entries).map(|index| file(format!("{index:05}"), Text, 0)).collect()
}

#[cfg(feature = "zstd")]
fn zstd() -> Vec<Item> {
    let zstd = |item: Item| Item { compression: Some(Compression::Zstd(3)), ..item };
    vec![
        zstd(file("small", Text, 5000)),
        zstd(file("large", Noise, LARGE)),
        Item { flushes: vec![0], ..zstd(file("flushed", Text, 5000)) },
        file("deflate", Text, 5000),
    ]
}

#[cfg(feature = "parallel")]
fn parallel() -> Vec<Item> {
    // Blocks of 256 KiB each know the 32 KiB before them.
    let items = [
        file("four blocks", Text, 1_000_000),
        file("nothing", Text, 0),
        folder("ä/"),
        file("ä/one block", Text, 262_144),
        file("ä/a byte more", Noise, 262_145),
        file("announced", Text, 1_000_000).announced(),
    ];
    items.into_iter().chain((0..100).map(|index| file(format!("small/{index}"), Text, index * 97))).collect()
}
