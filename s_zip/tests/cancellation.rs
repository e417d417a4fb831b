//! Futures of the async writer dropped at every await: the writer is poisoned, and the sink holds the start of the right archive.
#![cfg(feature = "async")]

mod common;

use common::any::By;
use common::awaited::{Awaited, POLICIES, apply_async, poll_times, run, threads};
use common::calls::{Call, large_mixture, noise};
use common::sinks::{Manner, Sink};
use s_zip::{AsyncStreamingZipWriter, Compression, CompressionPolicy, Error};
use tokio::runtime::Builder;

type Writer = AsyncStreamingZipWriter<Sink>;

fn writer(sink: &Sink, policy: CompressionPolicy) -> Writer {
    AsyncStreamingZipWriter::from_writer(sink.clone()).compression_policy(policy)
}

fn assert_poisoned(writer: Writer) {
    common::any::assert_poisoned(Box::new(Awaited { writer, polled: false }));
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

#[test]
fn a_future_may_be_dropped_at_every_await() {
    let runtime = threads();
    let _context = runtime.enter();
    let calls = large_mixture();
    let wanted = By::Sync.write(Compression::default(), &calls);
    for policy in POLICIES {
        let mut dropped = 0;
        for (pause_every, most) in [(2, 20_000), (2, usize::MAX), (3, 50_000)] {
            let manner = Manner { most, pause_every, ..Manner::GOOD };
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
}

#[test]
fn a_future_that_was_never_polled_changes_nothing() {
    let runtime = threads();
    let _context = runtime.enter();
    let calls = large_mixture();
    let wanted = By::Sync.write(Compression::default(), &calls);
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
