//! Any writer behind one face: calls are made and waited for. And what every writer does when its sink fails.

#[cfg(feature = "async")]
use std::{
    pin::pin,
    sync::Arc,
    sync::mpsc::{SyncSender, sync_channel},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

#[cfg(feature = "async")]
use s_zip::{AsyncStreamingZipWriter, CompressionPolicy};
use s_zip::{EntryOptions, Error, Result, StreamingZipWriter, WriterOptions};
#[cfg(feature = "async")]
use tokio::runtime::{Builder, Runtime};

#[cfg(feature = "async")]
use super::calls::apply_async;
use super::calls::{Call, make};
use super::sinks::{Manner, Sink};

#[cfg(feature = "async")]
pub const POLICIES: [CompressionPolicy; 3] =
    [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace, CompressionPolicy::Offload];

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

    pub fn open(self, sink: &Sink, options: WriterOptions) -> Box<dyn AnyWriter> {
        let sink = sink.clone();
        match self {
            By::Sync => Box::new(StreamingZipWriter::from_writer_with_options(sink, options).unwrap()),
            #[cfg(feature = "async")]
            By::Async(policy) | By::AsyncWrite(policy) => {
                let writer = AsyncStreamingZipWriter::from_writer_with_options(sink, options).unwrap();
                let polled = matches!(self, By::AsyncWrite(_));
                Box::new(Awaited { writer: writer.compression_policy(policy), polled })
            }
            #[cfg(feature = "parallel")]
            By::Parallel => {
                let options = s_zip::ParallelOptions::new().jobs(std::num::NonZero::new(2).unwrap());
                Box::new(s_zip::ParallelZipWriter::from_writer(sink, options).unwrap())
            }
        }
    }

    /// The archive of `calls`.
    pub fn write(self, options: WriterOptions, calls: &[Call]) -> Vec<u8> {
        written(|sink| self.open(sink, options), calls)
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

#[cfg(feature = "async")]
pub struct Awaited {
    pub writer: AsyncStreamingZipWriter<Sink>,
    /// Whether it takes its data as `AsyncWrite`.
    pub polled: bool,
}

#[cfg(feature = "async")]
static RUNTIME: std::sync::LazyLock<Runtime> = std::sync::LazyLock::new(threads);

#[cfg(feature = "async")]
impl AnyWriter for Awaited {
    fn call(&mut self, call: &Call) -> Result<()> {
        match call {
            // Without data nobody would ask for anything.
            Call::Data(data) if self.polled && !data.is_empty() => {
                let written = RUNTIME.block_on(tokio::io::copy(&mut &**data, &mut self.writer));
                written.map(drop).map_err(|error| *error.into_inner().unwrap().downcast().unwrap())
            }
            _ => RUNTIME.block_on(apply_async(&mut self.writer, call)),
        }
    }

    fn end(self: Box<Self>) -> Result<()> {
        RUNTIME.block_on(self.writer.finish()).map(drop)
    }
}

#[cfg(feature = "async")]
pub fn threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap()
}

/// Rings for the thread that polls.
#[cfg(feature = "async")]
struct Bell(SyncSender<()>);

#[cfg(feature = "async")]
impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        // Once is enough.
        let _ = self.0.try_send(());
    }
}

/// Polls a future at most `polls` times, each after a wake-up, then drops it. `None`: it was not done by then.
#[cfg(feature = "async")]
pub fn poll_times<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let (bell, rings) = sync_channel(1);
    let waker = Waker::from(Arc::new(Bell(bell)));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    for poll in 0..polls {
        if poll > 0 {
            rings.recv_timeout(Duration::from_secs(20)).expect("a pending future wakes its task");
        }
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
    }
    None
}

/// Runs a future without a runtime.
#[cfg(feature = "async")]
pub fn run<T>(future: impl Future<Output = T>) -> T {
    poll_times(future, usize::MAX).unwrap()
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
    for call in calls {
        match writer.call(call) {
            Ok(()) => {}
            Err(Error::Sink(_)) => {
                let held = sink.len();
                assert_poisoned(writer);
                assert_eq!(sink.len(), held, "a poisoned writer writes nothing");
                return true;
            }
            Err(error) => panic!("{error}"),
        }
    }
    match writer.end() {
        Ok(()) => false,
        Err(Error::Sink(_)) => true,
        Err(error) => panic!("{error}"),
    }
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
