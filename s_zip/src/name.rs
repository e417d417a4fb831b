//! Names of entries: what a ZIP file may call its content so that unpacking it stays inside one folder, and how names are shown.

use std::path::Path;

/// Why a name is refused, when writing and when extracting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than 4,096 bytes, which no system opens")]
    TooLong,
    #[error("a part of it is longer than 255 bytes, which no system holds")]
    LongPart,
    #[error("it is absolute: remove the leading slash")]
    Absolute,
    #[error("it starts with a drive letter")]
    Drive,
    #[error("it leaves its folder with '..'")]
    ParentFolder,
    #[error("it has an empty part or '.'")]
    EmptyPart,
    #[error("it holds a NUL byte")]
    Nul,
    #[error("it holds a backslash: use / between folders")]
    Backslash,
}

/// Longest name in bytes.
pub const MAX_NAME_BYTES: usize = 4096;
/// Longest part of a name, between slashes, in bytes.
pub const MAX_PART_BYTES: usize = 255;

/// Checks that `name`, a file's or (ending in a slash) a folder's, can be extracted and stays in its folder on every system, or gives the first
/// fault. What only Windows rejects passes.
pub fn check(name: &str) -> Result<(), NameFault> {
    let path = name.strip_suffix('/').unwrap_or(name);
    let bytes = path.as_bytes();
    let any_part = |is_bad: fn(&str) -> bool| path.split('/').any(is_bad);
    let faults = [
        (path.is_empty(), NameFault::Empty),
        (name.len() > MAX_NAME_BYTES, NameFault::TooLong),
        (bytes.contains(&0), NameFault::Nul),
        (bytes.contains(&b'\\'), NameFault::Backslash),
        (bytes.starts_with(b"/"), NameFault::Absolute),
        (matches!(bytes, [b'a'..=b'z' | b'A'..=b'Z', b':', ..]), NameFault::Drive),
        (any_part(|part| part == ".."), NameFault::ParentFolder),
        (any_part(|part| part.is_empty() || part == "."), NameFault::EmptyPart),
        (any_part(|part| part.len() > MAX_PART_BYTES), NameFault::LongPart),
    ];
    faults.into_iter().find(|(found, _)| *found).map_or(Ok(()), |(_, fault)| Err(fault))
}

/// How the reader names the folder that an archive is extracted to.
pub(crate) const ROOT: &str = "./";

/// The shortest name for the same place: without empty parts and `.`, and with a slash at the end exactly if it is a folder's. What is absolute
/// stays so. A file that ends in `.` keeps its name, which [`check`] refuses: some programs take that for a name, others for its folder.
pub(crate) fn normal(name: &str, folder: bool) -> String {
    let folder = folder || name.ends_with('/');
    if name.is_empty() || (!folder && name.rsplit('/').next() == Some(".")) {
        return name.to_owned();
    }
    let mut normal = String::with_capacity(name.len() + 2);
    if name.starts_with('/') {
        normal.push('/');
    }
    for part in name.split('/').filter(|part| !matches!(*part, "" | ".")) {
        normal.push_str(part);
        normal.push('/');
    }
    if matches!(normal.as_str(), "" | "/") {
        return ROOT.to_owned();
    }
    if !folder {
        normal.pop();
    }
    normal.shrink_to_fit();
    normal
}

/// A text with everything escaped that a terminal could take for a command, or show in another order. Quotes and backslashes stay, so
/// that what is escaped already does not change.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for piece in text.split_inclusive(['\'', '"', '\\']) {
        let plain = piece.trim_end_matches(['\'', '"', '\\']);
        safe.extend(plain.escape_debug());
        safe.push_str(&piece[plain.len()..]);
    }
    safe
}

/// A path as errors show it.
pub(crate) fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// A name as errors show it: at most 100 characters.
pub(crate) fn shown(name: &str) -> String {
    match name.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
