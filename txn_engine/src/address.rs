//! Addresses as they are typed: a host, by name or number, and a port.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};

use crate::error::Error;

/// What `attempt` gives for the first address of `HOST:PORT` with which it succeeds, or its last error.
///
/// # Errors
/// If the host is not found.
pub(crate) fn first_of<T>(
    address: &str,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<T>,
) -> Result<io::Result<T>, Error> {
    let found = address.to_socket_addrs().map_err(|source| Error::Resolve { address: address.to_owned(), source })?;
    let mut tried = Err(io::Error::other("it has no address"));
    for address in found {
        tried = attempt(address);
        if tried.is_ok() {
            break;
        }
    }
    Ok(tried)
}
