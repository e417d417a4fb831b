//! A thread with a connection that it opens itself.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use flume::Receiver;
use rusqlite::Connection;

use super::error::Error;
use super::guard::Guard;
use super::options::Options;
use super::shared::{Shared, spawn};

/// A connection and what keeps jobs within their bounds.
type Opened = (Connection, Guard);

/// A thread that works with a connection of its own, if it can open it.
pub(super) struct Beside {
    thread: JoinHandle<()>,
    opened: Receiver<Result<(), Error>>,
}

impl Beside {
    /// Starts a thread that opens the database at `path` and then does `work`.
    pub(super) fn start(
        name: &str,
        path: &Path,
        shared: &Arc<Shared>,
        open: fn(&Path, &Options) -> Result<Opened, Error>,
        work: impl FnOnce(Opened, &Arc<Shared>) + Send + 'static,
    ) -> Result<Self, Error> {
        let (tell, opened) = flume::bounded(1);
        let (path, shared) = (path.to_owned(), Arc::clone(shared));
        let thread = spawn(name, move || {
            let (outcome, connection) = match open(&path, &shared.options) {
                Ok(connection) => (Ok(()), Some(connection)),
                Err(error) => (Err(error), None),
            };
            // Whoever asks to open may be gone: the queue then ends the work.
            let _ = tell.send(outcome);
            if let Some(connection) = connection {
                work(connection, &shared);
            }
        })?;
        Ok(Beside { thread, opened })
    }

    /// Waits until the connection is open.
    pub(super) fn is_open(&self) -> Result<(), Error> {
        self.opened.recv().unwrap_or(Err(Error::Closed))
    }

    /// Waits for the end of the thread.
    pub(super) fn join(self) {
        let _ = self.thread.join();
    }
}
