//! An archive sent over a socket while it is made, saved at the other end and read back.
//!
//! `cargo run --release --example tcp_socket --features async`

use std::error::Error;
use std::path::Path;

use s_zip::{AsyncStreamingZipWriter, StreamingZipReader};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

const ENTRIES: u32 = 20;
const LINES: u32 = 5_000;

/// Saves what the first to connect sends.
async fn save(listener: TcpListener, path: &Path) -> std::io::Result<u64> {
    let (mut socket, _) = listener.accept().await?;
    let mut file = File::create(path).await?;
    let bytes = tokio::io::copy(&mut socket, &mut file).await?;
    file.flush().await?;
    Ok(bytes)
}

/// Sends an archive that never exists as a whole on this side.
async fn send(mut socket: TcpStream) -> Result<(), Box<dyn Error>> {
    let mut writer = AsyncStreamingZipWriter::from_writer(&mut socket);
    for entry in 0..ENTRIES {
        writer.start_entry(&format!("log/{entry:02}.txt")).await?;
        for line in 0..LINES {
            writer.write_data(format!("entry {entry}, line {line}\n").as_bytes()).await?;
        }
    }
    writer.finish().await?;
    // finish() leaves the socket open: it is the caller's, who may have more to say.
    socket.shutdown().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("received.zip");
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;

    let saving = tokio::spawn({
        let path = path.clone();
        async move { save(listener, &path).await }
    });
    send(TcpStream::connect(address).await?).await?;
    let received = saving.await??;

    let summary = StreamingZipReader::open(&path)?.test()?;
    println!("{received} bytes over {address} hold {} files of {} bytes", summary.files, summary.bytes);
    if summary.files != u64::from(ENTRIES) {
        return Err("entries are missing".into());
    }
    Ok(())
}
