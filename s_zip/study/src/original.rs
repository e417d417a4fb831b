//! The authors' own crate, s-zip: as it was measured, and as it is today. It is only in builds with the compressor that it had, because beside
//! zlib-rs it would compress by that.

#[cfg(feature = "miniz")]
pub use with_miniz::{write_async, write_async_later, write_sync, write_sync_later};
#[cfg(not(feature = "miniz"))]
pub use without::{write_async, write_async as write_async_later, write_sync, write_sync as write_sync_later};

#[cfg(feature = "miniz")]
mod with_miniz {
    use std::io::{Seek, Write};

    use anyhow::Result;
    use tokio::io::{AsyncSeek, AsyncWrite};

    use crate::encoders::LEVEL;
    use crate::input::Input;
    use crate::own::write_entries;

    /// The sync writer of 0.4.0.
    pub fn write_sync<S: Write + Seek>(input: &Input, sink: S) -> Result<S> {
        write_entries!(input, published::StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?)
    }

    /// Its async writer.
    pub async fn write_async<S: AsyncWrite + AsyncSeek + Unpin>(input: &Input, sink: S) -> Result<S> {
        write_entries!(input, published::AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL), .await)
    }

    /// The sync writer of 0.15.0.
    pub fn write_sync_later<S: Write + Seek>(input: &Input, sink: S) -> Result<S> {
        write_entries!(input, published_later::StreamingZipWriter::from_writer_with_compression(sink, LEVEL)?)
    }

    /// Its async writer.
    pub async fn write_async_later<S: AsyncWrite + AsyncSeek + Unpin>(input: &Input, sink: S) -> Result<S> {
        write_entries!(input, published_later::AsyncStreamingZipWriter::from_writer_with_compression(sink, LEVEL), .await)
    }
}

#[cfg(not(feature = "miniz"))]
mod without {
    use std::future::{Ready, ready};

    use anyhow::{Result, bail};

    use crate::input::Input;

    /// Always an error.
    pub fn write_sync<S>(_: &Input, _: S) -> Result<S> {
        bail!("the published crate is only in builds with miniz")
    }

    /// Always an error.
    pub fn write_async<S>(input: &Input, sink: S) -> Ready<Result<S>> {
        ready(write_sync(input, sink))
    }
}
