//! The published "real-world" test: 5, 10 and 20 MB in entries of 1 MiB, sync and async, to a file.
//!
//! `cargo run --release --example perf_test --features async`

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use s_zip::{AsyncStreamingZipWriter, StreamingZipWriter};

const SENTENCE: &[u8] = b"The quick brown fox jumps over the lazy dog. ";
const ENTRY_BYTES: usize = 1 << 20;
const REPETITIONS: usize = 21;

fn write_sync(path: &Path, entries: usize, data: &[u8]) -> Result<Duration, s_zip::Error> {
    let start = Instant::now();
    let mut writer = StreamingZipWriter::new(path)?;
    for index in 0..entries {
        writer.start_entry(&format!("file_{index}.txt"))?;
        writer.write_data(data)?;
    }
    writer.finish()?;
    Ok(start.elapsed())
}

async fn write_async(path: &Path, entries: usize, data: &[u8]) -> Result<Duration, s_zip::Error> {
    let start = Instant::now();
    let mut writer = AsyncStreamingZipWriter::new(path).await?;
    for index in 0..entries {
        writer.start_entry(&format!("file_{index}.txt")).await?;
        writer.write_data(data).await?;
    }
    writer.finish().await?;
    Ok(start.elapsed())
}

fn median_s(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (sync_path, async_path) = (folder.path().join("sync.zip"), folder.path().join("async.zip"));
    let data: Vec<u8> = SENTENCE.iter().copied().cycle().take(ENTRY_BYTES).collect();
    println!("   MB    sync ms    async ms   sync MB/s   async MB/s  overhead");
    for entries in [5_usize, 10, 20] {
        let (mut sync_times, mut async_times) = (Vec::new(), Vec::new());
        for _ in 0..=REPETITIONS {
            sync_times.push(write_sync(&sync_path, entries, &data)?);
            async_times.push(write_async(&async_path, entries, &data).await?);
        }
        assert!(std::fs::read(&sync_path)? == std::fs::read(&async_path)?, "the writers made different archives");
        // The first time warms up the file system and the caches.
        let (sync_s, async_s) = (median_s(&mut sync_times[1..]), median_s(&mut async_times[1..]));
        let megabytes = f64::from(u32::try_from(entries * ENTRY_BYTES)?) / 1e6;
        println!(
            "{entries:>5}  {:>9.2}  {:>10.2}  {:>10.0}  {:>11.0}  {:>+7.1}%",
            sync_s * 1e3,
            async_s * 1e3,
            megabytes / sync_s,
            megabytes / async_s,
            (async_s / sync_s - 1.0) * 100.0,
        );
    }
    println!("Medians of {REPETITIONS} runs in one process, sync always first: a look, not a verdict.");
    Ok(())
}
