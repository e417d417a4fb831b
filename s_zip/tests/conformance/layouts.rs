//! The archives that the validators read: every form that the writers give to entries and to the end.

use s_zip::{Compression, EntryOptions};

use crate::common::any::By;
use crate::common::calls::{Call, Data, Kind};

/// More than the writers' buffer: the local header is sent before the entry's sizes are known.
const LARGE: usize = 300_000;
const FIRST_DATE: &str = "1980-01-01 00:00:00";

/// An archive by the calls that make it.
pub struct Layout {
    pub name: String,
    pub comment: String,
    pub entries: Vec<Entry>,
    /// The sync writer, which makes what the async one makes, or the parallel one.
    pub by: By,
}

/// An entry: the calls, and what a reader has to find.
#[derive(Clone)]
pub struct Entry {
    /// A folder's ends in a slash.
    pub name: String,
    pub data: Vec<u8>,
    pub options: EntryOptions,
    /// Data is written in pieces of this many bytes.
    pub piece: usize,
    /// Added in one call.
    pub whole: bool,
    /// The writer is flushed after these pieces.
    pub flushes: Vec<usize>,
    pub comment: String,
    /// Unix mode with the bits of the file type.
    pub mode: u32,
    /// What a DOS date can say of the time, as Python prints it.
    pub date: &'static str,
    /// Unix seconds that an extracted file has.
    pub modified: i64,
    pub method: u16,
    /// Sizes and CRC follow the data.
    pub descriptor: bool,
}

impl Entry {
    fn new(name: impl Into<String>, data: Vec<u8>) -> Self {
        let method = if data.is_empty() { 0 } else { 8 };
        Entry {
            name: name.into(),
            data,
            options: EntryOptions::new(),
            piece: usize::MAX,
            whole: false,
            flushes: Vec::new(),
            comment: String::new(),
            mode: 0o100_644,
            date: FIRST_DATE,
            modified: 315_532_800,
            method,
            descriptor: false,
        }
    }

    fn folder(name: &str) -> Self {
        Entry { mode: 0o040_755, ..Self::new(name, Vec::new()) }
    }

    fn compression(self, compression: Compression, method: u16) -> Self {
        Entry { options: self.options.compression(compression), method, ..self }
    }

    fn stored(self) -> Self {
        self.compression(Compression::None, 0)
    }

    fn whole(self) -> Self {
        Entry { whole: true, ..self }
    }

    fn descriptor(self) -> Self {
        Entry { descriptor: true, method: if self.method == 0 { 8 } else { self.method }, ..self }
    }

    fn announced(self) -> Self {
        let (size, crc32) = (self.data.len() as u64, crc32fast::hash(&self.data));
        Entry { options: self.options.size(size).crc32(crc32), ..self }
    }

    fn mode(self, mode: u32) -> Self {
        Entry { options: self.options.unix_mode(mode), mode: self.mode & 0o170_000 | mode, ..self }
    }

    fn time(self, modified: i64, date: &'static str) -> Self {
        Entry { options: self.options.modified_unix(modified), modified, date, ..self }
    }

    fn comment(self, comment: &str) -> Self {
        Entry { options: self.options.comment(comment), comment: comment.to_owned(), ..self }
    }

    pub fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }
}

impl Layout {
    fn new(name: impl Into<String>, entries: Vec<Entry>) -> Self {
        Layout { name: name.into(), comment: String::new(), entries, by: By::Sync }
    }

    pub fn has_method(&self, method: u16) -> bool {
        self.entries.iter().any(|entry| entry.method == method)
    }
}

fn text(len: usize) -> Vec<u8> {
    Data { kind: Kind::Text, len, seed: 1 }.bytes()
}

fn noise(len: usize) -> Vec<u8> {
    Data { kind: Kind::Noise, len, seed: 2 }.bytes()
}

/// Every layout, small ones first.
pub fn all() -> Vec<Layout> {
    let mut layouts = single_entries();
    layouts.extend([
        mixed(),
        folders(),
        names_and_comments(),
        times_and_modes(),
        levels(),
        flushes(),
        pieces(),
        whole(),
    ]);
    layouts.extend([65_534, 65_535, 65_536, 70_000].map(many));
    #[cfg(feature = "zstd")]
    layouts.push(zstd());
    #[cfg(feature = "parallel")]
    layouts.push(parallel());
    layouts
}

fn single_entries() -> Vec<Layout> {
    let one = |name: &str, entry: Entry| Layout::new(name, vec![entry]);
    let mut layouts = vec![
        Layout::new("empty", Vec::new()),
        one("empty-entry", Entry::new("nothing", Vec::new())),
        one("small-deflate", Entry::new("notes.txt", text(5000))),
        one("small-stored", Entry::new("notes.txt", text(5000)).stored()),
        one("stored-unknown", Entry::new("noise", noise(LARGE)).stored().descriptor()),
        one("stored-announced", Entry::new("noise", noise(LARGE)).stored().announced()),
        one("deflate-large", Entry::new("noise", noise(LARGE)).descriptor()),
        one("deflate-large-announced", Entry::new("noise", noise(LARGE)).announced().descriptor()),
    ];
    // Just under, at and over what is the last block that the buffer takes.
    for (bytes, fits) in [(131_071, true), (131_072, false), (131_073, false)] {
        let entry = Entry::new("edge", noise(bytes)).stored();
        let entry = if fits { entry } else { entry.descriptor() };
        layouts.push(Layout::new(format!("edge-{bytes}"), vec![entry, Entry::new("after", text(100))]));
    }
    layouts
}

fn mixed() -> Layout {
    let entry = |index: usize| {
        let name = format!("mixed/{index:03}");
        match index % 6 {
            0 => Entry::new(name, text(index * 37)),
            1 => Entry::new(name, noise(index * 11)).stored(),
            2 => Entry::new(name, Vec::new()),
            3 => Entry::new(name, noise(3000)).announced(),
            4 if index % 50 == 4 => Entry::new(name, noise(210_000)).descriptor(),
            4 => Entry::new(name, text(20_000)).compression(Compression::Deflate(1), 8),
            _ if index % 50 == 5 => Entry::new(name, noise(210_000)).stored().descriptor(),
            _ => Entry::new(name, b"PK\x07\x08PK\x03\x04PK\x01\x02PK\x05\x06".to_vec()).stored(),
        }
    };
    // The first is empty: 0 * 37 bytes.
    Layout::new("mixed-300", (0..300).map(entry).collect())
}

fn folders() -> Layout {
    Layout::new(
        "folders",
        vec![
            Entry::folder("a/"),
            Entry::new("a/one.txt", text(100)),
            Entry::folder("a/b/"),
            Entry::folder("a/b/empty/"),
            Entry::new("a/b/two.txt", noise(200_000)).descriptor(),
            Entry::folder("private/").mode(0o700),
            Entry::new("without/its/folder.txt", text(10)),
        ],
    )
}

fn names_and_comments() -> Layout {
    let file = |name: &str| Entry::new(name, name.as_bytes().to_vec());
    let mut layout = Layout::new(
        "names-and-comments",
        vec![
            file("plain name (1) [x]{y} & 'z'.txt"),
            file("äöü.txt"),
            file("漢字/かな.txt"),
            Entry::folder("emoji 🎉/"),
            file("emoji 🎉/👩‍👩‍👧.txt").comment("a plain comment"),
            file("ascii").comment("ein Kommentar mit Größe"),
            Entry::folder("noted/").comment("of a folder"),
            Entry::new("große Daten", noise(LARGE)).descriptor().comment("漢"),
        ],
    );
    "comment of the archive: ä 漢字 🎉".clone_into(&mut layout.comment);
    layout
}

fn times_and_modes() -> Layout {
    let file = |name: &str| Entry::new(name, text(50));
    // No signed 32 bits hold a second of 2100, so that time comes from the DOS date.
    Layout::new(
        "times-and-modes",
        vec![
            file("1970").time(1, FIRST_DATE),
            // unzip does not trust a time before 1970 and takes the DOS date.
            Entry { modified: 315_532_800, ..file("1960").time(-315_619_199, FIRST_DATE) },
            file("2024").time(1_709_251_199, "2024-02-29 23:59:58").mode(0o755),
            file("2038").time(2_147_483_647, "2038-01-19 03:14:06").mode(0o600),
            file("2100").time(4_102_444_800, "2100-01-01 00:00:00").mode(0o444),
            Entry::folder("2025/").time(1_735_689_600, "2025-01-01 00:00:00").mode(0o750),
            Entry::new("large", noise(LARGE)).time(1_000_000_001, "2001-09-09 01:46:40").mode(0o640).descriptor(),
        ],
    )
}

fn levels() -> Layout {
    let entries = (0..=9).flat_map(|level| {
        let entry = |name: &str, data| Entry::new(format!("{name}-{level}"), data);
        let deflate = |entry: Entry| entry.compression(Compression::Deflate(level), 8);
        let large = deflate(entry("large", text(LARGE)));
        [
            deflate(entry("small", text(3000))),
            if level == 0 { large.descriptor() } else { large },
            deflate(entry("noise", noise(LARGE))).descriptor(),
        ]
    });
    Layout::new("levels", entries.collect())
}

fn flushes() -> Layout {
    let flushed =
        |entry: Entry, flushes: &[usize]| Entry { flushes: flushes.to_vec(), piece: 1000, ..entry.descriptor() };
    Layout::new(
        "flushes",
        vec![
            flushed(Entry::new("once", text(5000)), &[2]),
            flushed(Entry::new("first", text(5000)), &[0]),
            flushed(Entry::new("last", text(5000)), &[5]),
            flushed(Entry::new("often", noise(LARGE)), &(0..300).collect::<Vec<_>>()),
            flushed(Entry::new("stored", noise(5000)).stored(), &[3]),
            flushed(Entry::new("empty", Vec::new()), &[0]),
            flushed(Entry::new("twice", Vec::new()).stored(), &[0, 0]),
            Entry { flushes: vec![0], ..Entry::new("announced", text(5000)).stored().announced() },
            Entry { flushes: vec![0], ..Entry::folder("folder/") },
            Entry::new("after", text(100)),
        ],
    )
}

fn pieces() -> Layout {
    let entry = |name: &str, data, piece| Entry { piece, ..Entry::new(name, data) };
    Layout::new(
        "pieces",
        vec![
            entry("bytes", text(100_000), 1),
            entry("large bytes", noise(LARGE), 1).descriptor(),
            entry("odd", text(LARGE), 65_537),
            entry("blocks", text(4 * 65_536), 65_536),
        ],
    )
}

fn whole() -> Layout {
    let entry = |name: &str, data| Entry::new(name, data).whole();
    let mut entries = vec![
        entry("empty", Vec::new()),
        entry("small", text(5000)).comment("ä").time(1_709_251_199, "2024-02-29 23:59:58").mode(0o755),
        entry("large", noise(LARGE)),
        entry("announced", text(LARGE)).announced(),
        entry("zeros", vec![0; LARGE]),
        entry("stored", noise(LARGE)).stored(),
        entry("stored, announced", noise(LARGE)).stored().announced(),
        entry("streamed", noise((4 << 20) + 1)).descriptor(),
    ];
    entries.extend(
        (0..=9).map(|level| entry(&format!("level-{level}"), text(LARGE)).compression(Compression::Deflate(level), 8)),
    );
    Layout::new("whole", entries)
}

fn many(entries: usize) -> Layout {
    Layout::new(
        format!("many-{entries}"),
        (0..entries).map(|index| Entry::new(format!("{index:05}"), Vec::new())).collect(),
    )
}

#[cfg(feature = "zstd")]
fn zstd() -> Layout {
    let entry = |name: &str, data| Entry::new(name, data).compression(Compression::Zstd(3), 93);
    Layout::new(
        "zstd",
        vec![
            entry("small", text(5000)),
            entry("large", noise(LARGE)).descriptor(),
            Entry { flushes: vec![0], ..entry("flushed", text(5000)).descriptor() },
            Entry::new("deflate", text(5000)),
        ],
    )
}

#[cfg(feature = "parallel")]
fn parallel() -> Layout {
    // Blocks of 256 KiB each know the 32 KiB before them.
    let mut entries = vec![
        Entry::new("four blocks", text(1_000_000)).descriptor(),
        Entry::new("nothing", Vec::new()),
        Entry::folder("ä/"),
        Entry::new("ä/one block", text(262_144)),
        Entry::new("ä/a byte more", noise(262_145)).descriptor(),
        Entry { piece: 100, ..Entry::new("pieces", text(1_000_000)) }.announced().descriptor(),
    ];
    entries.extend((0..100).map(|index| Entry::new(format!("small/{index}"), text(index * 97))));
    Layout { by: By::Parallel, comment: "of all cores".to_owned(), ..Layout::new("parallel", entries) }
}

impl Layout {
    /// The calls that make it.
    pub fn calls(&self) -> Vec<Call<'_>> {
        let mut calls = Vec::new();
        for entry in &self.entries {
            let (name, options) = (entry.name.clone(), entry.options.clone());
            if entry.whole {
                calls.push(Call::Add(name, &entry.data, options));
                continue;
            }
            calls.push(if entry.is_folder() { Call::Directory(name, options) } else { Call::Start(name, options) });
            let mut pieces = entry.data.chunks(entry.piece);
            for index in 0.. {
                calls.extend(entry.flushes.iter().filter(|flush| **flush == index).map(|_| Call::Flush));
                let Some(piece) = pieces.next() else { break };
                calls.push(Call::Data(piece));
            }
        }
        calls.push(Call::Comment(&self.comment));
        calls
    }
}
