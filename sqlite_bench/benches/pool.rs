//! What the pool adds to SQLite: the trip to a reader thread and back, and the commit.

use criterion::{Criterion, criterion_group, criterion_main};
use rusqlite::Connection;
use sqlite_bench::pool::{Options, Pool};
use sqlite_bench::schema::{self, Block, SEED_BLOCKS};

fn database(folder: &tempfile::TempDir) -> (Connection, Pool) {
    let file = folder.path().join("bench.db");
    let connection = Connection::open(&file).unwrap();
    schema::create(&connection, 0).unwrap();
    connection.execute_batch(schema::JOIN_INDEX).unwrap();
    (connection, Pool::open_blocking(&file, &Options::default()).unwrap())
}

fn reads(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let (connection, pool) = database(&folder);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let mut group = criterion.benchmark_group("read");
    group.bench_function("connection", |bencher| bencher.iter(|| schema::read(&connection, 50).unwrap()));
    group.bench_function("pool", |bencher| {
        bencher.iter(|| pool.read_blocking(|connection| schema::read(connection, 50)).unwrap());
    });
    group.bench_function("pool_async", |bencher| {
        bencher.iter(|| runtime.block_on(pool.read(|connection| schema::read(connection, 50))).unwrap());
    });
    group.finish();
}

fn writes(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let (_, pool) = database(&folder);
    let mut number = SEED_BLOCKS;
    criterion.bench_function("write/pool", |bencher| {
        bencher.iter(|| {
            number += 1;
            let block = Block::written(number, 0);
            pool.write_blocking(move |connection| schema::insert(connection, block)).unwrap();
        });
    });
}

criterion_group!(benches, reads, writes);
criterion_main!(benches);
