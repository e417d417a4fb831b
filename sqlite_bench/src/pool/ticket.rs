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
    /// Until when, if not for ever, and how long that is.
    Running {
        due: Option<Instant>,
        limit: Duration,
    },
    Ended,
    GivenUp,
}

impl State {
    /// Fails if the asker waits no more or the job takes too long.
    fn goes_on(self) -> Result<(), Error> {
        match self {
            State::GivenUp => Err(Error::Cancelled),
            State::Running { due: Some(due), limit } if due <= Instant::now() => Err(Error::TimedOut(limit)),
            _ => Ok(()),
        }
    }
}

impl Ticket {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the job must not go on, be its future polled or not.
    pub(super) fn is_given_up(&self) -> bool {
        self.state().goes_on().is_err()
    }

    /// The job begins or ends, unless it must not go on.
    pub(super) fn advance(&self, to: State) -> Result<(), Error> {
        let mut state = self.state();
        state.goes_on()?;
        *state = to;
        Ok(())
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
        // Beyond what the clock can say is for ever. A job that begins right now is over time no earlier than a limit from now.
        let (due, again, error) = match *state {
            State::Waiting => {
                let limit = options.acquire_timeout;
                (asked.checked_add(limit), now.checked_add(options.job_timeout), Error::Waited(limit))
            }
            State::Running { due, limit } => (due, None, Error::TimedOut(limit)),
            State::Ended | State::GivenUp => return Ok(None),
        };
        if due.is_some_and(|due| due <= now) {
            *state = State::GivenUp;
            return Err(error);
        }
        Ok(due.into_iter().chain(again).min())
    }
}
