//! The statement that was denied last on this thread: SQLite's error does not name it.

use std::cell::RefCell;

thread_local! {
    static STATEMENT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps it for the error that follows.
pub(super) fn put(statement: Option<String>) {
    STATEMENT.set(statement);
}

/// It belongs to one error.
pub(super) fn take() -> Option<String> {
    STATEMENT.take()
}
