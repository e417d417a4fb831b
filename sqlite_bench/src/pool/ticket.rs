//! What the asker of an operation and the thread that does it know of each other.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::Error;
use super::options::Options;

/// Where an operation stands. Either the thread ends it or the asker gives it up, never both: what was given up is not written.
#[derive(Default)]
pub(super) struct Ticket(Mutex<State>);

#[derive(Clone, Copy, Default)]
pub(super) enum State {
    #[default]
    Waiting,
    Running {
        begin: Instant,
    },
    Ended,
    GivenUp,
}

impl Ticket {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the asker waits no more.
    pub(super) fn is_given_up(&self) -> bool {
        matches!(*self.state(), State::GivenUp)
    }

    /// The job begins or ends, unless it was given up: then `false`.
    pub(super) fn advance(&self, to: State) -> bool {
        let mut state = self.state();
        let goes_on = !matches!(*state, State::GivenUp);
        if goes_on {
            *state = to;
        }
        goes_on
    }

    /// The asker goes. A job that has ended counts all the same.
    pub(super) fn give_up(&self) {
        let mut state = self.state();
        if !matches!(*state, State::Ended) {
            *state = State::GivenUp;
        }
    }

    /// When to look again whether it takes too long; `None` if it may take as long as it likes. If it does, it is given up.
    pub(super) fn look(&self, asked: Instant, options: &Options) -> Result<Option<Instant>, Error> {
        let mut state = self.state();
        let now = Instant::now();
        // A job that begins right now is over time no earlier than a limit from now.
        let (begin, limit, again, error): (_, _, _, fn(Duration) -> Error) = match *state {
            State::Waiting => (asked, options.acquire_timeout, now.checked_add(options.job_timeout), Error::Waited),
            State::Running { begin } => (begin, options.job_timeout, None, Error::TimedOut),
            State::Ended | State::GivenUp => return Ok(None),
        };
        // Beyond what the clock can say is for ever.
        let due = begin.checked_add(limit);
        if due.is_some_and(|due| due <= now) {
            *state = State::GivenUp;
            return Err(error(limit));
        }
        Ok(due.into_iter().chain(again).min())
    }
}
