//! The connections that are open, so that they can be ended.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use socket2::SockRef;

/// A socket of the standard library or of tokio.
pub(super) trait Socket: AsFd + Send + Sync {}

impl<T: AsFd + Send + Sync> Socket for T {}

/// The open connections.
#[derive(Default)]
pub(super) struct Live {
    open: Mutex<Open>,
    ended: Condvar,
}

#[derive(Default)]
struct Open {
    sockets: HashMap<u64, Arc<dyn Socket>>,
    next: u64,
    /// Connections that come now are late.
    closing: Option<Shutdown>,
}

/// Keeps a connection among the open ones.
pub(super) struct Seat {
    live: Arc<Live>,
    number: u64,
}

impl Live {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.open().sockets.len()
    }

    /// Enters a connection; `None` if there are `most` already.
    pub(super) fn enter(self: &Arc<Self>, socket: Arc<dyn Socket>, most: usize) -> Option<Seat> {
        let mut open = self.open();
        if open.sockets.len() >= most {
            return None;
        }
        let number = open.next;
        open.next += 1;
        if let Some(how) = open.closing {
            shut(&*socket, how);
        }
        open.sockets.insert(number, socket);
        Some(Seat { live: Arc::clone(self), number })
    }

    /// Shuts all of them, and those that still come.
    pub(super) fn shut(&self, how: Shutdown) {
        let mut open = self.open();
        open.closing = Some(how);
        open.sockets.values().for_each(|socket| shut(&**socket, how));
    }

    /// Waits until none is left; false if some are at `deadline`.
    pub(super) fn wait_until_empty(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let (open, _) = self
            .ended
            .wait_timeout_while(self.open(), left, |open| !open.sockets.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        open.sockets.is_empty()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.live.open();
        // The socket itself is closed without the lock.
        let socket = open.sockets.remove(&self.number);
        if open.sockets.is_empty() {
            self.live.ended.notify_all();
        }
        drop(open);
        drop(socket);
    }
}

fn shut(socket: &dyn Socket, how: Shutdown) {
    // The other side may have closed it already.
    let _ = SockRef::from(&socket.as_fd()).shutdown(how);
}
