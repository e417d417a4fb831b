//! What a commit costs on disk, alone and in company: many tasks write at once, each waits for its own commit.

use std::num::NonZero;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::task::JoinSet;

use super::StudyError;
use super::bench::{own_folder, runtime};
use super::metrics::{self, Metrics, count, ms};
use super::usage::Span;
use crate::design::AccessError;
use crate::pool::{self, Options, Pool};
use crate::schema;
use study_kit::distribution::Distribution;
use study_kit::file_error;

/// Tasks that write at once.
const TASKS: i64 = 256;
/// Each task has numbers of its own, so far apart.
const NUMBERS: i64 = 1 << 32;
/// Worker threads of the runtime.
const WORKERS: usize = 4;

/// The smallest write there is, so that the commit is what costs.
const TABLE: &str = "CREATE TABLE entries (number INTEGER PRIMARY KEY)";
const INSERT: &str = "INSERT INTO entries (number) VALUES (?1)";

/// What was measured, or what the check found wrong.
pub type Checked = Result<Metrics, String>;

/// Lets 256 tasks write to one database in `folder` for `window`, with at most `batch` writes in a commit.
///
/// # Errors
/// If the database cannot be opened.
pub fn run(batch: NonZero<usize>, window: Duration, folder: &Path) -> Result<Checked, StudyError> {
    let folder = own_folder(folder)?;
    let file = folder.path().join("commits.db");
    let failed = |error: AccessError| file_error("use", &file, std::io::Error::other(error));
    let open = || -> Result<Pool, AccessError> {
        let pool = Pool::open(&file, &Options { batch, ..Options::default() })?;
        pool.write_blocking(|connection| connection.execute_batch(TABLE))?;
        Ok(pool)
    };
    let pool = open().map_err(failed)?;
    let runtime = runtime(WORKERS)?;
    let before = pool.stats();
    let span = Span::start();
    let start = Instant::now();
    let written = runtime.block_on(write_all(&pool, start, window));
    let cost = span.end();
    let (times, writes) = match written {
        Ok(written) => written,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let after = pool.stats();
    let check = |connection: &Connection| {
        let held: i64 = connection.query_row("SELECT COUNT(*) FROM entries", [], |row| row.get(0))?;
        Ok((held, schema::integrity(connection)?))
    };
    let (held, integrity) = pool.read_blocking(check).map_err(|error| failed(error.into()))?;
    if integrity != "ok" {
        return Ok(Err(format!("the database is damaged: {integrity}")));
    }
    if u64::try_from(held) != Ok(writes) {
        return Ok(Err(format!("{held} of {writes} acknowledged writes are in the database")));
    }
    let mut metrics = metrics::of_cost(&cost);
    let commits = after.commits - before.commits;
    metrics.insert("writes_count", count(writes));
    metrics.insert("writes_per_s", count(writes) / cost.wall.as_secs_f64());
    metrics.insert("write_us", cost.wall.as_secs_f64() * 1e6 / count(writes).max(1.0));
    metrics.insert("commits_count", count(commits));
    metrics.insert("writes_per_commit_ratio", count(writes) / count(commits).max(1.0));
    metrics.insert("write_p50_ms", ms(times.quantile(0.5)));
    metrics.insert("write_p99_ms", ms(times.quantile(0.99)));
    Ok(Ok(metrics))
}

/// All tasks; how long their writes took, and how many there were.
async fn write_all(pool: &Pool, start: Instant, window: Duration) -> Result<(Distribution, u64), pool::Error> {
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pool = pool.clone();
        tasks.spawn(async move {
            let mut times = Distribution::new();
            let mut number = task * NUMBERS;
            while start.elapsed() < window {
                let begin = Instant::now();
                pool.write(move |connection| connection.prepare_cached(INSERT)?.execute([number])).await?;
                times.record(begin.elapsed());
                number += 1;
            }
            Ok::<_, pool::Error>(times)
        });
    }
    let mut all = Distribution::new();
    while let Some(joined) = tasks.join_next().await {
        // A task that broke off has said why on its way out.
        if let Ok(times) = joined {
            all.add(&times?);
        }
    }
    let writes = all.count();
    Ok((all, writes))
}
