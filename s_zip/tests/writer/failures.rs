//! Sinks that fail after any number of bytes.

use std::io::{self, Write};

#[cfg(feature = "async")]
use s_zip::{
    AsyncStreamingZipWriter,
    CompressionPolicy::{BlockInPlace, Offload},
};
use s_zip::{Compression, ConcurrentZipWriter, EntryOptions, Error, StreamingZipWriter};

use crate::common::any::{By, assert_poisoned, fail_everywhere};
#[cfg(feature = "async")]
use crate::common::awaited::{POLICIES, threads};
use crate::common::calls::{Call, large_mixture, noise, small_mixture};
use crate::common::sinks::{Manner, Sink};

/// Every kind of fault and write.
const MANNERS: [Manner; 6] = [
    Manner::GOOD,
    Manner { most: 1, ..Manner::GOOD },
    Manner { most: 3, pause_every: 2, ..Manner::GOOD },
    Manner { most: 100, pause_every: 2, ..Manner::GOOD },
    Manner { takes_nothing: true, ..Manner::GOOD },
    Manner { takes_nothing: true, most: 5000, ..Manner::GOOD },
];

fn every_writer_fails(calls: &[Call], manners: &[Manner], step: impl Fn(By) -> usize) {
    let wanted = By::Sync.write(Compression::default(), calls);
    for by in By::all() {
        let limits: Vec<usize> = (0..wanted.len()).step_by(step(by)).collect();
        fail_everywhere(|sink| by.open(sink, Compression::default()), (calls, &wanted), manners, &limits);
    }
}

#[test]
fn a_sink_may_fail_at_every_byte_of_a_small_archive() {
    let calls = small_mixture();
    let len = By::Sync.write(Compression::default(), &calls).len();
    assert!((1000..4000).contains(&len), "{len}");
    every_writer_fails(&calls, &MANNERS, |by| match by {
        #[cfg(feature = "async")]
        By::Async(BlockInPlace | Offload) | By::AsyncWrite(_) => 7,
        _ => 1,
    });
}

#[test]
fn a_sink_may_fail_anywhere_in_a_large_archive() {
    every_writer_fails(&large_mixture(), &MANNERS[2..], |by| if by == By::Sync { 50_021 } else { 100_043 });
}

#[test]
fn a_failing_flush_of_the_sink_poisons() {
    for by in By::every() {
        let sink = Sink::new(Manner { flush_fails: true, ..Manner::GOOD });
        let start = Call::Start("a".to_owned(), EntryOptions::new());
        let mut writer = by.open(&sink, Compression::default());
        writer.call(&start).unwrap();
        if !by.is_uniform() {
            assert!(matches!(writer.call(&Call::Flush), Err(Error::Sink(_))), "{by:?}");
            assert_poisoned(writer);
        }
        let mut writer = by.open(&sink, Compression::default());
        writer.call(&start).unwrap();
        assert!(matches!(writer.end(), Err(Error::Sink(_))), "{by:?}: finish() flushes the sink, too");
    }
}

#[test]
fn the_writer_is_a_write_whose_errors_name_their_cause() {
    let sink = Sink::new(Manner { limit: 5000, ..Manner::GOOD });
    let mut writer = StreamingZipWriter::from_writer(sink);
    let error = writer.write_all(b"too early").unwrap_err();
    assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::NoEntry)), "{error}");
    writer.start_entry("copied").unwrap();
    assert_eq!(io::copy(&mut [7; 4000].as_slice(), &mut writer).unwrap(), 4000);
    Write::flush(&mut writer).unwrap();
    writer.start_entry("stored").unwrap();
    let noise = noise(300_000, 1);
    let error = io::copy(&mut noise.as_slice(), &mut writer).unwrap_err();
    assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::Sink(_))), "{error}");
    let error = Write::flush(&mut writer).unwrap_err();
    assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::Poisoned)), "{error}");
}

#[test]
fn whoever_copies_to_an_entry_learns_of_what_kind_the_failure_was() {
    let noise = noise(2_000_000, 1);
    let sink = || Sink::new(Manner { limit: 5000, ..Manner::GOOD });
    let copied = |mut entry: Box<dyn Write>| io::copy(&mut noise.as_slice(), &mut entry).map_err(|error| error.kind());
    let mut writer = StreamingZipWriter::from_writer(sink());
    writer.start_entry("a").unwrap();
    assert_eq!(copied(Box::new(writer)), Err(io::ErrorKind::StorageFull));
    let writer = ConcurrentZipWriter::from_writer(sink());
    assert_eq!(copied(Box::new(writer.start_entry("a").unwrap())), Err(io::ErrorKind::StorageFull));
    #[cfg(feature = "parallel")]
    {
        let writer = s_zip::ParallelZipWriter::from_writer(sink(), 1, std::num::NonZero::new(2)).unwrap();
        let mut writer = writer.budget_bytes(1);
        writer.start_entry("a").unwrap();
        assert_eq!(copied(Box::new(writer)), Err(io::ErrorKind::StorageFull));
    }
    #[cfg(feature = "async")]
    for policy in POLICIES {
        let mut writer = AsyncStreamingZipWriter::from_writer(sink()).compression_policy(policy);
        let copied = threads().block_on(async {
            writer.start_entry("a").await.unwrap();
            tokio::io::copy(&mut noise.as_slice(), &mut writer).await.map_err(|error| error.kind())
        });
        assert_eq!(copied, Err(io::ErrorKind::StorageFull), "{policy:?}");
    }
}
