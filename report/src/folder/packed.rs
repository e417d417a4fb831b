//! runs.jsonl and memory.jsonl as they lie in a folder: plain while a measurement is under way, with `.gz` behind their names in a sealed round.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::error::Error;
use crate::files::{self, write_whole};

/// The logs, in the order in which they may be removed: what is still to be measured follows from the last.
pub(crate) const LOGS: [&str; 2] = ["memory.jsonl", "runs.jsonl"];

/// What a log may unpack to: thirty times the longest so far.
const MOST_MIB: u64 = 256;

/// Where the file `name` of `folder` is: a plain one counts, even if an interruption left both.
pub(crate) fn place(folder: &Path, name: &str) -> PathBuf {
    let [plain, packed] = [folder.join(name), folder.join(format!("{name}.gz"))];
    if !plain.exists() && packed.exists() { packed } else { plain }
}

pub(crate) fn read(folder: &Path, name: &str) -> Result<String, Error> {
    let path = place(folder, name);
    if path.extension().is_none_or(|ending| ending != "gz") {
        return files::read(&path);
    }
    let unpack = || -> io::Result<String> {
        let mut text = String::new();
        MultiGzDecoder::new(File::open(&path)?).take((MOST_MIB << 20) + 1).read_to_string(&mut text)?;
        Ok(text)
    };
    no_bomb(unpack().map_err(|source| Error::io("unpack", &path, source))?, &path)
}

/// Writes the logs of `folder` compressed beside the plain ones. The same text gives the same bytes: there is neither a name nor a time in them.
pub(crate) fn pack(folder: &Path) -> Result<(), Error> {
    for plain in LOGS.map(|name| folder.join(name)).into_iter().filter(|plain| plain.exists()) {
        // Nobody could read a longer one again.
        let text = no_bomb(files::read(&plain)?, &plain)?;
        let compress = || {
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(text.as_bytes())?;
            packed.finish()
        };
        let packed = compress().map_err(|source| Error::io("compress", &plain, source))?;
        write_whole(&plain.with_extension("jsonl.gz"), &packed)?;
    }
    Ok(())
}

/// Removes the plain logs of `folder` once the compressed ones and all else that is in it have reached the disk.
pub(crate) fn drop_plain(folder: &Path) -> Result<(), Error> {
    for path in files::entries(folder)?.into_keys().map(|name| folder.join(name)).chain([folder.to_owned()]) {
        File::open(&path).and_then(|file| file.sync_all()).map_err(|source| Error::io("sync", &path, source))?;
    }
    LOGS.iter().try_for_each(|log| files::remove_if_there(&folder.join(log)))
}

fn no_bomb(text: String, path: &Path) -> Result<String, Error> {
    let is_bomb = text.len() as u64 > MOST_MIB << 20;
    if is_bomb { Err(Error::file(path, format!("its text has over {MOST_MIB} MiB"))) } else { Ok(text) }
}
