//! The published comparisons of the sync and the async writer: one entry of several sizes, 50 small entries, and in memory.
//!
//! `cargo bench --bench async_bench --features async`: a look at one machine, not a verdict.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use s_zip::{AsyncStreamingZipWriter, StreamingZipWriter};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog. ";
const KB: usize = 1024;

/// Entries that all have the same data, each given in one call.
struct Work {
    entries: usize,
    data: Vec<u8>,
}

impl Work {
    fn new(entries: usize, bytes: usize) -> Self {
        Work { entries, data: SENTENCE.iter().copied().cycle().take(bytes).collect() }
    }

    fn throughput(&self) -> Throughput {
        Throughput::Bytes((self.entries * self.data.len()) as u64)
    }

    fn names(&self) -> impl Iterator<Item = String> {
        (0..self.entries).map(|index| format!("file_{index}.txt"))
    }
}

fn write_sync<W: std::io::Write>(work: &Work, mut writer: StreamingZipWriter<W>) -> s_zip::Result<W> {
    for name in work.names() {
        writer.start_entry(&name)?;
        writer.write_data(&work.data)?;
    }
    writer.finish()
}

async fn write_async<W>(work: &Work, mut writer: AsyncStreamingZipWriter<W>) -> s_zip::Result<W>
where
    W: tokio::io::AsyncWrite + Unpin,
{
    for name in work.names() {
        writer.start_entry(&name).await?;
        writer.write_data(&work.data).await?;
    }
    writer.finish().await
}

fn to_file(group: &mut BenchmarkGroup<WallTime>, runtime: &Runtime, parameter: &str, work: &Work, folder: &Path) {
    let path = folder.join("bench.zip");
    group.throughput(work.throughput());
    group.bench_function(BenchmarkId::new("sync", parameter), |bencher| {
        bencher.iter(|| {
            let writer = StreamingZipWriter::new(&path).expect("the file can be made");
            write_sync(work, writer).expect("the file takes all")
        });
    });
    group.bench_function(BenchmarkId::new("async", parameter), |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let writer = AsyncStreamingZipWriter::new(&path).await.expect("the file can be made");
                write_async(work, writer).await.expect("the file takes all")
            })
        });
    });
}

fn single_entry(criterion: &mut Criterion) {
    let (folder, runtime) = (TempDir::new().expect("a folder"), Runtime::new().expect("a runtime"));
    let mut group = criterion.benchmark_group("single_entry");
    for (parameter, bytes) in [("10KB", 10 * KB), ("100KB", 100 * KB), ("1MB", KB * KB), ("5MB", 5 * KB * KB)] {
        to_file(&mut group, &runtime, parameter, &Work::new(1, bytes), folder.path());
    }
    group.finish();
}

fn many_entries(criterion: &mut Criterion) {
    let (folder, runtime) = (TempDir::new().expect("a folder"), Runtime::new().expect("a runtime"));
    let mut group = criterion.benchmark_group("many_entries");
    to_file(&mut group, &runtime, "50x10KB", &Work::new(50, 10 * KB), folder.path());
    group.finish();
}

fn in_memory(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let work = Work::new(1, 100 * KB);
    let mut group = criterion.benchmark_group("in_memory");
    group.throughput(work.throughput());
    group.bench_function("sync/100KB", |bencher| {
        bencher.iter(|| {
            let writer = StreamingZipWriter::from_writer(Vec::new()).expect("the options are valid");
            black_box(write_sync(&work, writer).expect("a vector takes all"))
        });
    });
    group.bench_function("async/100KB", |bencher| {
        bencher.iter(|| {
            let writer = AsyncStreamingZipWriter::from_writer(Vec::new()).expect("the options are valid");
            black_box(runtime.block_on(write_async(&work, writer)).expect("a vector takes all"))
        });
    });
    group.finish();
}

/// Few and short samples: the whole bench takes about a minute.
fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200))
}

criterion_group! {
    name = benches;
    config = short();
    targets = single_entry, many_entries, in_memory
}
criterion_main!(benches);
