//! What all connections share, and what they and the server have done and spent.

use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use serde::{Deserialize, Serialize};
use socket2::SockRef;
use tokio::sync::oneshot;

use super::live::{Live, Seat};
use crate::engine::Engine;
use crate::usage::{self, Process};

pub(super) struct Shared {
    /// Nobody: every line is `ok`.
    pub(super) engine: Option<Engine>,
    pub(super) live: Arc<Live>,
    pub(super) counts: Counts,
    /// How many connections there may be, and why no more.
    pub(super) most: (usize, &'static str),
    /// Between two steps of the clock that idle connections are measured by; `None` if they may stay.
    pub(super) step: Option<Duration>,
}

/// Accepts no more; connections that wait for a thread are closed. Those that are served go on until what is returned is dropped.
pub(super) type Stop = Box<dyn FnOnce() -> Option<oneshot::Sender<()>> + Send>;

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) connections: AtomicU64,
    pub(super) refused: AtomicU64,
    accepted: AtomicU64,
    rejected: AtomicU64,
}

impl Counts {
    pub(super) fn row(&self, accepted: bool) {
        up(if accepted { &self.accepted } else { &self.rejected });
    }
}

pub(super) fn up(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

/// Between two tries to accept when the system is short of something.
pub(super) const SHORTAGE_PAUSE: Duration = Duration::from_millis(20);

/// Whether `accept` failed for want of something that may be there again soon.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    use Errno::{EMFILE, ENFILE, ENOBUFS, ENOMEM};
    matches!(error.raw_os_error().map(Errno::from_raw), Some(EMFILE | ENFILE | ENOBUFS | ENOMEM))
}

impl Shared {
    /// Enters a connection among the open ones, or refuses it.
    pub(super) fn admit<S: AsFd + Send + Sync + 'static>(&self, stream: &Arc<S>) -> Option<Seat> {
        let (most, reason) = self.most;
        let seat = self.live.enter(Arc::clone(stream) as _, most);
        if seat.is_none() {
            self.refuse(stream, reason);
        }
        seat
    }

    /// Says why, and closes.
    pub(super) fn refuse(&self, stream: &Arc<impl AsFd>, reason: &str) {
        up(&self.counts.refused);
        let socket = SockRef::from(&**stream);
        // A client that does not listen is none of our concern.
        let _ = socket.set_nonblocking(true);
        let _ = (&*socket).write_all(format!("busy: {reason}\n").as_bytes());
        let _ = socket.shutdown(Shutdown::Write);
    }

    pub(super) fn stats(&self) -> Stats {
        let Counts { connections, refused, accepted, rejected } = &self.counts;
        let so_far = [connections, refused, accepted, rejected].map(|count| count.load(Ordering::Relaxed));
        let [connections, refused, accepted, rejected] = so_far;
        let open = self.live.count() as u64;
        Stats { open, connections, refused, accepted, rejected, ..Stats::of_this_process() }
    }
}

/// What was done and spent so far. Values that this machine does not tell are zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    pub open: u64,
    /// Accepted so far, without those that were refused.
    pub connections: u64,
    /// Connections that were answered with `busy`.
    pub refused: u64,
    pub accepted: u64,
    pub rejected: u64,
    pub user_s: f64,
    pub system_s: f64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    pub rss_kib: u64,
    pub peak_rss_kib: u64,
    pub threads: u64,
    pub maps: u64,
}

impl Stats {
    /// Of this process, without the counts.
    pub fn of_this_process() -> Self {
        let mut here = Stats::default();
        if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
            let count = |count: i64| u64::try_from(count).unwrap_or(0);
            let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
            here.voluntary_switches = count(usage.voluntary_context_switches());
            here.involuntary_switches = count(usage.involuntary_context_switches());
            (here.user_s, here.system_s) = (seconds(usage.user_time()), seconds(usage.system_time()));
        }
        let Process { rss_kib, peak_rss_kib, threads, .. } = usage::of_this_process().unwrap_or_default();
        Stats { rss_kib, peak_rss_kib, threads, maps: usage::maps() as u64, ..here }
    }
}
