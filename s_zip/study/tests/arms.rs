//! Every arm writes the same content, in as many operations as its description says.
#![cfg(feature = "study")]

use std::time::Duration;

use s_zip::study::arms::input::{Input, Shape};
use s_zip::study::arms::{Arm, Drive, Driver, execute};
use s_zip::study::data::Kind;
use s_zip::study::target::{Archive, Content, Target};
use s_zip::study::{RunRequest, run};

fn write(arm: Arm, shape: &Shape, target: &Target) -> (Content, s_zip::study::sinks::Operations) {
    let input = Input::new(shape, 1);
    let driver = Driver::new(arm).expect("a runtime starts");
    let product = execute(arm, &input, target, &driver).unwrap_or_else(|error| panic!("{}: {error}", arm.name()));
    let content = product.archive.check(&input).unwrap_or_else(|error| panic!("{}: {error}", arm.name()));
    (content, product.operations)
}

const SHAPES: [Shape; 4] = [
    Shape::entries(Kind::Log, 10_000, 7),
    Shape::entry(Kind::Pattern, 300_000),
    Shape::calls(Kind::Csv, 70_000, 1_000),
    Shape::calls(Kind::Random, 200_000, 64 * 1024),
];

#[test]
fn all_arms_write_the_same_content_to_memory_files_and_pipes() {
    let folder = tempfile::tempdir().expect("a folder");
    for shape in &SHAPES {
        let expected = write(Arm::BestSync, shape, &Target::Memory).0.digest;
        for arm in Arm::ALL {
            for target in [Target::Memory, Target::File(folder.path().join("a.zip")), Target::Pipe, Target::Ends] {
                let waits = matches!(target, Target::File(_) | Target::Pipe);
                if waits && arm.drive() == Drive::Loop {
                    let refused = execute(arm, &Input::new(shape, 1), &target, &Driver::new(arm).expect("no runtime"));
                    assert!(refused.is_err());
                    continue;
                }
                assert_eq!(write(arm, shape, &target).0.digest, expected, "{} {shape:?} {target:?}", arm.name());
            }
        }
        assert_eq!(write(Arm::BestAsync, shape, &Target::Slow(Duration::ZERO)).0.digest, expected);
    }
}

#[test]
fn the_published_shape_takes_33_writes_and_a_seek_per_entry_and_8_and_2_more() {
    for entries in [1, 3, 50] {
        let shape = Shape::entries(Kind::Pattern, 10 * 1024, entries);
        for arm in [Arm::Sync, Arm::Async, Arm::AsyncCurrentThread, Arm::SyncReused, Arm::AsyncStatic, Arm::PollOnly] {
            let operations = write(arm, &shape, &Target::Memory).1;
            assert_eq!(operations.writes, 33 * entries + 8, "{}", arm.name());
            assert_eq!(operations.seeks, entries + 2, "{}", arm.name());
        }
    }
}

#[test]
fn buffered_arms_and_ours_write_fifty_small_entries_at_once() {
    let shape = Shape::entries(Kind::Pattern, 10 * 1024, 50);
    for arm in [Arm::SyncBuffered, Arm::AsyncBuffered, Arm::BestSync, Arm::BestAsync, Arm::BestAsyncOffload] {
        let operations = write(arm, &shape, &Target::Memory).1;
        assert_eq!((operations.writes, operations.seeks), (1, 0), "{}", arm.name());
    }
}

#[test]
fn our_writers_make_the_same_bytes_under_every_policy() {
    for shape in &SHAPES {
        let input = Input::new(shape, 2);
        let bytes = |arm: Arm| {
            let product =
                execute(arm, &input, &Target::Memory, &Driver::new(arm).expect("a runtime")).expect("written");
            match product.archive {
                Archive::Memory(bytes) => bytes,
                other => panic!("{other:?}"),
            }
        };
        let sync = bytes(Arm::BestSync);
        for arm in [Arm::BestAsync, Arm::BestAsyncInPlace, Arm::BestAsyncOffload] {
            assert!(bytes(arm) == sync, "{} {shape:?}", arm.name());
        }
    }
}

#[test]
fn an_archive_with_other_content_is_a_wrong_answer() {
    let input = Input::new(&SHAPES[0], 1);
    let other = Input::new(&SHAPES[0], 2);
    let product =
        execute(Arm::Sync, &input, &Target::Memory, &Driver::new(Arm::Sync).expect("no runtime")).expect("written");
    let error = product.archive.check(&other).expect_err("the CRCs differ");
    assert!(error.contains("CRC"), "{error}");
}

fn request(scenario: &str, arm: &str, versus: Option<&str>) -> RunRequest {
    RunRequest {
        scenario: scenario.to_owned(),
        arm: arm.to_owned(),
        versus: versus.map(str::to_owned),
        seed: 0,
        block: 0,
        run: "test".to_owned(),
    }
}

#[test]
fn a_duet_records_twenty_pairs_and_a_single_run_its_counters() {
    let record = run(&request("memory_100k", "sync", Some("async"))).expect("a known case");
    assert!(record.succeeded());
    let json = serde_json::to_value(&record).expect("a record is JSON");
    assert_eq!(json["pairs"].as_array().map(Vec::len), Some(20));
    let record = run(&request("calls_1", "async@aa", None)).expect("a known case");
    assert!(record.succeeded());
    let json = serde_json::to_value(&record).expect("a record is JSON");
    assert_eq!(json["metrics"]["sink_writes_count"], 41.0);
    assert_eq!(json["arm"], "async@aa");
}

#[test]
fn names_that_mean_nothing_are_errors_that_list_the_choices() {
    for (scenario, arm, versus, part) in [
        ("entry", "sync", None, "entry_5m"),
        ("calls_1", "sink", None, "best_async_offload"),
        ("calls_1", "sync@fast", None, "aa, slow"),
        ("many_10", "sync", None, "async_concurrent"),
        ("ticker", "idle", Some("async"), "does not run"),
        ("hostile", "sync", None, "does not run"),
    ] {
        let error = run(&request(scenario, arm, versus)).expect_err("a name is wrong").to_string();
        assert!(error.contains(part), "{error}");
    }
}
