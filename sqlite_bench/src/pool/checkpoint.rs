//! The checkpoint thread: copies the log into the database without being in anybody's way.

use std::sync::{Arc, Mutex, PoisonError};

use flume::{Receiver, Sender};
use rusqlite::Connection;

use super::stats::{Counters, count};

/// How much of the log a checkpoint copies, and for whom it waits; the names are those of SQLite.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// What no reader needs; waits for nobody.
    Passive,
    /// All of it; waits for the readers and shortens the log to nothing.
    Truncate,
}

/// The writer's side of the checkpoint thread.
pub(super) struct Signal {
    /// Asks for a checkpoint; one that is under way will do.
    pub(super) sender: Sender<()>,
    /// Whose turn it is to make one.
    pub(super) turn: Arc<Mutex<()>>,
    /// Disconnected once the checkpoint thread has closed its connection.
    pub(super) gone: Receiver<()>,
}

impl Signal {
    /// Ends the checkpoint thread and waits until its connection is closed.
    pub(super) fn end(self) {
        drop(self.sender);
        // Nothing is ever sent: this waits for the other end to go.
        let _ = self.gone.recv();
    }
}

/// Copies the log once; whether nobody stood in the way.
///
/// `turn` is the pool's: SQLite does not let one checkpoint wait for another.
///
/// # Errors
/// What SQLite says.
pub(super) fn checkpoint(connection: &Connection, mode: Mode, turn: &Mutex<()>) -> rusqlite::Result<bool> {
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let busy: i64 = connection.query_row(&format!("PRAGMA wal_checkpoint({mode:?})"), [], |row| row.get(0))?;
    Ok(busy == 0)
}

/// Makes a checkpoint for each signal, until the writer is gone; then closes the connection, and drops `gone`.
pub(super) fn run(
    connection: Connection,
    gone: Sender<()>,
    signals: &Receiver<()>,
    turn: &Mutex<()>,
    counters: &Counters,
) {
    for () in signals {
        // One that fails leaves the log as it was; the next signal tries again, and the writer sees to the limit.
        if checkpoint(&connection, Mode::Passive, turn).is_ok() {
            count(counters, |stats| stats.checkpoints += 1);
        }
    }
    drop(connection);
    drop(gone);
}
