//! SHA256SUMS: the manifest that makes a sealed folder tamper-evident.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, none};
use crate::files;

pub const NAME: &str = "SHA256SUMS";

/// The sums of all files in `folder` but the manifest, by name; whatever in it is no regular file is an error.
pub fn sums(folder: &Path) -> Result<BTreeMap<String, String>, Vec<Error>> {
    let mut sums = BTreeMap::new();
    for name in files::regular_files(folder)?.into_iter().filter(|name| name != NAME) {
        let path = folder.join(&name);
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        sums.insert(name, sum(&bytes));
    }
    Ok(sums)
}

pub fn sum(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

pub fn to_text(sums: &BTreeMap<String, String>) -> String {
    let line = |(name, sum): (&String, &String)| format!("{sum}  {name}\n");
    sums.iter().map(line).collect()
}

/// Compares the manifest of `folder` with what stands there; the errors are every difference, and what cannot be read.
pub(crate) fn verify(folder: &Path) -> Result<(), Vec<Error>> {
    let (mut unlisted, file) = (sums(folder)?, folder.join(NAME));
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(files::read(&file)?.lines()) {
        let Some((sum, name)) = line.split_once("  ") else {
            return Err(Error::line(&file, number, "this is not a SHA-256, two spaces and a name").into());
        };
        let path = folder.join(name);
        findings.extend(match unlisted.remove(name) {
            Some(found) if found == sum => None,
            Some(_) => Some(Error::file(path, "it was changed after it was sealed (its SHA-256 differs)")),
            // Only one of two sums can be right, and sha256sum would complain of the other.
            None if path.exists() => Some(Error::line(&file, number, format!("{name} stands twice"))),
            None => Some(Error::file(path, "it is missing, SHA256SUMS lists it")),
        });
    }
    findings.extend(unlisted.keys().map(|name| Error::file(folder.join(name), "SHA256SUMS does not list it")));
    none(findings)
}
