//! A streaming ZIP writer, sync and async from one core, and a reader that trusts nothing.
//!
//! Inside: `core` turns calls into bytes without input or output, with `encoder` for the methods, [`mod@format`] for the records, [`name`] and
//! [`time`] for what they hold. `cli` (feature `cli`) is the program.
#![cfg_attr(all(any(doc, doctest), feature = "async"), doc = include_str!("../README.md"))]

#[cfg(feature = "async")]
pub mod async_writer;
mod buffer;
mod calls;
#[cfg(feature = "cli")]
pub mod cli;
pub mod concurrent;
mod core;
mod encoder;
pub mod error;
pub mod format;
#[cfg(feature = "async")]
mod in_place;
pub mod name;
pub mod options;
#[cfg(feature = "parallel")]
pub mod parallel;
pub mod reader;
pub mod time;
pub mod writer;

#[cfg(feature = "async")]
pub use async_writer::{AsyncStreamingZipWriter, CompressionPolicy};
pub use concurrent::{ConcurrentZipWriter, EntryWriter};
pub use error::{Error, Result};
#[cfg(feature = "async")]
pub use in_place::InPlaceFile;
pub use name::NameFault;
pub use options::{Compression, EntryOptions};
#[cfg(feature = "parallel")]
pub use parallel::ParallelZipWriter;
pub use reader::{Entry, Limits, ReadError, ReadOptions, StreamingZipReader, Summary};
pub use writer::StreamingZipWriter;

#[cfg(all(feature = "extract", not(unix)))]
compile_error!("the features extract and cli are for Unix: leave them out by default-features = false");
