//! The async writer before sinks that fail, or are slow.

use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, Error};
use tokio::runtime::{Builder, Runtime};

use crate::calls::{Call, apply_async, large_mixture, small_buffer, small_mixture, write_sync};
use crate::sinks::{Fault, Manner, Sink};

pub const POLICIES: [CompressionPolicy; 3] =
    [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace, CompressionPolicy::Offload];

pub fn threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap()
}

/// As its sync twin.
async fn write_until_failure(sink: &Sink, policy: CompressionPolicy, calls: &[Call<'_>]) -> bool {
    let writer = AsyncStreamingZipWriter::from_writer_with_options(sink.clone(), small_buffer()).unwrap();
    let mut writer = writer.compression_policy(policy);
    for call in calls {
        match apply_async(&mut writer, call).await {
            Ok(()) => {}
            Err(Error::Sink(_)) => {
                let held = sink.len();
                assert_poisoned(writer).await;
                assert_eq!(sink.len(), held, "a poisoned writer writes nothing");
                return true;
            }
            Err(error) => panic!("{error}"),
        }
    }
    match writer.finish().await {
        Ok(_) => false,
        Err(Error::Sink(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

pub async fn assert_poisoned(mut writer: AsyncStreamingZipWriter<Sink>) {
    assert!(matches!(writer.start_entry("later").await, Err(Error::Poisoned)));
    assert!(matches!(writer.add_directory("later").await, Err(Error::Poisoned)));
    assert!(matches!(writer.write_data(b"later").await, Err(Error::Poisoned)));
    assert!(matches!(writer.write_data(b"").await, Err(Error::Poisoned)));
    assert!(matches!(writer.flush().await, Err(Error::Poisoned)));
    assert!(matches!(writer.set_comment("later"), Err(Error::Poisoned)));
    assert!(matches!(writer.finish().await, Err(Error::Poisoned)));
}

fn fail_everywhere(policy: CompressionPolicy, calls: &[Call], step: usize) {
    let wanted = write_sync(small_buffer(), calls);
    let manners = [
        Manner::GOOD,
        Manner { most: 100, pending_every: 2, ..Manner::GOOD },
        Manner { fault: Fault::Zero, most: 5000, ..Manner::GOOD },
    ];
    let runtime = threads();
    for manner in manners {
        for limit in (0..wanted.len()).step_by(step) {
            let sink = Sink::new(Manner { limit, ..manner });
            assert!(runtime.block_on(write_until_failure(&sink, policy, calls)), "{limit} bytes are not enough");
            assert!(sink.bytes() == wanted[..limit], "what {manner:?} holds is a prefix");
        }
        let sink = Sink::new(Manner { limit: wanted.len(), ..manner });
        assert!(!runtime.block_on(write_until_failure(&sink, policy, calls)), "{manner:?}");
        assert!(sink.bytes() == wanted);
    }
}

#[test]
fn an_async_sink_may_fail_at_every_byte_of_a_small_archive() {
    let calls = small_mixture();
    fail_everywhere(CompressionPolicy::Inline, &calls, 1);
    fail_everywhere(CompressionPolicy::BlockInPlace, &calls, 7);
    fail_everywhere(CompressionPolicy::Offload, &calls, 7);
}

#[test]
fn an_async_sink_may_fail_anywhere_in_a_large_archive() {
    for policy in POLICIES {
        fail_everywhere(policy, &large_mixture(), 30_011);
    }
}

#[test]
fn a_failing_flush_of_an_async_sink_poisons() {
    threads().block_on(async {
        for policy in POLICIES {
            let sink = Sink::new(Manner { flush_fails: true, ..Manner::GOOD });
            let writer = AsyncStreamingZipWriter::from_writer(sink.clone()).unwrap();
            let mut writer = writer.compression_policy(policy);
            writer.start_entry("a").await.unwrap();
            assert!(matches!(writer.flush().await, Err(Error::Sink(_))), "{policy:?}");
            assert_poisoned(writer).await;
            let mut writer = AsyncStreamingZipWriter::from_writer(sink).unwrap().compression_policy(policy);
            writer.start_entry("a").await.unwrap();
            assert!(matches!(writer.finish().await, Err(Error::Sink(_))), "{policy:?}");
        }
    });
}
