//! A small service on one SQLite file: requests write and read at once, a report takes its time, nobody waits for it.
//!
//! `cargo run --release --example pool [FILE]`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sqlite_bench::pool::{Error, Options, Pool};

const CLIENTS: i64 = 32;
const ORDERS: i64 = 200;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let file = std::env::args_os().nth(1).map_or_else(|| folder.path().join("shop.db"), PathBuf::from);
    let pool = Pool::open(&file, &Options::default()).await?;
    pool.write(|db| {
        db.execute_batch(
            "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, client INTEGER NOT NULL, sum INTEGER NOT NULL)",
        )
    })
    .await?;

    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(shop(pool.clone(), client))).collect();
    // A write that holds the database for half a second: the clients' writes wait for it, their reads do not.
    let slow = tokio::spawn({
        let pool = pool.clone();
        async move { pool.write(recount).await }
    });
    let mut slowest_read = Duration::ZERO;
    for client in clients {
        slowest_read = slowest_read.max(client.await??);
    }
    slow.await??;

    let stats = pool.stats();
    println!("{} writes in {:.2} s, in {} commits", stats.writes, start.elapsed().as_secs_f64(), stats.commits);
    println!("{} reads, the slowest {:.1} ms", stats.reads, slowest_read.as_secs_f64() * 1e3);
    pool.close().await?;
    Ok(())
}

/// One client: orders, and looks at its account after each.
async fn shop(pool: Pool, client: i64) -> Result<Duration, Error> {
    let mut slowest = Duration::ZERO;
    for order in 0..ORDERS {
        pool.write(move |db| {
            db.prepare_cached("INSERT INTO orders (client, sum) VALUES (?1, ?2)")?.execute([client, order])
        })
        .await?;
        let begin = Instant::now();
        let ordered: i64 = pool
            .read(move |db| {
                db.prepare_cached("SELECT COUNT(*) FROM orders WHERE client = ?1")?
                    .query_row([client], |row| row.get(0))
            })
            .await?;
        slowest = slowest.max(begin.elapsed());
        assert!(ordered > order, "a read after the answer to a write sees that write");
    }
    Ok(slowest)
}

fn recount(db: &Connection) -> rusqlite::Result<usize> {
    std::thread::sleep(Duration::from_millis(500));
    db.execute("UPDATE orders SET sum = sum + 1 WHERE client = 0", [])
}
