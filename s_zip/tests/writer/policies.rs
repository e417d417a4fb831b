//! What each policy needs of its surroundings.

use s_zip::{AsyncStreamingZipWriter, Compression, CompressionPolicy, EntryOptions, Error, StreamingZipWriter};
use tokio::runtime::Builder;

use crate::common::any::By;
use crate::common::awaited::{POLICIES, apply_async, run, threads};
use crate::common::calls::{Call, large_mixture, noise, small_mixture};

fn writer(policy: CompressionPolicy) -> AsyncStreamingZipWriter<Vec<u8>> {
    AsyncStreamingZipWriter::from_writer(Vec::new()).compression_policy(policy)
}

fn one_entry(data: &[u8]) -> Vec<u8> {
    By::Sync.write(Compression::default(), &[Call::Start("a".to_owned(), EntryOptions::new()), Call::Data(data)])
}

#[test]
fn a_call_that_lacked_threads_can_be_repeated_where_there_are_some() {
    let mut writer = writer(CompressionPolicy::BlockInPlace);
    let current = Builder::new_current_thread().build().unwrap();
    assert!(matches!(current.block_on(writer.start_entry("a")), Err(Error::NeedsThreads)));
    assert!(matches!(current.block_on(writer.add_directory("b")), Err(Error::NeedsThreads)));
    threads().block_on(async {
        writer.start_entry("a").await.unwrap();
    });
    assert!(matches!(current.block_on(writer.write_data(b"abc")), Err(Error::NeedsThreads)));
    let archive = threads().block_on(async {
        writer.write_data(b"abc").await.unwrap();
        writer.finish().await.unwrap()
    });
    assert!(archive == one_entry(b"abc"));
    let ending = current.block_on(self::writer(CompressionPolicy::BlockInPlace).finish());
    assert!(matches!(ending, Err(Error::NeedsThreads)));
}

#[test]
fn offloading_outside_a_runtime_is_an_error_of_every_call() {
    let mut writer = writer(CompressionPolicy::Offload);
    run(async {
        assert!(matches!(writer.start_entry("a").await, Err(Error::NeedsRuntime)));
        assert!(matches!(writer.add_directory("d").await, Err(Error::NeedsRuntime)));
        assert!(matches!(writer.write_data(b"abc").await, Err(Error::NeedsRuntime)));
        assert!(matches!(writer.flush().await, Err(Error::NeedsRuntime)));
        assert!(matches!(writer.finish().await, Err(Error::NeedsRuntime)));
    });
}

#[test]
fn data_that_lacked_a_runtime_is_not_written_twice() {
    let noise = noise(1_000_000, 2);
    let mut writer = writer(CompressionPolicy::Offload);
    let runtime = threads();
    runtime.block_on(writer.start_entry("a")).unwrap();
    run(async {
        assert!(matches!(writer.write_data(&noise).await, Err(Error::NeedsRuntime)));
    });
    let archive = runtime.block_on(async {
        writer.write_data(&noise).await.unwrap();
        writer.finish().await.unwrap()
    });
    assert!(archive == one_entry(&noise));
}

#[test]
fn a_policy_works_on_what_it_needs_no_more_of() {
    async fn mixture(policy: CompressionPolicy) -> Vec<u8> {
        let mut writer = writer(policy);
        for call in &small_mixture() {
            apply_async(&mut writer, call).await.unwrap();
        }
        writer.finish().await.unwrap()
    }

    let wanted = By::Sync.write(Compression::default(), &small_mixture());
    for policy in [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace] {
        assert!(run(mixture(policy)) == wanted, "{policy:?} without a runtime");
    }
    let runtime = Builder::new_current_thread().build().unwrap();
    for policy in [CompressionPolicy::Inline, CompressionPolicy::Offload] {
        assert!(runtime.block_on(mixture(policy)) == wanted, "{policy:?} on one thread");
    }
    let runtime = threads();
    for policy in POLICIES {
        assert!(runtime.block_on(runtime.spawn(mixture(policy))).unwrap() == wanted, "{policy:?} in a task");
    }
}

#[test]
fn a_policy_may_change_between_any_two_calls() {
    let runtime = threads();
    for calls in [small_mixture(), large_mixture()] {
        let wanted = By::Sync.write(Compression::default(), &calls);
        for (before, after) in POLICIES.into_iter().flat_map(|before| POLICIES.map(|after| (before, after))) {
            for change in 0..=calls.len() {
                let archive = runtime.block_on(async {
                    let mut writer = writer(before);
                    for call in &calls[..change] {
                        apply_async(&mut writer, call).await.unwrap();
                    }
                    writer = writer.compression_policy(after);
                    for call in &calls[change..] {
                        apply_async(&mut writer, call).await.unwrap();
                    }
                    writer.finish().await.unwrap()
                });
                assert!(archive == wanted, "{before:?}, from call {change} on {after:?}");
            }
        }
    }
}

/// The async one and its futures do, too, or they could not be spawned.
#[test]
fn writers_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    assert_send(&StreamingZipWriter::from_writer(Vec::new()));
    #[cfg(feature = "parallel")]
    assert_send(&s_zip::ParallelZipWriter::from_writer(Vec::new(), 6, None).unwrap());
}

#[test]
fn a_file_in_place_writes_what_it_is_given_and_refuses_the_runtime_that_it_would_stop() {
    let path = std::env::temp_dir().join(format!("s_zip-in-place-{}", std::process::id()));
    let write = async {
        use tokio::io::AsyncWriteExt;

        let mut file = s_zip::InPlaceFile::create(&path)?;
        file.write_all(b"abc").await?;
        file.flush().await
    };
    threads().block_on(write).expect("written");
    assert_eq!(std::fs::read(&path).expect("there"), b"abc");
    let current = Builder::new_current_thread().build().expect("a runtime");
    let error = current.block_on(async { s_zip::InPlaceFile::create(&path) }).expect_err("one thread is too few");
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    std::fs::remove_file(&path).expect("removed");
}
