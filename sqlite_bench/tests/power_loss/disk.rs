//! A disk that forgets what was not synced.
//!
//! It keeps, of every file, the image at its last sync and the changes since. A power cut takes what would be found afterwards: the image,
//! and of the changes nothing or whatever sectors chance has let through. Nobody notices a cut: work goes on, and one run gives many.
//!
//! Names are kept apart from content, as file systems do: a file that was created or deleted is so for good once its folder is
//! synced. SQLite syncs the folder with the first sync of each handle of a journal or write-ahead log, and by request when it deletes.
//! The shared memory beside a write-ahead log does not come here at all: nothing of it outlives its users.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

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

#[derive(Debug, Default)]
pub struct Disk {
    /// One lock for files and acknowledgements, so that each of these is before or after each cut.
    state: Mutex<State>,
}

/// A file, whatever its name.
pub type Inode = usize;

#[derive(Debug, Default)]
struct State {
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
    synced: Vec<u8>,
    changes: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write { offset: usize, data: Vec<u8> },
    Truncate { size: usize },
}

impl Disk {
    /// Cuts the power by `plan` from now on.
    pub fn cut(&self, plan: Plan) {
        let mut state = self.lock();
        state.random = plan.seed;
        state.plan = Some(plan);
        state.schedule(plan.within);
    }

    /// Cuts no more; what the cuts left.
    pub fn cuts(&self) -> Vec<Cut> {
        let mut state = self.lock();
        state.plan = None;
        std::mem::take(&mut state.cuts)
    }

    /// Somebody was told that `write` is done.
    pub fn acknowledge(&self, write: u64) {
        self.lock().acknowledged.push(write);
    }

    /// Opens a file; `found` is what a file has that was there before the disk: it counts as synced.
    pub fn open(&self, name: &str, found: Option<Vec<u8>>) -> Inode {
        let mut state = self.lock();
        if let Some(&inode) = state.names.get(name) {
            return inode;
        }
        let kind = Kind::of(name);
        let inode = state.files.len();
        if found.is_some() {
            state.names_synced.insert(name.to_owned(), inode);
        } else {
            state.step(Action::Create, kind);
        }
        state.files.push(File { kind, synced: found.unwrap_or_default(), changes: Vec::new() });
        state.names.insert(name.to_owned(), inode);
        inode
    }

    pub fn write(&self, inode: Inode, offset: usize, data: &[u8]) {
        let action = if offset == 0 { Action::WriteHeader } else { Action::Write };
        self.change(inode, action, Change::Write { offset, data: data.to_vec() });
    }

    /// Sets the size of a file.
    pub fn truncate(&self, inode: Inode, size: usize) {
        self.change(inode, Action::Truncate, Change::Truncate { size });
    }

    fn change(&self, inode: Inode, action: Action, change: Change) {
        let mut state = self.lock();
        let kind = state.files[inode].kind;
        state.step(action, kind);
        state.files[inode].changes.push(change);
    }

    /// How many changes a sync that begins now is about.
    pub fn unsynced(&self, inode: Inode) -> usize {
        self.lock().files[inode].changes.len()
    }

    /// A sync of the first `changes` is about to return, and one of the folder with it if `folder`.
    pub fn synced(&self, inode: Inode, changes: usize, folder: bool) {
        let mut state = self.lock();
        let kind = state.files[inode].kind;
        state.step(Action::Sync, kind);
        let file = &mut state.files[inode];
        // Two connections may sync the same changes at the same time.
        let changes = changes.min(file.changes.len());
        for change in file.changes.drain(..changes) {
            change.apply(&mut file.synced);
        }
        if folder {
            state.names_synced = state.names.clone();
        }
    }

    /// Deletes a file by name, for good if `folder` is synced.
    pub fn delete(&self, name: &str, folder: bool) {
        let mut state = self.lock();
        state.step(Action::Delete, Kind::of(name));
        state.names.remove(name);
        if folder {
            state.names_synced = state.names.clone();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    /// Before every operation: it may be that the power fails now.
    fn step(&mut self, action: Action, kind: Kind) {
        let Some(plan) = self.plan else { return };
        let ordinary = action == Action::Write && kind != Kind::Database;
        self.operations_left = self.operations_left.saturating_sub(if ordinary { 1 } else { RARE });
        if self.operations_left > 0 {
            return;
        }
        self.schedule(plan.within);
        let files = match plan.survival {
            Survival::None => self
                .names_synced
                .iter()
                .map(|(name, &inode)| (name.clone(), self.files[inode].synced.clone()))
                .collect(),
            Survival::SomeSectors => self.survivors(),
        };
        let cut = Cut { moment: (action, kind), files, acknowledged: self.acknowledged.clone() };
        self.cuts.push(cut);
    }

    fn schedule(&mut self, within: u64) {
        self.operations_left = 1 + below(&mut self.random, within);
    }

    fn survivors(&mut self) -> BTreeMap<String, Vec<u8>> {
        let names: BTreeSet<String> = self.names.keys().chain(self.names_synced.keys()).cloned().collect();
        let mut random = self.random;
        let mut files = BTreeMap::new();
        for name in names {
            let source = if below(&mut random, 2) == 0 { &self.names } else { &self.names_synced };
            if let Some(&inode) = source.get(&name) {
                files.insert(name, self.files[inode].survivor(&mut random));
            }
        }
        self.random = random;
        files
    }
}

impl File {
    /// The file with a chance selection of its changes.
    ///
    /// The cache of a disk and that of the system hold whole sectors: a sector may be found as it was after any change since the sync, and
    /// later changes of one sector may be there without earlier ones of another.
    fn survivor(&self, random: &mut u64) -> Vec<u8> {
        let mut sizes = vec![self.synced.len()];
        for change in &self.changes {
            sizes.push(change.size_after(sizes[sizes.len() - 1]));
        }
        let largest = sizes.iter().max().copied().unwrap_or_default();
        let all = self.changes.len();
        // From cuts that hardly anything survives to cuts that hardly anything is lost in.
        let whole_percent = below(random, 101);
        let mut pick = || {
            let whole = below(random, 100) < whole_percent;
            if whole { all } else { usize::try_from(below(random, all as u64 + 1)).unwrap() }
        };
        let size = sizes[pick()];
        let last: Vec<usize> = (0..largest.div_ceil(SECTOR)).map(|_| pick()).collect();
        let mut image = self.synced.clone();
        image.resize(largest, 0);
        for (index, change) in self.changes.iter().enumerate() {
            let (from, to) = change.range(largest);
            let mut at = from;
            while at < to {
                let sector = at / SECTOR;
                let end = to.min((sector + 1) * SECTOR);
                if index < last[sector] {
                    match change {
                        Change::Write { data, .. } => image[at..end].copy_from_slice(&data[at - from..end - from]),
                        Change::Truncate { .. } => image[at..end].fill(0),
                    }
                }
                at = end;
            }
        }
        image.truncate(size);
        image
    }
}

impl Change {
    fn apply(self, image: &mut Vec<u8>) {
        let size = self.size_after(image.len());
        image.resize(size, 0);
        if let Change::Write { offset, data } = self {
            image[offset..offset + data.len()].copy_from_slice(&data);
        }
    }

    fn size_after(&self, size: usize) -> usize {
        match self {
            Change::Write { offset, data } => size.max(offset + data.len()),
            Change::Truncate { size } => *size,
        }
    }

    /// What it touches of a file that is never larger than `largest`.
    fn range(&self, largest: usize) -> (usize, usize) {
        match self {
            Change::Write { offset, data } => (*offset, offset + data.len()),
            Change::Truncate { size } => (*size, largest),
        }
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
