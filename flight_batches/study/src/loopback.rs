//! What TCP alone does between two processes of this machine: the bound that every protocol on top of it meets.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The word of the study by which it starts this as a server.
pub const WORD: &str = "loopback";
const CHUNK_BYTES: usize = 1 << 20;

/// Sends bytes to whoever connects, with a thread per connection, for as long as standard input is open.
pub fn serve() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    writeln!(io::stdout(), "listening on {}", listener.local_addr()?)?;
    let chunk: Arc<[u8]> = vec![0x5a; CHUNK_BYTES].into();
    thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            // The reader leaving is the end.
            let chunk = Arc::clone(&chunk);
            thread::spawn(move || while socket.write_all(&chunk).is_ok() {});
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

/// Reads from so many connections at once; returns the bytes that arrived in the window, and its length.
pub fn measure(
    address: SocketAddr,
    connections: usize,
    warm_up: Duration,
    window: Duration,
) -> io::Result<(u64, Duration)> {
    let sockets = (0..connections).map(|_| TcpStream::connect(address)).collect::<io::Result<Vec<_>>>()?;
    let (bytes, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let read = |mut socket: TcpStream| {
        let mut chunk = vec![0; CHUNK_BYTES];
        while !stop.load(Ordering::Relaxed) {
            match socket.read(&mut chunk) {
                Ok(0) | Err(_) => return,
                Ok(read) => bytes.fetch_add(read as u64, Ordering::Relaxed),
            };
        }
    };
    Ok(thread::scope(|scope| {
        for socket in sockets {
            scope.spawn(move || read(socket));
        }
        thread::sleep(warm_up);
        let (begin, before) = (Instant::now(), bytes.load(Ordering::Relaxed));
        thread::sleep(window);
        let arrived = bytes.load(Ordering::Relaxed) - before;
        let elapsed = begin.elapsed();
        stop.store(true, Ordering::Relaxed);
        (arrived, elapsed)
    }))
}
