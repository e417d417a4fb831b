//! What TCP alone does between two processes of this machine: the bound that every protocol on top of it meets.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Written and read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Sends bytes to whoever connects, for as long as they are read, with a thread per connection. Returns only if listening fails.
///
/// # Errors
/// If no more connections can be accepted, or no thread be started.
pub fn serve(listener: &TcpListener) -> io::Result<()> {
    let chunk: Arc<[u8]> = vec![0x5a; CHUNK_BYTES].into();
    loop {
        let (mut socket, _) = listener.accept()?;
        let chunk = Arc::clone(&chunk);
        // The reader leaving is the end.
        thread::Builder::new().spawn(move || while socket.write_all(&chunk).is_ok() {})?;
    }
}

/// Reads from so many connections at once; returns the bytes that arrived in the window, and its length.
///
/// # Errors
/// If nobody listens there.
pub fn measure(
    address: SocketAddr,
    connections: usize,
    warm_up: Duration,
    window: Duration,
) -> io::Result<(u64, Duration)> {
    let (bytes, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let mut readers = Vec::with_capacity(connections);
    for _ in 0..connections {
        let mut socket = TcpStream::connect(address)?;
        let (bytes, stop) = (Arc::clone(&bytes), Arc::clone(&stop));
        readers.push(thread::spawn(move || {
            let mut chunk = vec![0; CHUNK_BYTES];
            while !stop.load(Ordering::Relaxed) {
                match socket.read(&mut chunk) {
                    Ok(0) | Err(_) => return,
                    Ok(read) => bytes.fetch_add(read as u64, Ordering::Relaxed),
                };
            }
        }));
    }
    thread::sleep(warm_up);
    let (begin, before) = (Instant::now(), bytes.load(Ordering::Relaxed));
    thread::sleep(window);
    let arrived = bytes.load(Ordering::Relaxed) - before;
    let elapsed = begin.elapsed();
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        let _ = reader.join();
    }
    Ok((arrived, elapsed))
}
