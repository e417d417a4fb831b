//! Other programs read what the writers make: every layout, byte for byte.
//!
//! A program that is missing is skipped, but with CI=true it fails its test.

#[path = "../common/mod.rs"]
mod common;
mod layouts;
mod others;
mod programs;
mod umask;
mod validators;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use common::any::By;
use common::calls::Plan;
use common::{archive, oracle};

/// An archive in a file.
pub struct Archive {
    pub name: &'static str,
    pub plan: Plan,
    /// The sync writer, which makes what the async one makes, or the parallel one.
    pub by: By,
    pub path: String,
    pub bytes: Vec<u8>,
    /// What it says, proven by a writer that shares nothing with the crate.
    pub parsed: archive::Archive,
}

/// All layouts.
static ARCHIVES: LazyLock<Vec<Archive>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance");
    fs::create_dir_all(&folder).unwrap();
    let archive = |(name, by, plan): (&'static str, By, Plan)| {
        let bytes = by.write(plan.compression, &plan.calls(&plan.data(), 0));
        let path = folder.join(format!("{name}.zip"));
        // Another run may be reading the same file.
        let unfinished = folder.join(format!("{name}.{}", std::process::id()));
        fs::write(&unfinished, &bytes).unwrap();
        fs::rename(&unfinished, &path).unwrap();
        let (path, parsed) = (path.to_str().unwrap().to_owned(), archive::parse(&bytes));
        Archive { name, plan, by, path, bytes, parsed }
    };
    layouts::all().into_iter().map(archive).collect()
});

#[test]
fn every_layout_is_what_was_planned_from_every_writer() {
    for Archive { name, plan, by, bytes, parsed, .. } in ARCHIVES.iter() {
        let data = plan.data();
        if *by == By::Sync {
            oracle::check(plan, &data, parsed);
            for by in By::all() {
                assert!(by.write(plan.compression, &plan.calls(&data, 1)) == *bytes, "{name} differs under {by:?}");
            }
        } else {
            oracle::check_content(plan, &data, parsed);
        }
        assert_eq!(parsed.zip64, plan.items.len() >= 65_535, "{name}: ZIP64 records are there exactly from then on");
    }
}
