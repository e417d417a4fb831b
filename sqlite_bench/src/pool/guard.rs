//! Keeps the connection and its transaction as they are while a job has them.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};
use rusqlite::{Connection, ffi};

use super::error::{DENIED, Error};
use super::queue::BoxedJob;
use super::shared::Shared;
use super::ticket::{State, Ticket};

/// The savepoint around a job that shares its transaction.
const SAVEPOINT: &str = "pool_job";

/// Instructions of SQLite's machine, some microseconds, after which a job that was given up or takes too long stops.
const PATIENCE: i32 = 1_000;

/// What a job may give a value to: questions, and what is kept in the database.
const ALLOWED_PRAGMAS: &str = "application_id foreign_key_check foreign_key_list incremental_vacuum index_info index_list index_xinfo \
    integrity_check optimize quick_check table_info table_list table_xinfo user_version";

thread_local! {
    /// The pool whose job this thread runs.
    static INSIDE: Cell<Option<*const Shared>> = const { Cell::new(None) };
    /// Whether a job has deferred all foreign keys, which lasts until the transaction ends.
    pub(super) static DEFERS: Cell<bool> = const { Cell::new(false) };
    /// Whether a job has ever compiled a statement about savepoints, which may be kept for other jobs and leave one open.
    pub(super) static SAVEPOINTS: Cell<bool> = const { Cell::new(false) };
}

/// Whether a job of this pool runs on this thread.
pub(super) fn is_inside(pool: &Arc<Shared>) -> bool {
    INSIDE.get() == Some(Arc::as_ptr(pool))
}

/// Tells SQLite which job runs on a connection, if one does.
///
/// An authorizer refuses, when they are compiled, statements that would begin or end the transaction or change the connection for the jobs
/// that follow. On the connection that writes a commit hook turns every commit into a rollback, also the silent one of a job that goes on
/// after SQLite has rolled back by itself. A progress handler stops what was given up: unlike `sqlite3_interrupt` it cannot come between two
/// statements and be lost, nor hit the job that follows.
#[derive(Clone, Default)]
pub(super) struct Guard(Arc<Mutex<Option<Arc<Ticket>>>>);

impl Guard {
    /// Guards a connection, for reading or also for writing.
    pub(super) fn of(connection: &Connection, writes: bool) -> rusqlite::Result<Self> {
        let guard = Guard::default();
        let own = guard.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            // The handler below would never see a loop of short statements.
            let judge = |job: &Ticket| (job.is_given_up(), refused(&context, writes));
            let (given_up, statement) = own.current().as_deref().map(judge).unwrap_or_default();
            if !given_up && statement.is_none() {
                return Authorization::Allow;
            }
            DENIED.set(statement);
            Authorization::Deny
        }))?;
        let own = guard.clone();
        let is_given_up = move || own.current().as_deref().is_some_and(Ticket::is_given_up);
        connection.progress_handler(PATIENCE, Some(is_given_up))?;
        if writes {
            let own = guard.clone();
            connection.commit_hook(Some(move || own.current().is_some()))?;
        }
        Ok(guard)
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Ticket>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job of this pool, unless it was given up.
    pub(super) fn run(&self, job: &mut BoxedJob, connection: &Connection, pool: &Arc<Shared>) -> Result<(), Error> {
        let (ticket, limit) = (Arc::clone(job.ticket()), pool.options.job_timeout);
        ticket.advance(State::Running { due: Instant::now().checked_add(limit), limit })?;
        *self.current() = Some(ticket);
        INSIDE.set(Some(Arc::as_ptr(pool)));
        let ran = job.run(connection);
        INSIDE.set(None);
        *self.current() = None;
        // No hook hears of this setting, and to restore it costs next to nothing.
        let _ = connection.busy_timeout(pool.options.busy_timeout);
        ran
    }
}

/// What a job is not allowed to do, in words.
fn refused(context: &AuthContext<'_>, writes: bool) -> Option<String> {
    let in_temp = context.database_name == Some("temp");
    match context.action {
        AuthAction::Transaction { operation } if writes => Some(match operation {
            TransactionOperation::Begin => "BEGIN".to_owned(),
            TransactionOperation::Rollback => "ROLLBACK".to_owned(),
            _ => "COMMIT".to_owned(),
        }),
        AuthAction::Savepoint { savepoint_name, .. } if writes && savepoint_name.eq_ignore_ascii_case(SAVEPOINT) => {
            Some(format!("the savepoint {savepoint_name}"))
        }
        AuthAction::Savepoint { .. } => {
            SAVEPOINTS.set(true);
            None
        }
        AuthAction::Attach { filename } => Some(format!("ATTACH '{filename}'")),
        AuthAction::Detach { database_name } => Some(format!("DETACH {database_name}")),
        // Of a name that is known only when the statement runs.
        AuthAction::Unknown { code: ffi::SQLITE_ATTACH, .. } => Some("ATTACH".to_owned()),
        AuthAction::Unknown { code: ffi::SQLITE_DETACH, .. } => Some("DETACH".to_owned()),
        AuthAction::Pragma { pragma_name, pragma_value: Some(value) }
            if pragma_name.eq_ignore_ascii_case("defer_foreign_keys")
                // Switching it off forgets what jobs before this one have violated, already when it is compiled.
                && ["1", "on", "yes", "true"].iter().any(|on| value.eq_ignore_ascii_case(on)) =>
        {
            DEFERS.set(true);
            None
        }
        // The only pragma that acts without a value: a reader cannot write, and the writer has a transaction.
        AuthAction::Pragma { pragma_name, pragma_value: None }
            if pragma_name.eq_ignore_ascii_case("wal_checkpoint") =>
        {
            Some(format!("PRAGMA {pragma_name}"))
        }
        AuthAction::Pragma { pragma_name, pragma_value: Some(value) }
            if in_temp || !ALLOWED_PRAGMAS.split(' ').any(|allowed| pragma_name.eq_ignore_ascii_case(allowed)) =>
        {
            Some(format!("PRAGMA {pragma_name} = {value}"))
        }
        // What is temporary belongs to the connection, and hides what has the same name in the database.
        AuthAction::Insert { table_name } | AuthAction::Delete { table_name }
            if in_temp && matches!(table_name, "sqlite_master" | "sqlite_temp_master") =>
        {
            Some("CREATE or DROP of a TEMP table, index, view or trigger".to_owned())
        }
        AuthAction::AlterTable { database_name: "temp", table_name } => Some(format!("ALTER TABLE temp.{table_name}")),
        _ => None,
    }
}
