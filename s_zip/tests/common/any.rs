//! Any writer behind one face: calls are made and waited for. And what every writer does when its sink fails.

#[cfg(feature = "async")]
use s_zip::{AsyncStreamingZipWriter, CompressionPolicy};
use s_zip::{Compression, EntryOptions, Error, Result, StreamingZipWriter};

#[cfg(feature = "async")]
use super::awaited::{Awaited, POLICIES};
use super::calls::{Call, make};
use super::sinks::{Manner, Sink};

/// A writer to a [`Sink`].
pub trait AnyWriter {
    fn call(&mut self, call: &Call) -> Result<()>;
    fn end(self: Box<Self>) -> Result<()>;
}

/// Which writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Sync,
    #[cfg(feature = "async")]
    Async(CompressionPolicy),
    /// The same, given its data as tokio's `AsyncWrite`.
    #[cfg(feature = "async")]
    AsyncWrite(CompressionPolicy),
    /// With two threads.
    #[cfg(feature = "parallel")]
    Parallel,
}

impl By {
    /// The writers that make the same bytes, under every policy.
    pub fn all() -> Vec<By> {
        #[cfg(feature = "async")]
        let awaited = POLICIES.into_iter().flat_map(|policy| [By::Async(policy), By::AsyncWrite(policy)]);
        #[cfg(not(feature = "async"))]
        let awaited = [];
        [By::Sync].into_iter().chain(awaited).collect()
    }

    /// All of those, and the parallel one.
    pub fn every() -> Vec<By> {
        let parallel: &[By] = &[
            #[cfg(feature = "parallel")]
            By::Parallel,
        ];
        [&By::all(), parallel].concat()
    }

    /// Whether it has one compression for all entries, and no flush.
    pub fn is_uniform(self) -> bool {
        !By::all().contains(&self)
    }

    pub fn open(self, sink: &Sink, compression: Compression) -> Box<dyn AnyWriter> {
        let sink = sink.clone();
        match self {
            By::Sync => Box::new(StreamingZipWriter::from_writer_with_compression(sink, compression).unwrap()),
            #[cfg(feature = "async")]
            By::Async(policy) | By::AsyncWrite(policy) => {
                let writer = AsyncStreamingZipWriter::from_writer_with_compression(sink, compression).unwrap();
                let polled = matches!(self, By::AsyncWrite(_));
                Box::new(Awaited { writer: writer.compression_policy(policy), polled })
            }
            #[cfg(feature = "parallel")]
            By::Parallel => {
                Box::new(s_zip::ParallelZipWriter::from_writer(sink, 6, std::num::NonZero::new(2)).unwrap())
            }
        }
    }

    /// The archive of `calls`.
    pub fn write(self, compression: Compression, calls: &[Call]) -> Vec<u8> {
        written(|sink| self.open(sink, compression), calls)
    }
}

/// The archive that a writer makes of `calls`.
pub fn written(open: impl FnOnce(&Sink) -> Box<dyn AnyWriter>, calls: &[Call]) -> Vec<u8> {
    let sink = Sink::new(Manner::GOOD);
    let mut writer = open(&sink);
    for call in calls {
        writer.call(call).unwrap();
    }
    writer.end().unwrap();
    sink.bytes()
}

impl AnyWriter for StreamingZipWriter<Sink> {
    fn call(&mut self, call: &Call) -> Result<()> {
        make!(self, call, self.flush())
    }

    fn end(self: Box<Self>) -> Result<()> {
        self.finish().map(drop)
    }
}

#[cfg(feature = "parallel")]
impl AnyWriter for s_zip::ParallelZipWriter<Sink> {
    fn call(&mut self, call: &Call) -> Result<()> {
        // It has no flush; like one, this fails only if the writer is lost.
        make!(self, call, self.set_comment(""))
    }

    fn end(self: Box<Self>) -> Result<()> {
        self.finish().map(drop)
    }
}

pub fn assert_poisoned(mut writer: Box<dyn AnyWriter>) {
    let start = Call::Start("later".to_owned(), EntryOptions::new());
    let directory = Call::Directory("later".to_owned(), EntryOptions::new());
    let add = Call::Add("later".to_owned(), b"later", EntryOptions::new());
    for call in [start, directory, add, Call::Data(b"later"), Call::Data(b""), Call::Flush, Call::Comment("later")] {
        assert!(matches!(writer.call(&call), Err(Error::Poisoned)));
    }
    assert!(matches!(writer.end(), Err(Error::Poisoned)));
}

/// Makes the calls until one fails, which must be the sink's doing, and checks that nothing goes on after it.
fn write_until_failure(mut writer: Box<dyn AnyWriter>, sink: &Sink, calls: &[Call]) -> bool {
    if let Some(error) = calls.iter().find_map(|call| writer.call(call).err()) {
        assert!(matches!(error, Error::Sink(_)), "{error}");
        let held = sink.len();
        assert_poisoned(writer);
        assert_eq!(sink.len(), held, "a poisoned writer writes nothing");
        return true;
    }
    let end = writer.end();
    assert!(matches!(end, Ok(()) | Err(Error::Sink(_))), "{end:?}");
    end.is_err()
}

/// Has sinks of every manner fail at each of `limits`, and where the archive `wanted` just fits.
pub fn fail_everywhere(
    open: impl Fn(&Sink) -> Box<dyn AnyWriter>,
    (calls, wanted): (&[Call], &[u8]),
    manners: &[Manner],
    limits: &[usize],
) {
    for manner in manners {
        for &limit in limits {
            let sink = Sink::new(Manner { limit, ..*manner });
            assert!(write_until_failure(open(&sink), &sink, calls), "{limit} bytes are not enough");
            assert!(sink.bytes() == wanted[..limit], "what {manner:?} holds is a prefix");
        }
        let sink = Sink::new(Manner { limit: wanted.len(), ..*manner });
        assert!(!write_until_failure(open(&sink), &sink, calls), "{manner:?}");
        assert!(sink.bytes() == wanted);
    }
}
