//! A file for async writers that makes no trips to the blocking pool.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// A file whose operations run where they are called, under [`tokio::task::block_in_place`], so that other tasks move on.
///
/// tokio's own file carries each operation to another thread and back, 10 to 50 us that a small archive feels. Needs the multi-thread runtime, and
/// panics inside a [`tokio::task::LocalSet`], as that function does.
///
/// ```no_run
/// use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, InPlaceFile};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let writer = AsyncStreamingZipWriter::from_writer(InPlaceFile::create("a.zip")?)?;
/// let mut writer = writer.compression_policy(CompressionPolicy::BlockInPlace);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct InPlaceFile {
    file: File,
}

impl InPlaceFile {
    /// Creates the file, or empties it.
    ///
    /// # Errors
    /// If it cannot be created, or on a current-thread runtime.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        in_place(|| File::create(path)).map(|file| InPlaceFile { file })
    }

    /// The file.
    #[must_use]
    pub fn into_std(self) -> File {
        self.file
    }
}

impl From<File> for InPlaceFile {
    fn from(file: File) -> Self {
        InPlaceFile { file }
    }
}

impl AsyncWrite for InPlaceFile {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(in_place(|| self.file.write(bytes)))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.file.flush())
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
        _ => block_in_place(work),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::runtime::Builder;

    #[test]
    fn it_writes_what_it_is_given_and_refuses_the_runtime_that_it_would_stop() {
        let path = std::env::temp_dir().join(format!("s_zip-in-place-{}", std::process::id()));
        let write = async {
            let mut file = InPlaceFile::create(&path)?;
            file.write_all(b"abc").await?;
            file.flush().await
        };
        let threads = Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        threads.block_on(write).expect("written");
        assert_eq!(std::fs::read(&path).expect("there"), b"abc");
        let current = Builder::new_current_thread().build().expect("a runtime");
        let error = current.block_on(async { InPlaceFile::create(&path) }).expect_err("one thread is too few");
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        std::fs::remove_file(&path).expect("removed");
    }
}
