//! Signals: what is half done is removed before the program dies of one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io, mem, process, thread};

use anyhow::{Context, Error};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// What a signal has done before the program dies of it.
#[derive(Default)]
pub enum Cleanup {
    #[default]
    Nothing,
    Remove(PathBuf),
    /// The main thread is told by [`STOP`], cleans up and calls [`die`]; a second signal does not wait for it.
    Stop,
}

pub static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(SIGTERM);
static CLEANUP: Mutex<Cleanup> = Mutex::new(Cleanup::Nothing);

/// What is to be cleaned up; while it is held, signals wait.
pub fn cleanup() -> MutexGuard<'static, Cleanup> {
    CLEANUP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on a thread waits for signals.
pub fn watch() -> Result<(), Error> {
    let fail = "cannot watch for signals";
    // A file beyond the limit of the shell then is an error like a full disk.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).context(fail)?;
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal))).context(fail)?;
    let receive = move || signals.forever().for_each(receive);
    thread::Builder::new().name("signals".to_owned()).spawn(receive).map(drop).context(fail)
}

fn receive(signal: i32) {
    SIGNAL.store(signal, Ordering::Relaxed);
    // Held to the end, so that nothing is completed after it was removed.
    let mut cleanup = cleanup();
    match mem::take(&mut *cleanup) {
        Cleanup::Stop => STOP.store(true, Ordering::Relaxed),
        Cleanup::Nothing => die(),
        Cleanup::Remove(path) => {
            // Whoever sent the signal waits for the end, not for a report.
            let _ = fs::remove_file(path);
            die();
        }
    }
}

/// Ends the program as the signal would have.
pub fn die() -> ! {
    let signal = SIGNAL.load(Ordering::Relaxed);
    let _: io::Result<()> = emulate_default_handler(signal);
    process::exit(128 + signal)
}

/// Whether whoever started the program wants the signal ignored, as nohup does.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
