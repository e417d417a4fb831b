//! A file for tokio that makes no trips to the blocking pool.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task;

/// A file whose operations run where they are called, under [`tokio::task::block_in_place`], so that other tasks move on.
///
/// tokio's own file carries each operation to another thread and back, 10 to 50 us that a small archive feels. Needs the multi-thread runtime, and
/// panics inside a [`tokio::task::LocalSet`], as that function does. It goes with [`BlockInPlace`](crate::CompressionPolicy::BlockInPlace).
#[derive(Debug)]
pub struct InPlaceFile(pub File);

impl InPlaceFile {
    /// Creates the file, or empties it. Fails if it cannot be created, or on a current-thread runtime.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        in_place(|| File::create(path)).map(InPlaceFile)
    }
}

impl AsyncWrite for InPlaceFile {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(in_place(|| self.0.write(bytes)))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

fn in_place<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::CurrentThread) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a file in place needs tokio's multi-thread runtime: use tokio::fs::File here",
        )),
        _ => task::block_in_place(work),
    }
}
