//! The arms by name, and what they are made of.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::checked_out::Reads;
use super::locked::{HoldPlace, Lock};
use super::store::Store;
use crate::schema::{Growth, JoinIndex};

/// What a design is opened with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// How many databases.
    pub databases: usize,
    /// Connections for reading of each database, in designs that have several.
    pub readers: usize,
    /// Seed of their content.
    pub seed: u64,
    /// Folder of those that are files; each run has one of its own.
    pub folder: PathBuf,
}

/// How a design is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SQLite called from the task, under a std mutex.
    Direct,
    /// SQLite called from the task, under tokio's mutex.
    DirectAsyncLock,
    /// One connection, its lock taken on the blocking pool.
    Locked {
        /// Which lock.
        lock: Lock,
        /// Where a write holds its database.
        hold: HoldPlace,
        /// Whether the join has an index.
        index: JoinIndex,
        /// Whether the tables grow.
        growth: Growth,
    },
    /// One connection on a thread of its own: tokio-rusqlite.
    Dedicated,
    /// A writing connection and several reading ones, checked out by tasks.
    CheckedOut {
        /// What the connections share.
        store: Store,
        /// Where reads run.
        reads: Reads,
    },
    /// The same through deadpool-sqlite.
    Deadpool,
    /// This crate's pool.
    Wal,
}

/// What an arm is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// As published.
    Mirror,
    /// One thing changed.
    Control,
    /// What an expert would ship.
    Best,
    /// What looks like the solution and is not.
    NegativeControl,
}

macro_rules! arms {
    ($($variant:ident $name:literal $role:ident $text:literal => $kind:expr,)*) => {
        /// A design by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Arm { $(#[doc = $text] $variant,)* }

        impl Arm {
            /// Every arm.
            pub const ALL: &[Arm] = &[$(Arm::$variant,)*];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Arm::$variant => $name,)* }
            }

            /// What it does, in a sentence.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Arm::$variant => $text,)* }
            }

            /// What it is there for.
            #[must_use]
            pub fn role(self) -> Role {
                match self { $(Arm::$variant => Role::$role,)* }
            }

            /// How it is built.
            #[must_use]
            pub fn kind(self) -> Kind {
                match self { $(Arm::$variant => $kind,)* }
            }
        }
    };
}

/// As published, but for the lock.
const fn under(lock: Lock) -> Kind {
    Kind::Locked { lock, hold: HoldPlace::UnderLock, index: JoinIndex::Absent, growth: Growth::Growing }
}

arms! {
    Direct "direct" Mirror "SQLite called from the task, under a std mutex" => Kind::Direct,
    SpawnBlocking "spawn_blocking" Mirror "SQLite called on the blocking pool, under a std mutex" => under(Lock::Std),
    TokioRusqlite "tokio_rusqlite" Mirror "A thread per database, asked through a channel" => Kind::Dedicated,
    DirectAsyncLock "direct_async_lock" Control "direct under tokio's mutex: waiting no longer blocks a worker, SQLite still does"
        => Kind::DirectAsyncLock,
    LockFair "sb_fair" Control "spawn_blocking under parking_lot's fair mutex" => under(Lock::ParkingLotFair),
    LockParkingLot "sb_parking_lot" Control "spawn_blocking under parking_lot's mutex" => under(Lock::ParkingLot),
    LockTokio "sb_tokio_mutex" Control "spawn_blocking under tokio's mutex, taken before the thread" => under(Lock::Tokio),
    HoldOutside "sb_hold_outside" Control "spawn_blocking; the hold comes before the lock is taken" => Kind::Locked {
        lock: Lock::Std, hold: HoldPlace::Outside, index: JoinIndex::Absent, growth: Growth::Growing,
    },
    HoldInTransaction "sb_hold_in_txn" Control "spawn_blocking; the hold is inside BEGIN IMMEDIATE and one commit" => Kind::Locked {
        lock: Lock::Std, hold: HoldPlace::InTransaction, index: JoinIndex::Absent, growth: Growth::Growing,
    },
    Indexed "sb_indexed" Control "spawn_blocking; the joined column has an index" => Kind::Locked {
        lock: Lock::Std, hold: HoldPlace::UnderLock, index: JoinIndex::Present, growth: Growth::Growing,
    },
    Constant "sb_constant" Control "spawn_blocking; the oldest block goes when one is written" => Kind::Locked {
        lock: Lock::Std, hold: HoldPlace::UnderLock, index: JoinIndex::Absent, growth: Growth::Constant,
    },
    WalThreads "wal_threads" Best "This crate's pool: WAL, a writer thread, reader threads" => Kind::Wal,
    WalBlocking "wal_blocking" Best "WAL; reading connections checked out by a semaphore, used on the blocking pool"
        => Kind::CheckedOut { store: Store::Wal, reads: Reads::Blocking },
    WalInline "wal_inline" Best "WAL; reading connections checked out by a semaphore, used in the task"
        => Kind::CheckedOut { store: Store::Wal, reads: Reads::Inline },
    Deadpool "deadpool" Best "WAL through deadpool-sqlite: a pool for reading, one connection for writing" => Kind::Deadpool,
    Memdb "memdb" NegativeControl "Several connections to one memdb database: its locks are those of a file without WAL"
        => Kind::CheckedOut { store: Store::Memdb, reads: Reads::Blocking },
    SharedCache "shared_cache" NegativeControl "Several connections to one shared cache: tables are locked, and nobody waits"
        => Kind::CheckedOut { store: Store::SharedCache, reads: Reads::Blocking },
    Rollback "rollback" NegativeControl "Several connections to a file with a rollback journal"
        => Kind::CheckedOut { store: Store::Rollback, reads: Reads::Blocking },
}

impl Arm {
    /// Whether its databases are files.
    #[must_use]
    pub fn needs_files(self) -> bool {
        match self.kind() {
            Kind::Wal | Kind::Deadpool => true,
            Kind::CheckedOut { store, .. } => store.is_file(),
            _ => false,
        }
    }

    /// Whether the oldest block goes when one is written.
    #[must_use]
    pub fn keeps_its_size(self) -> bool {
        matches!(self.kind(), Kind::Locked { growth: Growth::Constant, .. })
    }

    /// Whether a write that was not acknowledged may have left a part of itself: every statement commits alone.
    #[must_use]
    pub fn commits_statements(self) -> bool {
        match self.kind() {
            Kind::Direct | Kind::DirectAsyncLock | Kind::Dedicated => true,
            Kind::Locked { hold, .. } => hold != HoldPlace::InTransaction,
            _ => false,
        }
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no arm has.
#[derive(Debug, Clone, thiserror::Error)]
#[error("unknown arm '{given}': choose one of {}", Arm::ALL.iter().map(|arm| arm.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownArm {
    given: String,
}

impl FromStr for Arm {
    type Err = UnknownArm;

    fn from_str(name: &str) -> Result<Self, UnknownArm> {
        Arm::ALL.iter().copied().find(|arm| arm.name() == name).ok_or_else(|| UnknownArm { given: name.to_owned() })
    }
}

impl Setup {
    /// The file of a database.
    #[must_use]
    pub fn file(&self, database: usize) -> PathBuf {
        self.folder.join(format!("{database}.db"))
    }
}
