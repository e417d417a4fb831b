//! What each policy needs of its surroundings.

use s_zip::{AsyncStreamingZipWriter, CompressionPolicy, EntryOptions, Error, StreamingZipWriter, WriterOptions};
use tokio::runtime::Builder;

use crate::common::any::{POLICIES, threads};
use crate::common::calls::{Call, noise, small_buffer, small_mixture, write_async, write_sync};
use crate::common::sinks::{Manner, Sink};

/// Runs a future without any runtime.
fn without_runtime<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..1_000_000 {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("it never completes");
}

fn writer(policy: CompressionPolicy) -> AsyncStreamingZipWriter<Vec<u8>> {
    AsyncStreamingZipWriter::from_writer(Vec::new()).compression_policy(policy)
}

fn one_entry(data: &[u8]) -> Vec<u8> {
    write_sync(WriterOptions::new(), &[Call::Start("a".to_owned(), EntryOptions::new()), Call::Data(data)])
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
    without_runtime(async {
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
    without_runtime(async {
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
    let calls = small_mixture();
    let wanted = write_sync(small_buffer(), &calls);
    for policy in [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace] {
        assert!(without_runtime(write_async(small_buffer(), policy, &calls)) == wanted, "{policy:?}");
    }
    let runtime = Builder::new_current_thread().build().unwrap();
    for policy in [CompressionPolicy::Inline, CompressionPolicy::Offload] {
        assert!(runtime.block_on(write_async(small_buffer(), policy, &calls)) == wanted, "{policy:?}");
    }
}

#[test]
fn writers_and_their_futures_move_between_threads() {
    fn assert_send<T: Send>(_: &T) {}
    let sink = || Sink::new(Manner::GOOD);
    assert_send(&StreamingZipWriter::from_writer(sink()));
    let mut writer = AsyncStreamingZipWriter::from_writer(sink());
    assert_send(&writer);
    assert_send(&writer.start_entry("a"));
    assert_send(&writer.add_directory("a"));
    assert_send(&writer.write_data(b"a"));
    assert_send(&writer.flush());
    assert_send(&writer.finish());
    #[cfg(feature = "parallel")]
    assert_send(&s_zip::ParallelZipWriter::from_writer(sink(), s_zip::ParallelOptions::new()).unwrap());
}

#[test]
fn writing_in_a_spawned_task_gives_the_same_bytes() {
    let wanted = write_sync(small_buffer(), &small_mixture());
    for policy in POLICIES {
        let runtime = threads();
        let task = runtime.spawn(async move { write_async(small_buffer(), policy, &small_mixture()).await });
        assert!(runtime.block_on(task).unwrap() == wanted, "{policy:?}");
    }
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
