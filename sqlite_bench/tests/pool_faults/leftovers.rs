//! What a job could leave behind on its connection for the jobs that follow.

use std::sync::mpsc;
use std::time::Duration;

use rusqlite::Connection;
use sqlite_bench::pool::{Error, Pool};

use super::common::{ONE, behind, file, held_up, ids, insert, opened, options};

const MADE: &str = "CREATE or DROP of a TEMP table, index, view or trigger";

/// What changes the temporary objects of a connection, and how the error calls it.
const TEMPORARY: [(&str, &str); 20] = [
    ("CREATE TEMP TABLE entries (id INTEGER, value INTEGER)", MADE),
    ("CREATE TEMPORARY TABLE IF NOT EXISTS other AS SELECT 1", MADE),
    ("CREATE TABLE temp.entries (id INTEGER PRIMARY KEY)", MADE),
    ("create table TEMP.\"entries\" (id)", MADE),
    ("CREATE TEMP VIEW entries AS SELECT 1 AS id", MADE),
    ("CREATE VIEW temp.entries AS SELECT 1 AS id", MADE),
    ("CREATE TEMP TRIGGER swallow BEFORE INSERT ON main.entries BEGIN SELECT RAISE(IGNORE); END", MADE),
    ("CREATE TRIGGER temp.swallow BEFORE INSERT ON main.entries BEGIN SELECT RAISE(IGNORE); END", MADE),
    ("CREATE VIRTUAL TABLE temp.entries USING fts5(id)", MADE),
    ("CREATE INDEX temp.by_id ON kept (id)", MADE),
    ("CREATE INDEX temp.by_id ON kept (id DESC)", MADE),
    ("ALTER TABLE temp.kept RENAME TO entries", "ALTER TABLE temp.kept"),
    ("ALTER TABLE kept ADD COLUMN more", "ALTER TABLE temp.kept"),
    ("DROP TABLE kept", MADE),
    ("DROP TABLE temp.searched", MADE),
    ("DROP VIEW kept_view", MADE),
    ("DROP TRIGGER kept_trigger", MADE),
    ("DROP INDEX kept_index", MADE),
    ("ANALYZE temp", MADE),
    ("PRAGMA temp.user_version = 3", "PRAGMA user_version = 3"),
];

/// What every connection has from the start.
const KEPT: &str = "
    CREATE TEMP TABLE kept (id INTEGER);
    CREATE INDEX kept_index ON kept (id);
    CREATE VIRTUAL TABLE temp.searched USING fts5(id);
    CREATE TEMP VIEW kept_view AS SELECT id FROM kept;
    CREATE TEMP TRIGGER kept_trigger AFTER INSERT ON kept BEGIN SELECT 1; END;";

type Attempt = fn(&Pool, &'static str) -> Result<(), Error>;

fn temporary(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare("SELECT sql FROM sqlite_temp_schema WHERE sql IS NOT NULL ORDER BY 1")?
        .query_map([], |row| row.get(0))?
        .collect()
}

#[test]
fn a_temporary_table_view_or_trigger_is_denied_by_name_and_the_rows_of_the_next_job_arrive() {
    let (_folder, pool) = opened(&options().readers(ONE).on_open(|db| db.execute_batch(KEPT)));
    let before = [pool.write_blocking(temporary).unwrap(), pool.read_blocking(temporary).unwrap()];
    for (id, (statement, name)) in (0..).zip(TEMPORARY) {
        let tries: [Attempt; 3] = [
            |pool, statement| pool.write_blocking(move |db| db.execute_batch(statement)),
            // Twice, as what is compiled once and kept.
            |pool, statement| {
                let cached = |db: &Connection| db.prepare_cached(statement)?.raw_query().next().map(drop);
                pool.write_blocking(move |db| cached(db).or_else(|_| cached(db)))
            },
            |pool, statement| pool.read_blocking(move |db| db.execute_batch(statement)),
        ];
        for attempt in tries {
            let error = attempt(&pool, statement).expect_err(statement);
            assert!(matches!(&error, Error::Denied(denied) if denied == name), "{statement}: {error}");
        }
        // Nor if the job goes on.
        pool.write_blocking(move |db| {
            let _ = db.execute_batch(statement);
            Ok(())
        })
        .unwrap();
        pool.write_blocking(insert(id)).unwrap();
        assert!(pool.read_blocking(ids).unwrap().into_iter().eq(0..=id), "{statement}");
        let after = [pool.write_blocking(temporary).unwrap(), pool.read_blocking(temporary).unwrap()];
        assert_eq!(after, before, "{statement}");
    }
    let written = pool.read_blocking(|db| db.execute("INSERT INTO kept VALUES (1)", []));
    assert!(matches!(written, Err(Error::ReadOnly(_))), "{written:?}");
    // What is there from the start may be used, and the database's own objects may be made and dropped.
    pool.write_blocking(|db| {
        db.execute_batch("INSERT INTO kept VALUES (1); INSERT INTO searched VALUES ('one'); SELECT * FROM kept_view")?;
        db.execute_batch("CREATE TABLE own (id); CREATE INDEX own_index ON own (id); CREATE VIEW seen AS SELECT 1")?;
        db.execute_batch("ALTER TABLE own RENAME TO renamed; DROP VIEW seen; DROP TABLE renamed; ANALYZE")?;
        db.execute_batch("CREATE VIRTUAL TABLE own USING fts5(id); DROP TABLE own")
    })
    .unwrap();
}

#[test]
fn a_statement_that_was_kept_from_outside_of_a_job_is_judged_when_a_job_uses_it() {
    let on_open = |db: &Connection| {
        for statement in ["BEGIN", "ROLLBACK"] {
            db.prepare_cached(statement)?.execute([])?;
        }
        Ok(())
    };
    let (_folder, pool) = opened(&options().readers(ONE).on_open(on_open));
    // The others are the pool's own.
    for ending in ["ROLLBACK", "SAVEPOINT pool_job", "RELEASE pool_job", "ROLLBACK TO pool_job"] {
        let denied = pool.write_blocking(move |db| db.prepare_cached(ending)?.execute([]));
        assert!(matches!(&denied, Err(Error::Denied(_))), "{ending}: {denied:?}");
    }
}

#[test]
fn foreign_keys_that_a_job_defers_are_not_deferred_for_those_behind_it() {
    const CHILDREN: &str = "CREATE TABLE children (id INTEGER PRIMARY KEY, parent REFERENCES parents (id))";
    fn orphan(db: &Connection) -> rusqlite::Result<usize> {
        db.execute("INSERT INTO children (parent) VALUES (99)", [])
    }
    for fails in [false, true] {
        let (_folder, pool) = opened(&options());
        pool.write_blocking(|db| db.execute_batch(CHILDREN)).unwrap();
        let release = held_up(&pool);
        let deferring = behind(&pool, move |db| {
            db.execute_batch("PRAGMA Defer_Foreign_Keys = ON")?;
            orphan(db)?;
            db.execute("DELETE FROM children", [])?;
            if fails { Err(rusqlite::Error::InvalidQuery) } else { Ok(0) }
        });
        let (tell, told) = mpsc::channel();
        let next = behind(&pool, move |db| {
            let written = orphan(db);
            tell.send(written.is_err()).unwrap();
            written
        });
        drop(release);
        assert_eq!(deferring.join().unwrap().is_err(), fails);
        let error = next.join().unwrap().unwrap_err();
        assert!(told.recv().unwrap(), "the statement itself succeeded: {error}");
        assert!(matches!(error, Error::Sqlite(_)), "{error}");
    }
}

#[test]
fn a_job_cannot_make_sqlite_forget_the_orphan_of_another_job_of_its_commit() {
    for off in ["OFF", "0", "256", "full", "'no'"] {
        let (_folder, pool) = opened(&options());
        let release = held_up(&pool);
        let orphan = behind(&pool, |db| db.execute("INSERT INTO entries (id, parent) VALUES (3, 99)", []));
        let forgetting = behind(&pool, move |db| {
            db.execute_batch(&format!("PRAGMA defer_foreign_keys = {off}"))?;
            Ok(0)
        });
        drop(release);
        let (orphan, forgetting) = (orphan.join().unwrap(), forgetting.join().unwrap());
        assert!(matches!(forgetting, Err(Error::Denied(_))), "{off}: {forgetting:?}");
        assert!(matches!(orphan, Err(Error::Sqlite(_))), "{off}: {orphan:?}");
        let violations = |db: &Connection| db.prepare("PRAGMA foreign_key_check")?.exists([]);
        assert!(!pool.read_blocking(violations).unwrap(), "{off}");
    }
    // However it is written, it may be switched on.
    for on in ["1", "On", "'YES'", "true"] {
        let (_folder, pool) = opened(&options());
        pool.write_blocking(move |db| db.execute_batch(&format!("PRAGMA defer_foreign_keys = {on}"))).unwrap();
    }
}

#[test]
fn a_savepoint_that_a_job_leaves_open_ends_with_it() {
    let (_folder, pool) = opened(&options().readers(ONE));
    for _ in 0..3 {
        pool.write_blocking(|db| db.execute_batch("SAVEPOINT left; DELETE FROM entries")).unwrap();
        pool.read_blocking(|db| db.execute_batch("SAVEPOINT left; SELECT * FROM entries")).unwrap();
        pool.write_blocking(insert(1)).unwrap();
        assert_eq!(pool.read_blocking(ids).unwrap(), [1]);
        let released = pool.write_blocking(|db| db.execute_batch("RELEASE left"));
        assert!(released.unwrap_err().to_string().contains("no such savepoint"));
    }
}

#[test]
fn a_savepoint_that_the_first_job_of_a_commit_leaves_open_is_not_there_for_those_behind_it() {
    for ending in ["RELEASE left", "ROLLBACK TO left"] {
        let (_folder, pool) = opened(&options());
        // Compiled by the first, kept for those that follow.
        for id in [1, 2, 3] {
            let release = held_up(&pool);
            let leaving = behind(&pool, move |db| {
                db.prepare_cached("SAVEPOINT left")?.execute([])?;
                insert(id)(db)
            });
            let next = behind(&pool, move |db| db.prepare_cached(ending)?.execute([]));
            let good = behind(&pool, insert(-id));
            drop(release);
            leaving.join().unwrap().unwrap();
            assert!(next.join().unwrap().unwrap_err().to_string().contains("no such savepoint"), "{ending}");
            good.join().unwrap().unwrap();
        }
        assert_eq!(pool.read_blocking(ids).unwrap(), [-3, -2, -1, 1, 2, 3], "{ending}");
    }
}

#[test]
fn values_that_were_bound_to_a_kept_statement_are_gone() {
    const SELECT: &str = "SELECT ?1";
    let (_folder, pool) = opened(&options().readers(ONE));
    pool.read_blocking(|db| db.prepare_cached(SELECT)?.query_row(["secret"], |_| Ok(()))).unwrap();
    let left = |db: &Connection| {
        let mut statement = db.prepare_cached(SELECT)?;
        let mut rows = statement.raw_query();
        rows.next()?.map(|row| row.get::<_, Option<String>>(0)).transpose().map(Option::flatten)
    };
    assert_eq!(pool.read_blocking(left).unwrap(), None);
}

#[test]
fn what_a_job_sets_by_a_method_of_its_connection_stays_there_as_the_page_says_but_the_busy_timeout() {
    use rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY as KEYS;
    let (_folder, pool) = opened(&options().readers(ONE));
    let timeout = |db: &Connection| db.pragma_query_value(None, "busy_timeout", |row| row.get::<_, i64>(0));
    let before = pool.write_blocking(timeout).unwrap();
    pool.write_blocking(|db| {
        db.busy_timeout(Duration::from_millis(1))?;
        db.set_db_config(KEYS, false)
    })
    .unwrap();
    assert_eq!(pool.write_blocking(timeout).unwrap(), before);
    assert!(!pool.write_blocking(|db| db.db_config(KEYS)).unwrap());
    assert!(pool.read_blocking(|db| db.db_config(KEYS)).unwrap(), "every connection has its own");
}

#[test]
fn after_an_alter_table_a_row_has_the_columns_of_the_table_also_from_a_statement_that_was_kept() {
    /// The names and values of the only row, as the page says: the row is asked.
    fn columns(db: &Connection) -> rusqlite::Result<Vec<(String, i64)>> {
        db.prepare_cached("SELECT * FROM altered")?.query_row([], |row| {
            let names = row.as_ref().column_names();
            (0..).zip(names).map(|(column, name)| Ok((name.to_owned(), row.get(column)?))).collect()
        })
    }
    let (folder, pool) = opened(&options().readers(ONE));
    pool.write_blocking(|db| db.execute_batch("CREATE TABLE altered (a, b); INSERT INTO altered VALUES (1, 2)"))
        .unwrap();
    let other = Connection::open(file(&folder)).unwrap();
    for (alter, names) in [
        ("ADD COLUMN c DEFAULT 3", ["a", "b", "c"].as_slice()),
        ("RENAME COLUMN b TO x", &["a", "x", "c"]),
        ("DROP COLUMN x", &["a", "c"]),
    ] {
        let alter = format!("ALTER TABLE altered {alter}");
        // One by the pool, one by somebody else.
        if names.len() == 3 {
            pool.write_blocking(move |db| db.execute_batch(&alter)).unwrap();
        } else {
            other.execute_batch(&alter).unwrap();
        }
        for found in [pool.read_blocking(columns).unwrap(), pool.write_blocking(columns).unwrap()] {
            assert!(found.iter().map(|(name, _)| name).eq(names), "{found:?}");
            assert!(found.iter().all(|(name, value)| *value
                == if name == "a" {
                    1
                } else if name == "c" {
                    3
                } else {
                    2
                }));
        }
    }
}
