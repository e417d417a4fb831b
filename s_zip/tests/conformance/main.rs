//! Other programs read what the writers make: every layout, byte for byte.
//!
//! A program that is missing is skipped, but with CI=true it fails its test.

#[path = "../common/mod.rs"]
mod common;
mod layouts;
mod programs;
mod validators;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use common::any::By;
use layouts::Layout;
use s_zip::WriterOptions;

/// An archive in a file.
pub struct Archive {
    pub layout: Layout,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// All layouts.
static ARCHIVES: LazyLock<Vec<Archive>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance");
    fs::create_dir_all(&folder).unwrap();
    let archive = |layout: Layout| {
        let bytes = layout.by.write(WriterOptions::new(), &layout.calls());
        let path = folder.join(format!("{}.zip", layout.name));
        // Another run may be reading the same file.
        let unfinished = folder.join(format!("{}.{}", layout.name, std::process::id()));
        fs::write(&unfinished, &bytes).unwrap();
        fs::rename(&unfinished, &path).unwrap();
        Archive { layout, path, bytes }
    };
    layouts::all().into_iter().map(archive).collect()
});

#[test]
fn the_async_writer_makes_the_same_bytes_of_every_layout() {
    for archive in ARCHIVES.iter().filter(|archive| archive.layout.by == By::Sync) {
        // Without data all policies do the same.
        let policies = if archive.layout.entries.len() > validators::MOST_FILES { 1 } else { usize::MAX };
        for by in By::ALL.iter().skip(1).take(policies) {
            let bytes = by.write(WriterOptions::new(), &archive.layout.calls());
            assert!(bytes == archive.bytes, "{} differs under {by:?}", archive.layout.name);
        }
    }
}
