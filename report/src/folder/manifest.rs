//! SHA256SUMS: the manifest that makes a sealed folder tamper-evident.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, none};
use crate::files;

/// Name of the manifest.
pub const NAME: &str = "SHA256SUMS";

/// The sums of all files in `folder` but the manifest, by name.
///
/// # Errors
/// If the folder or a file cannot be read, or whatever in it is no regular file.
pub fn sums(folder: &Path) -> Result<BTreeMap<String, String>, Vec<Error>> {
    let mut sums = BTreeMap::new();
    for name in files::regular_files(folder)?.into_iter().filter(|name| name != NAME) {
        let path = folder.join(&name);
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        sums.insert(name, sum(&bytes));
    }
    Ok(sums)
}

/// The sum of a file with this content.
pub fn sum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// The manifest's text, as `sha256sum` writes it.
pub fn to_text(sums: &BTreeMap<String, String>) -> String {
    let line = |(name, sum): (&String, &String)| format!("{sum}  {name}\n");
    sums.iter().map(line).collect()
}

/// The sums that the manifest of `folder` lists, by name.
pub(crate) fn read(folder: &Path) -> Result<BTreeMap<String, String>, Error> {
    let file = folder.join(NAME);
    let mut sums = BTreeMap::new();
    for (index, line) in files::read(&file)?.lines().enumerate() {
        let entry = line.split_once("  ").filter(|(sum, _)| hex::decode(sum).is_ok_and(|sum| sum.len() == 32));
        let what = "this is not a SHA-256, two spaces and a name";
        let (sum, name) = entry.ok_or_else(|| Error::line(&file, index + 1, what))?;
        // Only one of two sums can be right, and sha256sum would complain of the other.
        if sums.insert(name.to_owned(), sum.to_owned()).is_some() {
            return Err(Error::line(&file, index + 1, format!("{name} stands twice")));
        }
    }
    Ok(sums)
}

/// Compares the manifest of `folder` with what stands there.
///
/// # Errors
/// Every difference, and what cannot be read.
pub(crate) fn verify(folder: &Path) -> Result<(), Vec<Error>> {
    let found = sums(folder)?;
    let listed = read(folder)?;
    let changed = listed.iter().filter_map(|(file, sum)| match found.get(file) {
        None => Some((file, "it is missing, SHA256SUMS lists it")),
        Some(other) => (other != sum).then_some((file, "it was changed after it was sealed (its SHA-256 differs)")),
    });
    let more =
        found.keys().filter(|file| !listed.contains_key(*file)).map(|file| (file, "SHA256SUMS does not list it"));
    none(changed.chain(more).map(|(file, what)| Error::file(folder.join(file), what)).collect())
}
