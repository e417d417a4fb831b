//! The calls that the writers have in common: each is written and documented once, and awaited where the writer is async.
//!
//! A writer brings `from_parts`, which makes it of a sink and a core, `open`, which begins an entry, `add`, which adds a whole one, and `core`,
//! which gives the core if all is well.

/// Everything that makes a writer; behind the sink's bounds `async .await` if it is an async one.
macro_rules! constructors {
    ($writer:ident<W: $($bound:path),+> $(, $async:tt $dot:tt $wait:tt)?) => {
        impl $writer<File> {
            /// Creates the file `path`, or empties it, and writes with Deflate of level 6. Fails if it cannot be created.
            pub $($async)? fn new(path: impl AsRef<Path>) -> Result<Self> {
                Self::with_compression(path, Compression::default()) $($dot $wait)?
            }

            /// Like [`new`](Self::new) with another compression: a level of Deflate from 0 (none) to 9 (best), or a [`Compression`].
            /// Fails if the level is out of range or the file cannot be created.
            pub $($async)? fn with_compression(path: impl AsRef<Path>, compression: impl Into<Compression>) -> Result<Self> {
                let core = Core::new(compression.into())?;
                let path = path.as_ref();
                let fail = |source| Error::Create { path: crate::name::printable_path(path), source };
                Ok(Self::from_parts(File::create(path) $($dot $wait)? .map_err(fail)?, core))
            }
        }

        impl<W: $($bound +)+> $writer<W> {
            /// Writes to any sink of this kind with Deflate of level 6. The sink needs no buffer of its own.
            pub fn from_writer(sink: W) -> Self {
                Self::from_parts(sink, Core::default())
            }

            /// Like [`from_writer`](Self::from_writer) with another compression: a level of Deflate from 0 (none) to 9 (best), or a [`Compression`].
            /// Fails if the level is out of range.
            pub fn from_writer_with_compression(sink: W, compression: impl Into<Compression>) -> Result<Self> {
                Ok(Self::from_parts(sink, Core::new(compression.into())?))
            }
        }
    };
}

/// What begins an entry, files as `$kind`, adds a whole one, and the comment of the archive.
macro_rules! entry_calls {
    ($kind:expr $(, $async:tt $dot:tt $wait:tt)?) => {
        /// Opens an entry, closing the one before. Data follows by [`write_data`](Self::write_data).
        /// Fails if the name is empty, unsafe, too long or taken (nothing is written then), or the sink fails.
        pub $($async)? fn start_entry(&mut self, name: &str) -> Result<()> {
            self.start_entry_with_options(name, EntryOptions::new()) $($dot $wait)?
        }

        /// Like [`start_entry`](Self::start_entry) with options of its own. Fails if one is out of range, too.
        pub $($async)? fn start_entry_with_options(&mut self, name: &str, options: EntryOptions) -> Result<()> {
            self.open($kind, name, options) $($dot $wait)?
        }

        crate::calls::whole_entry_calls!(self, [&mut self] $(, $async $dot $wait)?);

        /// Sets the archive's comment of at most 65,535 bytes, written at its end.
        /// Fails if it is longer, or holds the signature of an end record.
        pub fn set_comment(&mut self, comment: impl Into<String>) -> Result<()> {
            self.core()?.set_comment(comment.into())
        }
    };
}

/// What adds a whole entry, for a writer that is called by `$receiver`.
macro_rules! whole_entry_calls {
    ($self:ident, [$($receiver:tt)+] $(, $async:tt $dot:tt $wait:tt)?) => {
        /// Adds an entry whose data is all here. Up to 4 MiB it has its sizes in its local header, and with the feature `libdeflate` that
        /// compressor, which is faster and makes less of most data, but cannot give way meanwhile (4 MiB: some 50 ms). More is compressed
        /// as it would be behind [`start_entry`](Self::start_entry). Fails as that.
        pub $($async)? fn add_entry($($receiver)+, name: &str, data: &[u8]) -> Result<()> {
            $self.add_entry_with_options(name, data, EntryOptions::new()) $($dot $wait)?
        }

        /// Like [`add_entry`](Self::add_entry) with options of its own. Fails if one is out of range, too.
        pub $($async)? fn add_entry_with_options($($receiver)+, name: &str, data: &[u8], options: EntryOptions) -> Result<()> {
            $self.add(name, data, options) $($dot $wait)?
        }

        /// Adds a directory. A slash at the end of the name may be left out. Fails as [`start_entry`](Self::start_entry).
        pub $($async)? fn add_directory($($receiver)+, name: &str) -> Result<()> {
            $self.add_directory_with_options(name, EntryOptions::new()) $($dot $wait)?
        }

        /// Like [`add_directory`](Self::add_directory) with options of its own. Fails if one is out of range, too.
        pub $($async)? fn add_directory_with_options($($receiver)+, name: &str, options: EntryOptions) -> Result<()> {
            $self.open(EntryKind::Directory, name, options) $($dot $wait)?
        }
    };
}

pub(crate) use {constructors, entry_calls, whole_entry_calls};
