//! The connections that are open, so that they can be ended.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::SockRef;

/// A socket of the standard library or of tokio.
pub(super) type Socket = dyn AsFd + Send + Sync;

/// Steps of the clock after which a connection is idle.
pub(super) const IDLE_STEPS: u32 = 8;

#[derive(Default)]
pub(super) struct Live {
    open: Mutex<Open>,
    ended: Condvar,
    /// Steps so far. Not the time itself, which costs more to read than a row to apply.
    clock: AtomicU64,
}

/// What is known of an open connection.
struct Place {
    socket: Arc<Socket>,
    /// The step in which it was last heard of.
    heard: AtomicU64,
}

#[derive(Default)]
struct Open {
    places: HashMap<u64, Arc<Place>>,
    next: u64,
    /// Connections that come now are late.
    closing: Option<Shutdown>,
}

/// Keeps a connection among the open ones.
pub(super) struct Seat {
    live: Arc<Live>,
    place: Arc<Place>,
    number: u64,
}

impl Seat {
    /// The client has sent something, or taken its answers.
    pub(super) fn heard(&self) {
        self.place.heard.store(self.live.clock.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Live {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> usize {
        self.open().places.len()
    }

    /// Enters a connection; `None` if there are `most` already.
    pub(super) fn enter(self: &Arc<Self>, socket: Arc<Socket>, most: usize) -> Option<Seat> {
        let mut open = self.open();
        if open.places.len() >= most {
            return None;
        }
        let number = open.next;
        open.next += 1;
        if let Some(how) = open.closing {
            shut(&*socket, how);
        }
        // One that waits for a thread is not idle: it is heard of when it is served.
        let place = Arc::new(Place { socket, heard: AtomicU64::new(u64::MAX) });
        open.places.insert(number, Arc::clone(&place));
        Some(Seat { live: Arc::clone(self), place, number })
    }

    /// One step of the clock. Connections that were not heard of for [`IDLE_STEPS`] look ended; those that do not take their answers
    /// either are cut off after as many more.
    pub(super) fn step(&self) {
        let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        for place in self.open().places.values() {
            let idle = now.saturating_sub(place.heard.load(Ordering::Relaxed));
            if idle > u64::from(2 * IDLE_STEPS) {
                shut(&*place.socket, Shutdown::Both);
            } else if idle > u64::from(IDLE_STEPS) {
                shut(&*place.socket, Shutdown::Read);
            }
        }
    }

    /// Shuts all of them, and those that still come.
    pub(super) fn shut(&self, how: Shutdown) {
        let mut open = self.open();
        open.closing = Some(how);
        open.places.values().for_each(|place| shut(&*place.socket, how));
    }

    /// Waits until none is left; false if some are after `patience`.
    pub(super) fn wait_until_empty(&self, patience: Duration) -> bool {
        let (open, _) = self
            .ended
            .wait_timeout_while(self.open(), patience, |open| !open.places.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        open.places.is_empty()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.live.open();
        // The socket itself is closed without the lock.
        let place = open.places.remove(&self.number);
        if open.places.is_empty() {
            self.live.ended.notify_all();
        }
        drop(open);
        drop(place);
    }
}

fn shut(socket: &Socket, how: Shutdown) {
    // The other side may have closed it already.
    let _ = SockRef::from(&socket.as_fd()).shutdown(how);
}
