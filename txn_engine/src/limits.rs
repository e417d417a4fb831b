//! How many connections and threads the machine can hold, and what says so.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::error::Error;
use crate::usage;

/// The most connections of a load: each takes about half a KiB here before it is opened.
pub(crate) const MOST_CLIENTS: usize = 1_000_000;
/// Files that are no connections: the program's own, and room to refuse a connection in words.
const OWN_FILES: usize = 64;
/// Memory maps of a thread: its stack and the stack for its signals, each with a guard.
const MAPS_PER_THREAD: usize = 4;
/// Address space that a thread's stack reserves, by std's default.
const STACK_MIB: u64 = 2;
/// Maps that are left to everything else. A thread that finds none for its signal stack ends the whole program.
const OWN_MAPS: usize = 1500;

/// Raises the number of files that may be open to what the system allows, and says how many.
pub fn raise_open_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return usize::MAX };
    // macOS allows less than it says; what cannot be raised stays as it is.
    let now = if setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    usize::try_from(now).unwrap_or(usize::MAX)
}

/// Connections that this program may open.
pub(crate) fn most_files() -> usize {
    raise_open_files().saturating_sub(OWN_FILES).max(1)
}

/// Threads that this program may start, for as long as their memory maps last.
pub(crate) fn most_threads() -> usize {
    most_maps().saturating_sub(OWN_MAPS) / MAPS_PER_THREAD
}

/// Says what stands against so many threads more, if that is known: to start them anyway ends the whole program, not in words.
pub(crate) fn expect_threads(threads: usize) -> Result<(), Error> {
    // Without a limit these are larger than any.
    let most_mib = getrlimit(Resource::RLIMIT_AS).map_or(u64::MAX, |(most, _)| most >> 20);
    let most_maps = most_maps();
    let reason = if threads.saturating_mul(MAPS_PER_THREAD).saturating_add(usage::maps()) > most_maps {
        format!("each takes {MAPS_PER_THREAD} memory maps, a process may have {most_maps} (vm.max_map_count)")
    } else if (threads as u64).saturating_mul(STACK_MIB) > most_mib {
        format!("each reserves {STACK_MIB} MiB of address space, a process may have {most_mib} (ulimit -v)")
    } else {
        return Ok(());
    };
    Err(Error::Threads { threads, reason })
}

/// Starts so many threads, which are there at once, and ends them: where tokio cannot start one it panics, and waits forever for those that it has.
pub(crate) fn try_threads(threads: usize) -> Result<(), Error> {
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock();
        (0..threads).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, || drop(gate.lock())).map(drop))
    })
    .map_err(Error::Thread)
}

/// The workers of a multi-thread runtime.
pub(crate) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Memory maps that a process may have.
fn most_maps() -> usize {
    #[cfg(target_os = "linux")]
    return procfs::sys::vm::max_map_count().ok().and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    #[cfg(not(target_os = "linux"))]
    usize::MAX
}
