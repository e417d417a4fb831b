//! Where archives go: sinks that count what reaches them.

use std::io::{self, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncSeek, AsyncWrite};

/// Operations that reached a sink: for a file each is a system call, and for tokio's file a trip to the blocking pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operations {
    pub writes: u64,
    /// Questions for the position.
    pub seeks: u64,
}

/// A sink that counts. With `ASKS` it is the sink that is asked for the position; without, the count of bytes says it, so that a buffer need
/// not be emptied for the question.
#[derive(Debug)]
pub struct Counting<S, const ASKS: bool> {
    pub sink: S,
    pub operations: Operations,
    at: u64,
}

/// A sink that is asked for its position.
pub type Counted<S> = Counting<S, true>;
/// A sink whose position is known by counting.
pub type Tracked<S> = Counting<S, false>;

impl<S, const ASKS: bool> Counting<S, ASKS> {
    pub fn new(sink: S) -> Self {
        Counting { sink, operations: Operations::default(), at: 0 }
    }

    fn count(&mut self, written: &io::Result<usize>) {
        self.operations.writes += 1;
        self.at += *written.as_ref().unwrap_or(&0) as u64;
    }
}

impl<S: Write, const ASKS: bool> Write for Counting<S, ASKS> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.sink.write(bytes);
        self.count(&written);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<S: AsyncWrite + Unpin, const ASKS: bool> AsyncWrite for Counting<S, ASKS> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.sink).poll_write(context, bytes));
        self.count(&written);
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sink).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sink).poll_shutdown(context)
    }
}

impl<S: Seek> Seek for Counted<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.operations.seeks += 1;
        self.sink.seek(to)
    }
}

impl<S: AsyncSeek + Unpin> AsyncSeek for Counted<S> {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.operations.seeks += 1;
        Pin::new(&mut self.sink).start_seek(to)
    }

    fn poll_complete(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut self.sink).poll_complete(context)
    }
}

impl<S> Seek for Tracked<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if to == SeekFrom::Current(0) { Ok(self.at) } else { Err(io::ErrorKind::Unsupported.into()) }
    }
}

impl<S: Unpin> AsyncSeek for Tracked<S> {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.seek(to).map(drop)
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.at))
    }
}
