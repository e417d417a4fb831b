//! One value on its way from the thread that has it to the future that waits for it.

use std::mem::replace;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

enum State<T> {
    Unsent,
    /// Somebody waits.
    Awaited(Waker),
    Sent(T),
    /// The sender is gone, or the value has been taken.
    Over,
}

type Shared<T> = Arc<Mutex<State<T>>>;

fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, State<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the value is sent.
pub(super) struct Reply<T>(Shared<T>);

/// Where it arrives; `None` if the other end was dropped instead.
pub(super) struct Answer<T>(Shared<T>);

pub(super) fn oneshot<T>() -> (Reply<T>, Answer<T>) {
    let shared = Arc::new(Mutex::new(State::Unsent));
    (Reply(Arc::clone(&shared)), Answer(shared))
}

impl<T> Reply<T> {
    pub(super) fn send(self, value: T) {
        self.put(State::Sent(value));
    }

    fn put(&self, state: State<T>) {
        let before = replace(&mut *lock(&self.0), state);
        if let State::Awaited(waker) = before {
            waker.wake();
        }
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let is_unsent = matches!(*lock(&self.0), State::Unsent | State::Awaited(_));
        if is_unsent {
            self.put(State::Over);
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = lock(&self.0);
        match replace(&mut *state, State::Over) {
            State::Sent(value) => Poll::Ready(Some(value)),
            State::Over => Poll::Ready(None),
            State::Unsent | State::Awaited(_) => {
                *state = State::Awaited(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
