//! The published comparisons of the sync and the async writer: one entry of several sizes, 50 small entries, and in memory.
//!
//! `cargo bench --bench async_bench --features async`: a look at one machine, not a verdict.

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use s_zip::{AsyncStreamingZipWriter, StreamingZipWriter};
use tempfile::TempDir;
use tokio::io::AsyncWrite;
use tokio::runtime::Runtime;

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog. ";

/// Entries that all have the same data, each given in one call.
struct Work {
    entries: usize,
    data: Vec<u8>,
}

fn work(entries: usize, bytes: usize) -> Work {
    Work { entries, data: SENTENCE.iter().copied().cycle().take(bytes).collect() }
}

fn write_sync<W: Write>(work: &Work, mut writer: StreamingZipWriter<W>) -> s_zip::Result<W> {
    for index in 0..work.entries {
        writer.start_entry(&format!("file_{index}.txt"))?;
        writer.write_data(&work.data)?;
    }
    writer.finish()
}

async fn write_async<W: AsyncWrite + Unpin>(work: &Work, mut writer: AsyncStreamingZipWriter<W>) -> s_zip::Result<W> {
    for index in 0..work.entries {
        writer.start_entry(&format!("file_{index}.txt")).await?;
        writer.write_data(&work.data).await?;
    }
    writer.finish().await
}

/// Sync and async writers to sinks of one kind, which `sync` and `run_async` open.
fn compare<W: Write, A: AsyncWrite + Unpin>(
    criterion: &mut Criterion,
    (name, parameter, work): (&str, &str, &Work),
    sync: impl Fn() -> s_zip::Result<StreamingZipWriter<W>>,
    run_async: impl AsyncFn() -> s_zip::Result<AsyncStreamingZipWriter<A>>,
) {
    let runtime = Runtime::new().expect("a runtime");
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes((work.entries * work.data.len()) as u64));
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

fn compare_all(criterion: &mut Criterion) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("bench.zip");
    for (name, parameter, work) in [
        ("single_entry", "10KB", work(1, 10 << 10)),
        ("single_entry", "100KB", work(1, 100 << 10)),
        ("single_entry", "1MB", work(1, 1 << 20)),
        ("single_entry", "5MB", work(1, 5 << 20)),
        ("many_entries", "50x10KB", work(50, 10 << 10)),
    ] {
        let open = async || AsyncStreamingZipWriter::new(&path).await;
        compare(criterion, (name, parameter, &work), || StreamingZipWriter::new(&path), open);
    }
    let open = async || Ok(AsyncStreamingZipWriter::from_writer(Vec::new()));
    let in_memory = ("in_memory", "100KB", &work(1, 100 << 10));
    compare(criterion, in_memory, || Ok(StreamingZipWriter::from_writer(Vec::new())), open);
}

criterion_group! {
    name = benches;
    // Few and short samples: the whole bench takes about a minute.
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1200));
    targets = compare_all
}
criterion_main!(benches);
