//! Names of entries: what a ZIP file may call its content so that unpacking it stays inside one folder.

/// Why a name is refused, when writing and when extracting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameFault {
    /// Nothing, or only slashes.
    #[error("it is empty")]
    Empty,
    /// More bytes than the format's 16-bit length can say.
    #[error("it is longer than 65,535 bytes")]
    TooLong,
    /// It starts with a slash.
    #[error("it is absolute: remove the leading slash")]
    Absolute,
    /// It starts with a letter and a colon, which names a drive on Windows.
    #[error("it starts with a drive letter")]
    Drive,
    /// One of its parts is `..`.
    #[error("it leaves its folder with '..'")]
    ParentFolder,
    /// One of its parts is empty or `.`.
    #[error("it has an empty part or '.'")]
    EmptyPart,
    /// It holds a NUL byte.
    #[error("it holds a NUL byte")]
    Nul,
    /// It holds a backslash, which separates folders on Windows.
    #[error("it holds a backslash: use / between folders")]
    Backslash,
}

/// Longest name in bytes.
pub const MAX_NAME_BYTES: usize = u16::MAX as usize;

/// Checks that `name`, a file's or (ending in a slash) a folder's, is safe to extract on every system.
///
/// # Errors
/// The first fault found.
pub fn check(name: &str) -> Result<(), NameFault> {
    let path = name.strip_suffix('/').unwrap_or(name);
    let bytes = path.as_bytes();
    if path.is_empty() {
        Err(NameFault::Empty)
    } else if name.len() > MAX_NAME_BYTES {
        Err(NameFault::TooLong)
    } else if bytes.contains(&0) {
        Err(NameFault::Nul)
    } else if bytes.contains(&b'\\') {
        Err(NameFault::Backslash)
    } else if bytes[0] == b'/' {
        Err(NameFault::Absolute)
    } else if bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        Err(NameFault::Drive)
    } else if path.split('/').any(|part| part == "..") {
        Err(NameFault::ParentFolder)
    } else if path.split('/').any(|part| part.is_empty() || part == ".") {
        Err(NameFault::EmptyPart)
    } else {
        Ok(())
    }
}

/// A name as errors show it: at most 100 characters.
pub(crate) fn shown(name: &str) -> String {
    const SHOWN: usize = 100;
    let mut shown: String = name.chars().take(SHOWN).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}
