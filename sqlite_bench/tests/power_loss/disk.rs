//! A disk that forgets what was not synced.
//!
//! It keeps, of every file, its image at the last sync and after each change since. A power cut takes what would be found afterwards: the
//! first of them, or whatever sectors of all of them chance has let through. Nobody notices a cut: work goes on, and one run gives many.
//!
//! Names are kept apart from content, as file systems do: a file that was created or deleted is so for good once its folder is
//! synced. SQLite syncs the folder with the first sync of each handle of a journal or write-ahead log, and by request when it deletes.
//! The shared memory beside a write-ahead log does not come here at all: nothing of it outlives its users.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What a disk writes whole or not at all, in bytes.
pub const SECTOR: usize = 512;
/// How much more often the power fails at anything but a plain write to a journal or log: of these there are dozens in each commit.
const RARE: u64 = 6;

/// What a power cut leaves of changes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// Nothing.
    None,
    /// Of every sector any of the contents it has had since the sync, of the file's size and its name likewise.
    SomeSectors,
}

#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    /// Cuts are 1 to so many plain writes apart; anything else counts for several.
    pub within: u64,
    pub survival: Survival,
}

/// What was about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Create,
    /// A write at the start of the file: of a header.
    WriteHeader,
    Write,
    Truncate,
    /// The changes are on their way, and the sync has not returned.
    Sync,
    Delete,
}

/// Of which kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Database,
    Log,
    Journal,
}

/// What is found after a power cut.
#[derive(Debug)]
pub struct Cut {
    pub moment: (Action, Kind),
    pub files: BTreeMap<String, Vec<u8>>,
    /// What [`Disk::acknowledge`] had been told before.
    pub acknowledged: Vec<u64>,
}

/// A file, whatever its name.
pub type Inode = usize;

/// Files and acknowledgements are behind one lock, so that each of these is before or after each cut.
pub type Shared = Arc<Mutex<Disk>>;

#[derive(Debug, Default)]
pub struct Disk {
    files: Vec<File>,
    names: BTreeMap<String, Inode>,
    names_synced: BTreeMap<String, Inode>,
    acknowledged: Vec<u64>,
    plan: Option<Plan>,
    operations_left: u64,
    random: u64,
    cuts: Vec<Cut>,
}

#[derive(Debug)]
struct File {
    kind: Kind,
    /// As it was at its last sync, and after each change since.
    images: Vec<Image>,
}

/// What a file holds, in sectors, most of which are those of the image before.
#[derive(Debug, Default, Clone)]
struct Image {
    size: usize,
    /// Zero beyond the size.
    sectors: Vec<Arc<[u8; SECTOR]>>,
}

impl Disk {
    /// Cuts the power by `plan` from now on.
    pub fn cut(&mut self, plan: Plan) {
        self.random = plan.seed;
        self.plan = Some(plan);
        self.schedule(plan.within);
    }

    /// Cuts no more; what the cuts left.
    pub fn cuts(&mut self) -> Vec<Cut> {
        self.plan = None;
        std::mem::take(&mut self.cuts)
    }

    /// Somebody was told that `write` is done.
    pub fn acknowledge(&mut self, write: u64) {
        self.acknowledged.push(write);
    }

    /// Opens a file; `found` is what a file has that was there before the disk: it counts as synced.
    pub fn open(&mut self, name: &str, found: Option<Vec<u8>>) -> Inode {
        if let Some(&inode) = self.names.get(name) {
            return inode;
        }
        let kind = Kind::of(name);
        let inode = self.files.len();
        if found.is_some() {
            self.names_synced.insert(name.to_owned(), inode);
        } else {
            self.step(Action::Create, kind);
        }
        let mut image = Image::default();
        image.write(0, &found.unwrap_or_default());
        self.files.push(File { kind, images: vec![image] });
        self.names.insert(name.to_owned(), inode);
        inode
    }

    pub fn write(&mut self, inode: Inode, offset: usize, data: &[u8]) {
        let action = if offset == 0 { Action::WriteHeader } else { Action::Write };
        self.change(inode, action, |image| image.write(offset, data));
    }

    /// Sets the size of a file.
    pub fn truncate(&mut self, inode: Inode, size: usize) {
        self.change(inode, Action::Truncate, |image| image.resize(size));
    }

    fn change(&mut self, inode: Inode, action: Action, change: impl FnOnce(&mut Image)) {
        let kind = self.files[inode].kind;
        self.step(action, kind);
        let images = &mut self.files[inode].images;
        let mut image = images[images.len() - 1].clone();
        change(&mut image);
        images.push(image);
    }

    /// How many changes a sync that begins now is about.
    pub fn unsynced(&self, inode: Inode) -> usize {
        self.files[inode].images.len() - 1
    }

    /// A sync of the first `changes` is about to return, and one of the folder with it if `folder`.
    pub fn synced(&mut self, inode: Inode, changes: usize, folder: bool) {
        let kind = self.files[inode].kind;
        self.step(Action::Sync, kind);
        let images = &mut self.files[inode].images;
        // Two connections may sync the same changes at the same time.
        images.drain(..changes.min(images.len() - 1));
        if folder {
            self.names_synced = self.names.clone();
        }
    }

    /// Deletes a file by name, for good if `folder` is synced.
    pub fn delete(&mut self, name: &str, folder: bool) {
        self.step(Action::Delete, Kind::of(name));
        self.names.remove(name);
        if folder {
            self.names_synced = self.names.clone();
        }
    }

    /// Before every operation: it may be that the power fails now.
    fn step(&mut self, action: Action, kind: Kind) {
        let Some(plan) = self.plan else { return };
        let ordinary = action == Action::Write && kind != Kind::Database;
        self.operations_left = self.operations_left.saturating_sub(if ordinary { 1 } else { RARE });
        if self.operations_left > 0 {
            return;
        }
        self.schedule(plan.within);
        let files = self.survivors(plan.survival);
        let cut = Cut { moment: (action, kind), files, acknowledged: self.acknowledged.clone() };
        self.cuts.push(cut);
    }

    fn schedule(&mut self, within: u64) {
        self.operations_left = 1 + below(&mut self.random, within);
    }

    fn survivors(&mut self, survival: Survival) -> BTreeMap<String, Vec<u8>> {
        let by_chance = survival == Survival::SomeSectors;
        let mut files = BTreeMap::new();
        for name in self.names.keys().chain(self.names_synced.keys()).collect::<BTreeSet<_>>() {
            let names = if by_chance && below(&mut self.random, 2) == 0 { &self.names } else { &self.names_synced };
            if let Some(file) = names.get(name).map(|&inode| &self.files[inode]) {
                let bytes = if by_chance { file.survivor(&mut self.random) } else { file.images[0].bytes() };
                files.insert(name.clone(), bytes);
            }
        }
        files
    }
}

impl File {
    /// The file as chance leaves it.
    ///
    /// The cache of a disk and that of the system hold whole sectors: a sector may be found as it was after any change since the sync, and
    /// later changes of one sector may be there without earlier ones of another.
    fn survivor(&self, random: &mut u64) -> Vec<u8> {
        let all = self.images.len() - 1;
        // From cuts that hardly anything survives to cuts that hardly anything is lost in.
        let whole_percent = below(random, 101);
        let mut pick = || {
            let whole = below(random, 100) < whole_percent;
            &self.images[if whole { all } else { usize::try_from(below(random, all as u64 + 1)).unwrap() }]
        };
        let size = pick().size;
        let most = self.images.iter().map(|image| image.sectors.len()).max().unwrap_or_default();
        let mut pick_sector = |sector| pick().sectors.get(sector).cloned().unwrap_or_else(|| Arc::new([0; SECTOR]));
        Image { size, sectors: (0..most).map(&mut pick_sector).collect() }.bytes()
    }
}

impl Image {
    fn resize(&mut self, size: usize) {
        self.sectors.resize(size.div_ceil(SECTOR), Arc::new([0; SECTOR]));
        if let Some(last) = self.sectors.last_mut().filter(|_| size < self.size) {
            let kept = size - (size - 1) / SECTOR * SECTOR;
            Arc::make_mut(last)[kept..].fill(0);
        }
        self.size = size;
    }

    fn write(&mut self, offset: usize, data: &[u8]) {
        self.resize(self.size.max(offset + data.len()));
        let (mut at, mut rest) = (offset, data);
        while !rest.is_empty() {
            let from = at % SECTOR;
            let (now, later) = rest.split_at(rest.len().min(SECTOR - from));
            Arc::make_mut(&mut self.sectors[at / SECTOR])[from..from + now.len()].copy_from_slice(now);
            (at, rest) = (at + now.len(), later);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.sectors.iter().map(|sector| &sector[..]).collect::<Vec<_>>().concat();
        bytes.truncate(self.size);
        bytes
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            name if name.ends_with("-wal") => Kind::Log,
            name if name.ends_with("-journal") => Kind::Journal,
            _ => Kind::Database,
        }
    }
}

/// A number below `bound`, by SplitMix64.
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) % bound
}
