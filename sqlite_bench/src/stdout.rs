//! Standard output, which may have been closed before the program began.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, ensure};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if whoever started the program closed standard output: nothing that is printed would arrive.
pub fn check() -> anyhow::Result<()> {
    ensure!(!CLOSED.load(Ordering::Relaxed), "cannot write to standard output: it is closed");
    Ok(())
}

/// Prints `text` and makes sure that all of it arrived.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Runs before Rust's own start, which puts /dev/null in the place of a closed standard output: what is written there is lost without an error.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static AT_START: extern "C" fn() = {
    extern "C" fn look() {
        const EBADF: i32 = 9;
        // SAFETY: the descriptor is only asked for a copy, which fails if nothing is open there.
        let copy = unsafe { std::os::fd::BorrowedFd::borrow_raw(1) }.try_clone_to_owned();
        CLOSED.store(copy.is_err_and(|error| error.raw_os_error() == Some(EBADF)), Ordering::Relaxed);
    }
    look
};
