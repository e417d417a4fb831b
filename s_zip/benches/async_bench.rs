//! The published comparisons of the sync and the async writer: one entry of several sizes, 50 small entries, and in memory.
//!
//! `cargo bench --bench async_bench --features async`: a look at one machine, not a verdict.

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use s_zip::{AsyncStreamingZipWriter, StreamingZipWriter};
use tempfile::TempDir;
use tokio::io::AsyncWrite;
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

fn write_sync<W: Write>(work: &Work, mut writer: StreamingZipWriter<W>) -> s_zip::Result<W> {
    for name in work.names() {
        writer.start_entry(&name)?;
        writer.write_data(&work.data)?;
    }
    writer.finish()
}

async fn write_async<W: AsyncWrite + Unpin>(work: &Work, mut writer: AsyncStreamingZipWriter<W>) -> s_zip::Result<W> {
    for name in work.names() {
        writer.start_entry(&name).await?;
        writer.write_data(&work.data).await?;
    }
    writer.finish().await
}

/// Sync and async writers to sinks of one kind, which `sync` and `run_async` open.
fn compare<W: Write, A: AsyncWrite + Unpin>(
    group: &mut BenchmarkGroup<WallTime>,
    (parameter, work): (&str, &Work),
    sync: impl Fn() -> s_zip::Result<StreamingZipWriter<W>>,
    run_async: impl AsyncFn() -> s_zip::Result<AsyncStreamingZipWriter<A>>,
) {
    let runtime = Runtime::new().expect("a runtime");
    group.throughput(work.throughput());
    group.bench_function(BenchmarkId::new("sync", parameter), |bencher| {
        bencher.iter(|| black_box(sync().and_then(|writer| write_sync(work, writer)).expect("the sink takes all")));
    });
    group.bench_function(BenchmarkId::new("async", parameter), |bencher| {
        bencher.iter(|| {
            let written = runtime.block_on(async { write_async(work, run_async().await?).await });
            black_box(written.expect("the sink takes all"))
        });
    });
}

fn to_file(criterion: &mut Criterion, name: &str, rows: &[(&str, Work)]) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("bench.zip");
    let mut group = criterion.benchmark_group(name);
    for (parameter, work) in rows {
        let open = async || AsyncStreamingZipWriter::new(&path).await;
        compare(&mut group, (parameter, work), || StreamingZipWriter::new(&path), open);
    }
    group.finish();
}

fn single_entry(criterion: &mut Criterion) {
    let sizes = [("10KB", 10 * KB), ("100KB", 100 * KB), ("1MB", KB * KB), ("5MB", 5 * KB * KB)];
    to_file(criterion, "single_entry", &sizes.map(|(parameter, bytes)| (parameter, Work::new(1, bytes))));
}

fn many_entries(criterion: &mut Criterion) {
    to_file(criterion, "many_entries", &[("50x10KB", Work::new(50, 10 * KB))]);
}

fn in_memory(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("in_memory");
    let open = async || Ok(AsyncStreamingZipWriter::from_writer(Vec::new()));
    let work = Work::new(1, 100 * KB);
    compare(&mut group, ("100KB", &work), || Ok(StreamingZipWriter::from_writer(Vec::new())), open);
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
