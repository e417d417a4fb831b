//! How many connections and threads the machine can hold, and what says so.

use std::{fs, io};

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};

use crate::error::Error;
use crate::usage;

/// The most connections of a load: each takes about half a KiB here before it is opened.
pub(crate) const MOST_CLIENTS: usize = 1_000_000;
/// Files that are no connections: the program's own, and room to refuse a connection in words.
const OWN_FILES: usize = 64;
/// Memory maps of a thread: its stack and the stack for its signals, each with a guard.
const MAPS_PER_THREAD: usize = 4;
/// Address space that a thread's stack reserves, by std's default.
const STACK_MIB: usize = 2;
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

/// Threads that this program may start, for as long as their memory maps last; `None` where these have no limit.
pub(crate) fn most_threads() -> Option<usize> {
    Some(most_maps()?.saturating_sub(OWN_MAPS) / MAPS_PER_THREAD)
}

/// Says what stands against so many threads more, if that is known: to start them anyway ends the whole program, not in words.
pub(crate) fn expect_threads(threads: usize) -> Result<(), Error> {
    let most_mib = soft_limit(Resource::RLIMIT_AS).map(|most| usize::try_from(most >> 20).unwrap_or(usize::MAX));
    let reason = match (most_maps(), most_mib) {
        (Some(most), _) if threads.saturating_mul(MAPS_PER_THREAD).saturating_add(usage::maps()) > most => {
            format!("each takes {MAPS_PER_THREAD} memory maps, a process may have {most} (vm.max_map_count)")
        }
        (_, Some(most)) if threads.saturating_mul(STACK_MIB) > most => {
            format!("each reserves {STACK_MIB} MiB of address space, a process may have {most} (ulimit -v)")
        }
        _ => return Ok(()),
    };
    Err(Error::Threads { threads, reason })
}

/// A limit of this process; `None` where there is none.
fn soft_limit(resource: Resource) -> Option<u64> {
    let soft = getrlimit(resource).ok()?.0;
    (soft != RLIM_INFINITY).then_some(soft)
}

/// Why the thread after the first `started` of so many was not to be had: what the system says, and its limits, which it does not tell apart.
pub(crate) fn no_thread(threads: usize, started: usize, error: &io::Error) -> Error {
    let limit = |name: &str, resource, unit: u64| soft_limit(resource).map(|soft| format!("{name} {}", soft / unit));
    let setting = |name: &str, file: &str| Some(format!("{name} {}", fs::read_to_string(file).ok()?.trim()));
    let limits = [
        limit("ulimit -u", Resource::RLIMIT_NPROC, 1),
        limit("ulimit -v", Resource::RLIMIT_AS, 1024),
        setting("kernel.threads-max", "/proc/sys/kernel/threads-max"),
        setting("kernel.pid_max", "/proc/sys/kernel/pid_max"),
        setting("vm.max_map_count", "/proc/sys/vm/max_map_count"),
        setting("pids.max", "/sys/fs/cgroup/pids.max"),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let reason = format!("after {started} the system says: {error}; the limits are {}", limits.join(", "));
    Error::Threads { threads, reason }
}

/// Memory maps that a process may have; `None` where there is no such limit.
fn most_maps() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return procfs::sys::vm::max_map_count().ok().and_then(|most| usize::try_from(most).ok());
    #[cfg(not(target_os = "linux"))]
    None
}
