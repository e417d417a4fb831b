//! How a pool is set up.

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

/// What an acknowledged write survives. The names are those of SQLite's `synchronous`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A power failure: the log is synced before a commit is acknowledged.
    #[default]
    Full,
    /// The end of the process. A power failure may take the last commits and leaves the database sound.
    Normal,
    /// The end of the process. A power failure may destroy the database.
    Off,
}

/// What a database is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Reading and writing; a file that is missing is created.
    #[default]
    ReadWrite,
    /// Reading, while others may write. Readers, too, need the log's files: the folder must be writable, or somebody have the database open.
    ReadOnly,
    /// Reading a file that nobody changes meanwhile, on a read-only medium for instance. If it does change, reads go wrong. A file with a log or
    /// rollback journal that has not been applied is [`Error::LogLeft`](super::Error::LogLeft).
    Immutable,
}

type SetUp = dyn Fn(&Connection) -> rusqlite::Result<()> + Send + Sync;

#[derive(Clone)]
pub(super) struct OnOpen(pub(super) Arc<SetUp>);

impl fmt::Debug for OnOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}

/// A struct with a default and a method to set it for each field.
macro_rules! options {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr;)+) => {
        /// How a pool is set up; a method sets each option.
        ///
        /// ```
        /// use std::time::Duration;
        /// use sqlite_bench::pool::{Durability, Options};
        /// let options = Options::default().durability(Durability::Normal).job_timeout(Duration::from_secs(10));
        /// ```
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct Options {
            $(pub(super) $name: $type,)+
            pub(super) on_open: Option<OnOpen>,
        }

        impl Default for Options {
            fn default() -> Self {
                Options { $($name: $default,)+ on_open: None }
            }
        }

        impl Options {
            $($(#[doc = $doc])+
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = $name;
                self
            })+
        }
    };
}

options! {
    /// What the database is opened for; reading and writing by default.
    access: Access = Access::ReadWrite;
    /// Threads that read, each with a connection of its own; 2 by default.
    readers: NonZero<usize> = const { NonZero::new(2).unwrap() };
    /// Operations that may wait, in each of the two queues; beyond it `read` and `write` wait for room. 1,024 by default.
    queue: NonZero<usize> = const { NonZero::new(1024).unwrap() };
    /// Most writes in one commit; 1 commits each alone. 256 by default.
    batch: NonZero<usize> = const { NonZero::new(256).unwrap() };
    /// What an acknowledged write survives; a power failure by default.
    durability: Durability = Durability::Full;
    /// How long a lock of another connection is waited for, also when the pool is opened; 5 s by default, 24 days at most.
    busy_timeout: Duration = Duration::from_secs(5);
    /// How long an operation waits for its turn before it answers [`Error::Waited`](super::Error::Waited); for ever by default. That is from the
    /// first poll to the start of the job, room in the queue and `BEGIN` included. Zero refuses every operation, even on an idle pool: who must
    /// not wait for room uses [`Pool::try_read`](super::Pool::try_read).
    acquire_timeout: Duration = Duration::MAX;
    /// How long a job may run before it is interrupted and answers [`Error::TimedOut`](super::Error::TimedOut); for ever by default. A job
    /// that is not in SQLite runs on, to no effect, and keeps its thread until it ends.
    job_timeout: Duration = Duration::MAX;
    /// Pages of the log after which they are copied into the database, beside the writer; 1,000 by default, about 4 MB.
    checkpoint_pages: u32 = 1_000;
    /// Pages of the log at which the writer empties it before the next write; 25,000 by default, about 100 MB. It waits up to `busy_timeout` for
    /// readers. One that keeps its snapshot for longer, in this pool or in another process, lets the log grow by as much again before the next
    /// attempt; `Stats::blocked_checkpoints` counts these. One large commit exceeds any limit.
    wal_limit_pages: u32 = 25_000;
    /// Pages of the log at which writes answer [`Error::LogFull`](super::Error::LogFull) until readers let it be emptied; 1,000,000 by default,
    /// about 4 GB. `u32::MAX` lifts this bound. `job_timeout` ends long reads of the pool.
    wal_max_pages: u32 = 1_000_000;
}

impl Options {
    /// Called with every connection when it is opened, again if a lock was in the way: each reader (opened read-only), the writer, and the one for
    /// checkpoints. For functions, a cache size, a key, and every other setting, which jobs may not change. Jobs may use a temporary table that
    /// is made here; only write jobs may write to it, and what they write stays on that connection.
    /// The pool needs the authorizer, the progress handler, and on the connection that writes the WAL and commit hooks; an authorizer,
    /// progress handler or commit hook set here takes the place of those that keep jobs within their bounds.
    #[must_use]
    pub fn on_open(mut self, on_open: impl Fn(&Connection) -> rusqlite::Result<()> + Send + Sync + 'static) -> Self {
        self.on_open = Some(OnOpen(Arc::new(on_open)));
        self
    }
}
