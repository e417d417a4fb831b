//! runs.jsonl and memory.jsonl as they lie in a folder: plain while a measurement is under way, with `.gz` behind their names in a sealed round.

use std::fs::{self, File};
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

/// The text of the file `name` of `folder`.
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
    let text = unpack().map_err(|source| Error::io("unpack", &path, source))?;
    let is_bomb = text.len() as u64 > MOST_MIB << 20;
    if is_bomb { Err(Error::file(path, format!("it unpacks to over {MOST_MIB} MiB"))) } else { Ok(text) }
}

/// Writes the logs of `folder` compressed beside the plain ones. The same text gives the same bytes: there is neither a name nor a time in them.
pub(crate) fn pack(folder: &Path) -> Result<(), Error> {
    for plain in LOGS.map(|name| folder.join(name)).into_iter().filter(|plain| plain.exists()) {
        let compress = || {
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&fs::read(&plain)?)?;
            packed.finish()
        };
        let packed = compress().map_err(|source| Error::io("compress", &plain, source))?;
        write_whole(&plain.with_extension("jsonl.gz"), &packed)?;
    }
    Ok(())
}
