//! Each engine on 100,100 rows of the published and of the accepted shape, beside a bare csv scan: rows per second.

use std::fs;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tempfile::TempDir;
use txn_engine::generate::{self, Shape};
use txn_engine::{Session, Setup, process_files};

const ROWS: u64 = 100_100;

fn engines(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder for the files");
    for (name, shape) in [("original", Shape::Original), ("accepted", Shape::Accepted)] {
        let path = folder.path().join(format!("{name}.csv"));
        let mut bytes = Vec::new();
        generate::write(&shape, ROWS, 0, &mut bytes).expect("a vector takes all");
        fs::write(&path, bytes).expect("the file can be written");

        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(ROWS));
        group.bench_function("csv_scan", |bencher| {
            bencher.iter(|| {
                let mut reader = csv::Reader::from_path(&path).expect("the file is there");
                let mut record = csv::ByteRecord::new();
                let mut records = 0;
                while reader.read_byte_record(&mut record).expect("the file can be read") {
                    records += 1;
                }
                black_box(records)
            });
        });
        for (engine, setup) in Setup::NAMED {
            let paths = [path.clone()];
            group.bench_function(BenchmarkId::from_parameter(engine), |bencher| {
                bencher.iter(|| process_files(setup, &paths, Session::default()).expect("the file can be processed"));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
