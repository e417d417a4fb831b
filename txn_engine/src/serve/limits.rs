//! How many connections the machine can hold.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::options::{Mode, Options};

/// Files that are no connections: the program's own, and room to refuse a connection in words.
const OWN_FILES: usize = 64;
/// Memory maps of a thread: its stack and the stack for its signals, each with a guard.
const MAPS_PER_THREAD: usize = 4;
/// Maps that are left to everything else. A thread that finds none for its signal stack ends the whole program.
const OWN_MAPS: usize = 1500;

/// Raises the number of files that may be open to what the system allows, and says how many.
pub fn raise_open_files() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return usize::MAX;
    };
    // macOS allows less than it says; what cannot be raised stays as it is.
    let now = if setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    usize::try_from(now).unwrap_or(usize::MAX)
}

/// How many connections there may be at once, and what stands against more.
pub(super) fn most_connections(options: &Options) -> (usize, &'static str) {
    let files = raise_open_files().saturating_sub(OWN_FILES).max(1);
    let mut most = (files, "no more files can be opened (ulimit -n)");
    if let (Mode::Threads, Some(maps)) = (options.mode, most_maps()) {
        let threads = maps.saturating_sub(OWN_MAPS) / MAPS_PER_THREAD;
        if threads < most.0 {
            most = (threads, "no more threads can be started (vm.max_map_count)");
        }
    }
    match options.most_connections {
        Some(asked) if asked < most.0 => (asked, "there are as many connections as allowed (--most-connections)"),
        _ => most,
    }
}

/// Memory maps that a process may have; `None` where there is no such limit.
fn most_maps() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return procfs::sys::vm::max_map_count().ok().and_then(|most| usize::try_from(most).ok());
    #[cfg(not(target_os = "linux"))]
    None
}
