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
    #[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn late_timers_do_not_add_up() {
        let start = Instant::now();
        let mut pace = Pace::new(10 * MS, start);
        // Places are there long before.
        for batch in 1..100 {
            assert_eq!(pace.next(start), start + batch * 10 * MS);
        }
    }

    #[test]
    fn a_producer_that_was_held_up_does_not_catch_up() {
        let start = Instant::now();
        let mut pace = Pace::new(10 * MS, start);
        assert_eq!(pace.next(start), start + 10 * MS);
        assert_eq!(pace.next(start + 50 * MS), start + 60 * MS);
        assert_eq!(pace.next(start + 55 * MS), start + 70 * MS);
    }
}
