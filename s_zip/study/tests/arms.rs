//! Every arm writes the same content, in as many operations as its description says.

use std::path::Path;
use std::sync::Arc;

use s_zip_study::cases::{Arm, Drive};
use s_zip_study::data::{DataKind, generate};
use s_zip_study::input::{Input, Shape};
use s_zip_study::place::{Content, Place};
use s_zip_study::sinks::Operations;
use s_zip_study::write::{Driver, Product, write};
use strum::VariantArray;

const SHAPES: [Shape; 4] = [
    Shape::entries(DataKind::Log, 10_000, 7),
    Shape::entries(DataKind::Pattern, 300_000, 1),
    Shape::calls(DataKind::Csv, 70_000, 1_000),
    Shape::calls(DataKind::Random, 200_000, 64 * 1024),
];

/// The arms that this build has.
fn arms() -> impl Iterator<Item = Arm> {
    let published = [Arm::OriginalSync, Arm::OriginalAsync, Arm::LaterSync, Arm::LaterAsync];
    Arm::VARIANTS.iter().copied().filter(move |arm| cfg!(feature = "miniz") || !published.contains(arm))
}

fn execute(arm: Arm, input: &Arc<Input>, place: Place, path: &Path) -> anyhow::Result<Product> {
    write(arm, input, place, path, &Driver::new(arm.drive())?)
}

fn written(arm: Arm, shape: &Shape, place: Place, path: &Path) -> (Content, Operations) {
    let input = Input::new(shape, 1);
    let product = execute(arm, &input, place, path).unwrap_or_else(|error| panic!("{arm:?}: {error:#}"));
    let content = product.archive.check(&input).unwrap_or_else(|error| panic!("{arm:?}: {error:#}"));
    (content, product.operations)
}

fn in_memory(arm: Arm, shape: &Shape) -> (Content, Operations) {
    written(arm, shape, Place::Memory, Path::new(""))
}

#[test]
fn all_arms_write_the_same_content_to_memory_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    for shape in &SHAPES {
        let expected = in_memory(Arm::BestSync, shape).0.digest;
        for arm in arms() {
            for place in [Place::Memory, Place::Tmpfs] {
                if place != Place::Memory && matches!(arm.drive(), Drive::Loop | Drive::Task) {
                    assert!(execute(arm, &Input::new(shape, 1), place, &path).is_err());
                    continue;
                }
                assert_eq!(written(arm, shape, place, &path).0.digest, expected, "{arm:?} {shape:?} {place:?}");
            }
        }
    }
}

#[test]
fn the_published_shape_takes_33_writes_and_a_seek_per_entry_and_8_and_2_more_and_buffered_arms_one() {
    for entries in [1, 3, 50] {
        let shape = Shape::entries(DataKind::Pattern, 10 * 1024, entries);
        for arm in arms() {
            let wanted = match arm {
                Arm::OriginalSync
                | Arm::OriginalAsync
                | Arm::Sync
                | Arm::Async
                | Arm::AsyncCurrentThread
                | Arm::SyncReused
                | Arm::AsyncStatic
                | Arm::Disguised
                | Arm::PollOnly
                | Arm::PollRuntime => (33 * entries + 8, entries + 2),
                Arm::SyncBuffered
                | Arm::AsyncBuffered
                | Arm::AsyncBufferedInPlace
                | Arm::BestSync
                | Arm::BestAsync
                | Arm::BestAsyncOffload => (1, 0),
                _ => continue,
            };
            let operations = in_memory(arm, &shape).1;
            assert_eq!((operations.writes, operations.seeks), wanted, "{arm:?}");
        }
    }
}

#[test]
fn an_archive_with_other_content_is_a_wrong_answer() {
    let product = execute(Arm::Sync, &Input::new(&SHAPES[0], 1), Place::Memory, Path::new("")).unwrap();
    let error = format!("{:#}", product.archive.check(&Input::new(&SHAPES[0], 2)).expect_err("the CRCs differ"));
    assert!(error.starts_with("wrong answer: ") && error.contains("CRC"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for kind in [DataKind::Pattern, DataKind::Log, DataKind::Csv, DataKind::Random] {
        let data = generate(kind, 10_000, 1);
        assert_eq!(data.len(), 10_000);
        assert_eq!(data, generate(kind, 10_000, 1));
        assert_ne!(data, generate(kind, 10_000, 2));
    }
}
