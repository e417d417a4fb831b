//! Other programs read what the writers make: every layout, byte for byte.
//!
//! A program that is missing is skipped, but with CI=true it fails its test.

#[path = "conformance/layouts.rs"]
mod layouts;
#[path = "conformance/programs.rs"]
mod programs;
#[path = "conformance/validators.rs"]
mod validators;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use layouts::Layout;

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
        let bytes = layouts::write(&layout);
        let path = folder.join(format!("{}.zip", layout.name));
        // Another run may be reading the same file.
        let unfinished = folder.join(format!("{}.{}", layout.name, std::process::id()));
        fs::write(&unfinished, &bytes).unwrap();
        fs::rename(&unfinished, &path).unwrap();
        Archive { layout, path, bytes }
    };
    layouts::all().into_iter().map(archive).collect()
});

#[cfg(feature = "async")]
#[test]
fn the_async_writer_makes_the_same_bytes_of_every_layout() {
    use s_zip::CompressionPolicy;

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for archive in ARCHIVES.iter().filter(|archive| !archive.layout.parallel) {
        let policies = [CompressionPolicy::Inline, CompressionPolicy::BlockInPlace, CompressionPolicy::Offload];
        // Without data they are all the same.
        let count = if archive.layout.entries.len() > validators::MOST_FILES { 1 } else { policies.len() };
        for policy in &policies[..count] {
            let bytes = runtime.block_on(layouts::write_async(&archive.layout, *policy));
            assert!(bytes == archive.bytes, "{} differs under {policy:?}", archive.layout.name);
        }
    }
}
