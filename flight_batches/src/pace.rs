//! When the next batch is due.
//!
//! A timer that fires late must not make every later batch late, too: a batch is due one delay after the one before it was due, not
//! after it came. But a producer that was held up, because nobody took its batches, has not worked meanwhile and starts anew.

use std::time::{Duration, Instant};

/// The schedule of one stream.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    delay: Duration,
    /// When the batch before was due.
    due: Instant,
}

impl Pace {
    /// A stream that starts at `now`.
    pub fn new(delay: Duration, now: Instant) -> Self {
        Pace { delay, due: now }
    }

    /// When the next batch is due if work on it may begin at `free`.
    ///
    /// `free` is when the place for the batch was there; a place that came before the last batch was due changes nothing.
    pub fn next(&mut self, free: Instant) -> Instant {
        self.due = self.due.max(free) + self.delay;
        self.due
    }
}
