//! Futures of the async writer dropped at every await: the writer is poisoned, and the sink holds the start of the right archive.
#![cfg(feature = "async")]

mod common;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use common::any::{Awaited, POLICIES, threads};
use common::calls::{Call, apply_async, noise, small_buffer, write_sync};
use common::sinks::{Fault, Manner, Sink};
use s_zip::{AsyncStreamingZipWriter, Compression, CompressionPolicy, EntryOptions, Error};
use tokio::runtime::Builder;

type Writer = AsyncStreamingZipWriter<Sink>;

/// Wakes the test's thread.
struct Bell {
    thread: Thread,
    rung: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Bell {
    fn new() -> Arc<Self> {
        Arc::new(Bell { thread: thread::current(), rung: AtomicBool::new(false) })
    }

    fn wait(&self) {
        let start = Instant::now();
        while !self.rung.swap(false, Ordering::SeqCst) {
            assert!(start.elapsed() < Duration::from_secs(20), "a pending future wakes its task");
            thread::park_timeout(Duration::from_millis(100));
        }
    }
}

/// Polls a future at most `polls` times, each after a wake-up, then drops it. `None`: it was not done by then.
fn poll_times<T>(future: impl Future<Output = T>, polls: usize) -> Option<T> {
    let bell = Bell::new();
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    for poll in 0..polls {
        if poll > 0 {
            bell.wait();
        }
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
    }
    None
}

fn run<T>(future: impl Future<Output = T>) -> T {
    poll_times(future, usize::MAX).unwrap()
}

fn writer(sink: &Sink, policy: CompressionPolicy) -> Writer {
    AsyncStreamingZipWriter::from_writer_with_options(sink.clone(), small_buffer()).unwrap().compression_policy(policy)
}

/// Calls that each meet a sink with something to do, whatever the policy.
fn calls() -> Vec<Call<'static>> {
    let noise: &[u8] = noise(600_000, 4).leak();
    let stored = EntryOptions::new().compression(Compression::None);
    vec![
        Call::Start("deflated".to_owned(), EntryOptions::new().compression(Compression::Deflate(0))),
        Call::Data(&noise[..130_000]),
        Call::Directory("folder".to_owned(), EntryOptions::new()),
        Call::Start("stored".to_owned(), stored),
        Call::Data(noise),
        Call::Flush,
        Call::Start("last".to_owned(), EntryOptions::new()),
        Call::Data(b"small"),
        Call::Flush,
    ]
}

fn assert_poisoned(writer: Writer) {
    common::any::assert_poisoned(Box::new(Awaited(writer)));
}

/// Drops the future of call `index` after its `polls`-th poll (the call after the last is `finish`); says whether it was done before.
fn drop_at(
    calls: &[Call],
    wanted: &[u8],
    manner: Manner,
    policy: CompressionPolicy,
    index: usize,
    polls: usize,
) -> bool {
    let sink = Sink::new(manner);
    let mut writer = writer(&sink, policy);
    for call in &calls[..index] {
        run(apply_async(&mut writer, call)).unwrap();
    }
    let context = format!("{policy:?}, call {index}, {polls} polls");
    let done = if let Some(call) = calls.get(index) {
        let done = poll_times(apply_async(&mut writer, call), polls);
        let held = sink.len();
        if done.is_none() {
            assert_poisoned(writer);
        } else {
            drop(writer);
        }
        assert_eq!(sink.len(), held, "{context}: nothing is written after the drop");
        done.map(Result::unwrap).is_some()
    } else {
        poll_times(writer.finish(), polls).map(Result::unwrap).is_some()
    };
    assert!(wanted.starts_with(&sink.bytes()), "{context}: what is there is a prefix");
    assert_eq!(sink.holders(), 1, "{context}: nobody else holds the sink");
    done
}

fn drop_everywhere(policy: CompressionPolicy) {
    let runtime = threads();
    let _context = runtime.enter();
    let calls = calls();
    let wanted = write_sync(small_buffer(), &calls);
    let mut dropped = 0;
    for (pending_every, most) in [(2, 20_000), (2, usize::MAX), (3, 50_000)] {
        let manner = Manner { most, pending_every, ..Manner::GOOD };
        for index in 0..=calls.len() {
            let mut polls = 1;
            while !drop_at(&calls, &wanted, manner, policy, index, polls) {
                (polls, dropped) = (polls + 1, dropped + 1);
            }
        }
    }
    assert!(dropped > 40, "{policy:?}: only {dropped} futures were dropped");
    assert_eq!(runtime.metrics().num_alive_tasks(), 0, "{policy:?}");
}

#[test]
fn an_inline_future_may_be_dropped_at_every_await() {
    drop_everywhere(CompressionPolicy::Inline);
}

#[test]
fn a_block_in_place_future_may_be_dropped_at_every_await() {
    drop_everywhere(CompressionPolicy::BlockInPlace);
}

#[test]
fn an_offloaded_future_may_be_dropped_at_every_await() {
    drop_everywhere(CompressionPolicy::Offload);
}

#[test]
fn a_future_that_was_never_polled_changes_nothing() {
    let runtime = threads();
    let _context = runtime.enter();
    let calls = calls();
    let wanted = write_sync(small_buffer(), &calls);
    for policy in POLICIES {
        let sink = Sink::new(Manner::GOOD);
        let mut writer = writer(&sink, policy);
        for call in &calls {
            drop(writer.start_entry("never"));
            drop(writer.add_directory("never"));
            drop(writer.write_data(b"never"));
            drop(writer.flush());
            drop(apply_async(&mut writer, call));
            run(apply_async(&mut writer, call)).unwrap();
        }
        run(writer.finish()).unwrap();
        assert!(sink.bytes() == wanted, "{policy:?}");
    }
}

#[test]
fn a_writer_may_be_dropped_while_the_blocking_pool_has_its_data() {
    let runtime = threads();
    let context = runtime.enter();
    let noise = noise(600_000, 9);
    let sink = Sink::new(Manner::GOOD);
    for _ in 0..20 {
        let mut writer = writer(&sink, CompressionPolicy::Offload);
        run(writer.start_entry("a")).unwrap();
        assert!(poll_times(writer.write_data(&noise), 1).is_none(), "the pool is at work");
        drop(writer);
    }
    assert_eq!(sink.holders(), 1);
    assert!(sink.bytes().is_empty());
    drop(context);
    // Waits for the pool; a job that never ended would hang here.
    drop(runtime);
}

#[test]
fn a_runtime_that_ends_under_an_offloading_writer_is_an_error() {
    let sink = Sink::new(Manner::GOOD);
    let mut writer = writer(&sink, CompressionPolicy::Offload);
    let other = Builder::new_current_thread().build().unwrap();
    let handle = other.handle().clone();
    drop(other);
    let _context = handle.enter();
    run(writer.start_entry("a")).unwrap();
    assert!(matches!(run(writer.flush()), Err(Error::Workers(_))));
    assert_poisoned(writer);
}

#[test]
fn a_future_dropped_at_a_sink_that_takes_nothing_more_poisons() {
    /// Returns when the sink has been full for a while.
    async fn full(sink: &Sink, limit: usize) {
        while sink.len() < limit {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let (calls, runtime) = (calls(), threads());
    let wanted = write_sync(small_buffer(), &calls);
    for policy in POLICIES {
        for limit in [0, 100_000, wanted.len() - 1] {
            let sink = Sink::new(Manner { limit, fault: Fault::Never, ..Manner::GOOD });
            let mut writer = writer(&sink, policy);
            let all = async {
                for call in &calls {
                    apply_async(&mut writer, call).await.unwrap();
                }
            };
            // The last bytes are the directory, which only finish() writes.
            let written = runtime.block_on(async {
                tokio::select! {
                    () = all => true,
                    () = full(&sink, limit) => false,
                }
            });
            if written {
                let finished = runtime.block_on(async {
                    tokio::select! {
                        _ = writer.finish() => true,
                        () = full(&sink, limit) => false,
                    }
                });
                assert!(!finished, "{policy:?}");
            } else {
                assert_poisoned(writer);
            }
            assert!(sink.bytes() == wanted[..limit], "{policy:?}");
        }
    }
}
