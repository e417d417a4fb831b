//! The socket that is listened on, and how a connection is turned away.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::SockRef;

use crate::error::Error;

/// Connections that wait to be accepted; the kernel's own limit (`net.core.somaxconn`) holds besides.
const BACKLOG: i32 = 65_535;

/// Between two tries to accept when the system is short of something.
pub(super) const SHORTAGE_PAUSE: Duration = Duration::from_millis(20);

/// A socket that listens at the first address of `HOST:PORT` that can be had, and that address.
pub(super) fn listen(address: &str) -> Result<(TcpListener, SocketAddr), Error> {
    let listen = || {
        let listener = TcpListener::bind(address)?;
        // Again, for a longer queue than std's.
        SockRef::from(&listener).listen(BACKLOG)?;
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        Ok((listener, local))
    };
    listen().map_err(|source| Error::Listen { address: address.to_owned(), source })
}

/// Says why, and closes.
pub(super) fn refuse(stream: &impl AsFd, reason: &str) {
    let socket = SockRef::from(stream);
    // A client that does not listen is none of our concern.
    let _ = socket.set_nonblocking(true);
    let _ = (&*socket).write_all(format!("busy: {reason}\n").as_bytes());
    let _ = socket.shutdown(Shutdown::Write);
}

/// Whether `accept` failed for want of something that may be there again soon.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    use nix::errno::Errno;
    matches!(
        error.raw_os_error().map(Errno::from_raw),
        Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM)
    )
}
