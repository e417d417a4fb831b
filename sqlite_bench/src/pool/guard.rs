//! Keeps the pool's transaction out of reach of the jobs that run in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// The savepoint around each job.
pub(super) const SAVEPOINT: &str = "pool_job";

/// Tells SQLite whether a job runs, which may neither begin nor end a transaction.
///
/// Two nets: an authorizer refuses the statements when they are compiled, which leaves the transaction as it is. A commit hook turns every
/// commit into a rollback, also the silent one of a job that goes on after SQLite has rolled back by itself.
pub(super) struct Guard {
    job_runs: Arc<AtomicBool>,
}

impl Guard {
    /// Guards a connection.
    ///
    /// # Errors
    /// What SQLite says.
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let job_runs = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&job_runs);
        connection.authorizer(Some(move |context: AuthContext<'_>| match context.action {
            AuthAction::Transaction { .. } if own.load(Ordering::Relaxed) => Authorization::Deny,
            AuthAction::Savepoint { savepoint_name, .. }
                if own.load(Ordering::Relaxed) && savepoint_name.eq_ignore_ascii_case(SAVEPOINT) =>
            {
                Authorization::Deny
            }
            _ => Authorization::Allow,
        }))?;
        let own = Arc::clone(&job_runs);
        connection.commit_hook(Some(move || own.load(Ordering::Relaxed)))?;
        Ok(Guard { job_runs })
    }

    /// Runs a job, which must not unwind.
    pub(super) fn during<T>(&self, job: impl FnOnce() -> T) -> T {
        self.job_runs.store(true, Ordering::Relaxed);
        let value = job();
        self.job_runs.store(false, Ordering::Relaxed);
        value
    }
}
