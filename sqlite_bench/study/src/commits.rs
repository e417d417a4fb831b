//! What a commit costs on disk, alone and in company: many tasks write at once, each waits for its own commit.

use std::num::NonZero;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rusqlite::Connection;
use sqlite_bench::driver::{Times, own_folder, runtime};
use sqlite_bench::pool::{self, Options, Pool};
use sqlite_bench::schema;
use study_kit::{Metrics, Span};
use tokio::task::JoinSet;

const TASKS: i64 = 256;
/// Each task has numbers of its own, so far apart.
const NUMBERS: i64 = 1 << 32;
const WORKERS: usize = 4;

/// The smallest write there is, so that the commit is what costs.
const TABLE: &str = "CREATE TABLE numbers (number INTEGER PRIMARY KEY)";
const INSERT: &str = "INSERT INTO numbers (number) VALUES (?1)";

/// Lets 256 tasks write to one database in `folder` for `window`, with at most `batch` writes in a commit.
pub fn run(batch: NonZero<usize>, window: Duration, folder: &Path) -> Result<Metrics> {
    let folder = own_folder(folder)?;
    let pool = Pool::open_blocking(folder.path().join("commits.db"), &Options::default().batch(batch))?;
    pool.write_blocking(|connection| connection.execute_batch(TABLE))?;
    let runtime = runtime(WORKERS)?;
    let before = pool.stats();
    let span = Span::start();
    let written = runtime.block_on(write_all(&pool, Instant::now(), window));
    let cost = span.end();
    let times = written?;
    let (writes, commits) = (times.count(), pool.stats().commits - before.commits);
    let check = |connection: &Connection| {
        let held: i64 = connection.query_row("SELECT COUNT(*) FROM numbers", [], |row| row.get(0))?;
        Ok((held, schema::integrity(connection)?))
    };
    let (held, integrity) = pool.read_blocking(check)?;
    pool.close_blocking()?;
    ensure!(integrity == "ok", "the database is damaged: {integrity}");
    ensure!(u64::try_from(held) == Ok(writes), "{held} of {writes} acknowledged writes are in the database");
    let (wall_s, writes, commits) = (cost.wall.as_secs_f64(), writes as f64, commits as f64);
    let mut metrics = cost.metrics();
    metrics.extend([
        ("writes_count", writes),
        ("writes_per_s", writes / wall_s),
        ("write_us", wall_s * 1e6 / writes.max(1.0)),
        ("commits_count", commits),
        ("writes_per_commit_ratio", writes / commits.max(1.0)),
    ]);
    metrics.put("write_p50_ms", times.quantile_ms(0.5));
    metrics.put("write_p99_ms", times.quantile_ms(0.99));
    Ok(metrics)
}

async fn write_all(pool: &Pool, start: Instant, window: Duration) -> Result<Times> {
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pool = pool.clone();
        tasks.spawn(async move {
            let mut times = Times::default();
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
    let mut all = Times::default();
    while let Some(joined) = tasks.join_next().await {
        all.add(&joined??);
    }
    Ok(all)
}
