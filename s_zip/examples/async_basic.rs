//! An archive of a few KB with three entries, and the memory that this took.
//!
//! `cargo run --release --example async_basic --features async [ARCHIVE]`

use std::error::Error;
use std::path::PathBuf;

use s_zip::{AsyncStreamingZipWriter, EntryOptions, StreamingZipReader};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = std::env::args_os().nth(1).map_or_else(|| folder.path().join("basic.zip"), PathBuf::from);

    let mut writer = AsyncStreamingZipWriter::new(&path).await?;
    writer.start_entry("hello.txt").await?;
    writer.write_data(b"Hello from an async writer!\n").await?;

    // The default is a moment in 1980, so that the same calls give the same bytes.
    let now = EntryOptions::new().modified(std::time::SystemTime::now());
    writer.start_entry_with_options("data/numbers.csv", now).await?;
    for number in 0..500_u32 {
        writer.write_data(format!("{number},{}\n", number * number).as_bytes()).await?;
    }

    writer.start_entry_with_options("run.sh", EntryOptions::new().unix_mode(0o755).comment("run me")).await?;
    writer.write_data(b"#!/bin/sh\necho done\n").await?;

    writer.set_comment("three entries")?;
    writer.finish().await?;

    let mut reader = StreamingZipReader::open(&path)?;
    let tested = reader.test()?;
    for entry in reader.entries() {
        println!("{:>8} bytes in {:>6}: {}", entry.uncompressed, entry.compressed, entry.name);
    }
    println!("{}: {} files read back, {} bytes", path.display(), tested.files, tested.bytes);
    let peak = procfs::process::Process::myself().and_then(|own| own.status())?.vmhwm;
    println!("peak memory: {} KiB, most of which is the runtime's", peak.unwrap_or_default());
    Ok(())
}
