//! Archives as sequences of calls to a writer.

use s_zip::{Compression, EntryOptions};

use super::forged::numbers::Numbers;

/// A whole archive as calls, with the data described, not held.
#[derive(Debug, Clone)]
pub struct Plan {
    pub compression: Compression,
    pub items: Vec<Item>,
    pub comment: String,
}

#[derive(Debug, Clone, Default)]
pub struct Item {
    /// A folder's ends in a slash.
    pub name: String,
    pub compression: Option<Compression>,
    pub modified: Option<i64>,
    pub mode: Option<u32>,
    pub comment: String,
    pub promises_size: bool,
    pub promises_crc: bool,
    pub data: Data,
    /// Given by `add_entry`, and then not flushed.
    pub whole: bool,
    /// In 256ths of the data, in order: where to flush.
    pub flushes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Data {
    pub kind: Kind,
    pub len: usize,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    #[default]
    Zeros,
    Text,
    Noise,
    /// Those of the format.
    Signatures,
}

/// One call to a writer.
pub enum Call<'a> {
    Start(String, EntryOptions),
    Directory(String, EntryOptions),
    Data(&'a [u8]),
    Add(String, &'a [u8], EntryOptions),
    Flush,
    Comment(&'a str),
}

impl Data {
    pub fn bytes(&self) -> Vec<u8> {
        let mut numbers = Numbers::new(self.seed);
        let mut bytes = Vec::with_capacity(self.len + 32);
        while bytes.len() < self.len {
            match self.kind {
                Kind::Zeros => bytes.resize(self.len, 0),
                Kind::Text => {
                    let words = ["the ", "quick ", "brown ", "fox ", "jumps\n", "over ", "42,", "lazy;"];
                    bytes.extend_from_slice(words[numbers.below(words.len())].as_bytes());
                }
                Kind::Noise => bytes.extend_from_slice(&numbers.next().to_le_bytes()),
                Kind::Signatures => bytes.extend_from_slice(b"PK\x07\x08PK\x03\x04PK\x01\x02PK\x05\x06"),
            }
        }
        bytes.truncate(self.len);
        bytes
    }
}

pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    Data { kind: Kind::Noise, len, seed }.bytes()
}

pub fn text(len: usize, seed: u64) -> Vec<u8> {
    Data { kind: Kind::Text, len, seed }.bytes()
}

impl Item {
    pub fn new(name: impl Into<String>, kind: Kind, len: usize) -> Self {
        Item { name: name.into(), data: Data { kind, len, seed: 1 }, ..Item::default() }
    }

    pub fn stored(self) -> Self {
        Item { compression: Some(Compression::None), ..self }
    }

    /// Its size and CRC are said before.
    pub fn announced(self) -> Self {
        Item { promises_size: true, promises_crc: true, ..self }
    }

    pub fn is_folder(&self) -> bool {
        self.name.ends_with('/')
    }

    pub fn options(&self, data: &[u8]) -> EntryOptions {
        let mut options = EntryOptions::new().comment(self.comment.as_str());
        if let Some(compression) = self.compression {
            options = options.compression(compression);
        }
        if let Some(seconds) = self.modified {
            options = options.modified_unix(seconds);
        }
        if let Some(mode) = self.mode {
            options = options.unix_mode(mode);
        }
        if self.promises_size {
            options = options.size(data.len() as u64);
        }
        if self.promises_crc {
            options = options.crc32(crc32fast::hash(data));
        }
        options
    }
}

impl Plan {
    /// The data of each item.
    pub fn data(&self) -> Vec<Vec<u8>> {
        self.items.iter().map(|item| item.data.bytes()).collect()
    }

    /// The calls, the data cut as `cuts` says, with 0 not at all; where there is a flush is the plan's own.
    pub fn calls<'a>(&'a self, data: &'a [Vec<u8>], cuts: u64) -> Vec<Call<'a>> {
        let mut numbers = (cuts > 0).then(|| Numbers::new(cuts));
        let mut calls = Vec::new();
        for (index, (item, data)) in self.items.iter().zip(data).enumerate() {
            let (name, options) = (item.name.clone(), item.options(data));
            if let Some(folder) = name.strip_suffix('/') {
                // The slash may be left out.
                let name = if index % 2 == 0 { folder.to_owned() } else { name };
                calls.push(Call::Directory(name, options));
                continue;
            }
            if item.whole {
                calls.push(Call::Add(name, data, options));
                continue;
            }
            calls.push(Call::Start(name, options));
            let mut done = 0;
            for flush in &item.flushes {
                let at = data.len() * usize::from(*flush) / 256;
                cut(&data[done..at], &mut numbers, &mut calls);
                calls.push(Call::Flush);
                done = at;
            }
            cut(&data[done..], &mut numbers, &mut calls);
            if index == self.items.len() / 2 {
                calls.push(Call::Comment("replaced later"));
            }
        }
        calls.push(Call::Comment(&self.comment));
        calls
    }
}

fn cut<'a>(mut data: &'a [u8], numbers: &mut Option<Numbers>, calls: &mut Vec<Call<'a>>) {
    while !data.is_empty() {
        let len = numbers.as_mut().map_or(data.len(), |numbers| {
            let most = [0, 2, 5000, 65_536, 65_537, 200_000, 600_000][numbers.below(7)];
            if most == 65_536 { most } else { numbers.below(most + 1) }
        });
        let (piece, rest) = data.split_at(len.min(data.len()));
        calls.push(Call::Data(piece));
        data = rest;
    }
}

/// Makes a call, with what stands for a flush and, behind the others, what waits.
macro_rules! make {
    ($writer:ident, $call:expr, $flush:expr $(, $dot:tt $wait:tt)?) => {
        match $call {
            Call::Start(name, options) => $writer.start_entry_with_options(name, options.clone()) $($dot $wait)?,
            Call::Directory(name, options) => $writer.add_directory_with_options(name, options.clone()) $($dot $wait)?,
            Call::Data(data) => $writer.write_data(data) $($dot $wait)?,
            Call::Add(name, data, options) => {
                $writer.add_entry_with_options(name, data, options.clone()) $($dot $wait)?
            }
            Call::Flush => $flush,
            Call::Comment(comment) => $writer.set_comment(*comment),
        }
    };
}
pub(crate) use make;

/// Zstandard of this level, if the crate is built with it.
#[allow(clippy::unnecessary_wraps, reason = "without the feature there is none")]
pub fn zstandard(level: u32) -> Option<Compression> {
    #[cfg(feature = "zstd")]
    return Some(Compression::Zstd(level));
    #[cfg(not(feature = "zstd"))]
    return Some(level).and(None);
}

/// The calls of a plan that lives as long as the tests.
fn calls_of(items: Vec<Item>, comment: &str) -> Vec<Call<'static>> {
    let plan = Plan { compression: Compression::Deflate(6), items, comment: comment.to_owned() };
    let data = plan.data().leak();
    Box::leak(Box::new(plan)).calls(data, 0)
}

/// An archive of some two KB with a bit of everything, flushed at different places. From the fourth on, entries choose a compression.
pub fn small_mixture() -> Vec<Call<'static>> {
    let flushed = |flush, item: Item| Item { flushes: vec![flush], ..item };
    let mut items = vec![
        Item { mode: Some(0o700), ..Item::new("folder/", Kind::Text, 0) },
        Item { modified: Some(1_700_000_000), ..flushed(170, Item::new("folder/text", Kind::Text, 60)) },
        flushed(0, Item::new("empty", Kind::Text, 0)),
        Item { whole: true, ..Item::new("whole", Kind::Text, 40) },
        Item { comment: "ü".to_owned(), ..Item::new("stored", Kind::Noise, 400).stored() },
        flushed(64, Item::new("announced", Kind::Noise, 400).stored().announced()),
    ];
    items.extend(zstandard(1).map(|compression| {
        let item = flushed(25, Item::new("zstandard", Kind::Noise, 440));
        Item { compression: Some(compression), ..item }
    }));
    calls_of(items, "the whole")
}

/// An archive of some 800 KB in few calls, so that every kind of call meets a full buffer.
pub fn large_mixture() -> Vec<Call<'static>> {
    let deflated = Item::new("deflated", Kind::Noise, 210_000);
    let items = vec![
        // Bytes of it are staged and come out when the entry is closed.
        Item { compression: Some(Compression::Deflate(0)), ..deflated },
        Item::new("folder/", Kind::Text, 0),
        Item::new("stored", Kind::Noise, 150_000).stored(),
        Item { flushes: vec![128], ..Item::new("announced", Kind::Noise, 300_000).stored().announced() },
        Item { whole: true, ..Item::new("whole", Kind::Noise, 150_000) },
        Item::new("last", Kind::Text, 5),
    ];
    calls_of(items, "")
}
