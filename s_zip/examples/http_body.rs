//! An archive as the body of a response, sent while it is made: nothing is stored, and a slow client slows the writer down.
//!
//! `cargo run --release --example http_body --features async [ADDRESS]`: serves at ADDRESS until Ctrl-C, or without it fetches the
//! archive once from itself and checks it.

use std::error::Error;
use std::io::Cursor;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use axum::routing::get;
use s_zip::{AsyncStreamingZipWriter, StreamingZipReader};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::io::ReaderStream;

const ENTRIES: u32 = 10;
const ROWS: u32 = 20_000;

async fn write_archive(sink: impl AsyncWrite + Unpin) -> s_zip::Result<()> {
    let mut writer = AsyncStreamingZipWriter::from_writer(sink);
    for entry in 0..ENTRIES {
        writer.start_entry(&format!("report-{entry}.csv")).await?;
        for row in 0..ROWS {
            writer.write_data(format!("{row},{}\n", row * entry).as_bytes()).await?;
        }
    }
    writer.finish().await.map(drop)
}

async fn archive() -> impl IntoResponse {
    let (sink, source) = tokio::io::duplex(64 * 1024);
    // The body ends when the sink is dropped. An archive that is cut off has no end record: no reader takes it for a whole one.
    tokio::spawn(async move {
        if let Err(error) = write_archive(sink).await {
            eprintln!("the response ended early: {error}");
        }
    });
    let headers = [("content-type", "application/zip"), ("content-disposition", "attachment; filename=archive.zip")];
    (headers, Body::from_stream(ReaderStream::new(source)))
}

/// The body of a GET request in HTTP/1.0, which ends with the connection.
async fn fetch(address: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut socket = TcpStream::connect(address).await?;
    socket.write_all(b"GET /archive.zip HTTP/1.0\r\n\r\n").await?;
    let mut response = Vec::new();
    socket.read_to_end(&mut response).await?;
    let head = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("the response has no head")?;
    Ok(response.split_off(head + 4))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1);
    let listener = TcpListener::bind(wanted.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let address = listener.local_addr()?.to_string();
    let server = axum::serve(listener, Router::new().route("/archive.zip", get(archive)));
    if wanted.is_some() {
        println!("http://{address}/archive.zip until Ctrl-C");
        return Ok(server.with_graceful_shutdown(async { tokio::signal::ctrl_c().await.unwrap_or(()) }).await?);
    }
    tokio::spawn(async move { server.await });
    let body = fetch(&address).await?;
    let summary = StreamingZipReader::new(Cursor::new(&body))?.test()?;
    let (files, bytes) = (summary.files, summary.bytes);
    println!("{} bytes from http://{address}/archive.zip hold {files} files of {bytes} bytes", body.len());
    if files == u64::from(ENTRIES) { Ok(()) } else { Err("entries are missing".into()) }
}
