//! Standard output as whoever started the program has left it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Fails if standard output was closed, or open only for reading, when the program was started: then Rust drops what is printed without an
/// error.
pub fn check_stdout() -> io::Result<()> {
    if CLOSED.load(Ordering::Relaxed) { Err(io::Error::other("it is closed")) } else { Ok(()) }
}

/// Runs before Rust's own start, which puts /dev/null where standard output is closed.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static AT_START: extern "C" fn() = {
    extern "C" fn look() {
        let flags = fcntl(io::stdout(), FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
        let is_open = flags.is_ok_and(|flags| flags & OFlag::O_ACCMODE != OFlag::O_RDONLY);
        CLOSED.store(!is_open, Ordering::Relaxed);
    }
    look
};
