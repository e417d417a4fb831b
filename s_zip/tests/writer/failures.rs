//! Sinks that fail after any number of bytes.

use std::io::{self, Write};

use s_zip::{Error, StreamingZipWriter};

use crate::calls::{Call, apply, large_mixture, small_buffer, small_mixture, write_sync};
use crate::sinks::{Fault, Manner, Sink};

/// Writes to `sink` until a call fails, which must be the sink's doing, and checks that nothing goes on after it.
fn write_until_failure(sink: &Sink, calls: &[Call]) -> bool {
    let mut writer = StreamingZipWriter::from_writer_with_options(sink.clone(), small_buffer()).unwrap();
    for call in calls {
        match apply(&mut writer, call) {
            Ok(()) => {}
            Err(Error::Sink(_)) => {
                let held = sink.bytes();
                assert_poisoned(writer);
                assert!(sink.bytes() == held, "a poisoned writer writes nothing");
                return true;
            }
            Err(error) => panic!("{error}"),
        }
    }
    match writer.finish() {
        Ok(_) => false,
        Err(Error::Sink(_)) => true,
        Err(error) => panic!("{error}"),
    }
}

fn assert_poisoned<W: Write>(mut writer: StreamingZipWriter<W>) {
    assert!(matches!(writer.start_entry("later"), Err(Error::Poisoned)));
    assert!(matches!(writer.add_directory("later"), Err(Error::Poisoned)));
    assert!(matches!(writer.write_data(b"later"), Err(Error::Poisoned)));
    assert!(matches!(writer.write_data(b""), Err(Error::Poisoned)));
    assert!(matches!(writer.flush(), Err(Error::Poisoned)));
    assert!(matches!(writer.set_comment("later"), Err(Error::Poisoned)));
    assert!(matches!(writer.finish(), Err(Error::Poisoned)));
}

/// Every kind of fault and write at every `step`-th offset.
fn fail_everywhere(calls: &[Call], step: usize) {
    let wanted = write_sync(small_buffer(), calls);
    let manners = [
        Manner::GOOD,
        Manner { most: 1, ..Manner::GOOD },
        Manner { most: 3, interrupts: true, ..Manner::GOOD },
        Manner { fault: Fault::Zero, ..Manner::GOOD },
    ];
    for manner in manners {
        for limit in (0..wanted.len()).step_by(step) {
            let sink = Sink::new(Manner { limit, ..manner });
            assert!(write_until_failure(&sink, calls), "{limit} bytes are not enough");
            assert!(sink.bytes() == wanted[..limit], "what {manner:?} holds is a prefix");
        }
        let sink = Sink::new(Manner { limit: wanted.len(), ..manner });
        assert!(!write_until_failure(&sink, calls), "{manner:?}");
        assert!(sink.bytes() == wanted);
    }
}

#[test]
fn a_sink_may_fail_at_every_byte_of_a_small_archive() {
    let calls = small_mixture();
    let len = write_sync(small_buffer(), &calls).len();
    assert!((1000..4000).contains(&len), "{len}");
    fail_everywhere(&calls, 1);
}

#[test]
fn a_sink_may_fail_anywhere_in_a_large_archive() {
    fail_everywhere(&large_mixture(), 15_013);
}

#[test]
fn a_failing_flush_of_the_sink_poisons() {
    let sink = Sink::new(Manner { flush_fails: true, ..Manner::GOOD });
    let mut writer = StreamingZipWriter::from_writer(sink.clone()).unwrap();
    writer.start_entry("a").unwrap();
    assert!(matches!(writer.flush(), Err(Error::Sink(_))));
    assert_poisoned(writer);
    let mut writer = StreamingZipWriter::from_writer(sink).unwrap();
    writer.start_entry("a").unwrap();
    assert!(matches!(writer.finish(), Err(Error::Sink(_))), "finish() flushes the sink, too");
}

#[test]
fn the_writer_is_a_write_whose_errors_name_their_cause() {
    let sink = Sink::new(Manner { limit: 5000, ..Manner::GOOD });
    let mut writer = StreamingZipWriter::from_writer(sink).unwrap();
    let error = writer.write_all(b"too early").unwrap_err();
    assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::NoEntry)), "{error}");
    writer.start_entry("copied").unwrap();
    assert_eq!(io::copy(&mut [7; 4000].as_slice(), &mut writer).unwrap(), 4000);
    Write::flush(&mut writer).unwrap();
    writer.start_entry("stored").unwrap();
    let noise = crate::calls::Data { kind: crate::calls::Kind::Noise, len: 300_000, seed: 1 }.bytes();
    let error = io::copy(&mut noise.as_slice(), &mut writer).unwrap_err();
    assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::Sink(_))), "{error}");
    let error = Write::flush(&mut writer).unwrap_err();
    assert!(matches!(error.get_ref().unwrap().downcast_ref(), Some(Error::Poisoned)), "{error}");
}
