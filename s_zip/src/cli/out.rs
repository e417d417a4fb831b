//! Where an archive goes: a file that appears only when it is complete, a device, or standard output.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, bail};
use tempfile::{Builder, TempPath};

use super::signals::{self, Cleanup};
use super::terminal::{check_stdout, complain};

/// A sink that was checked.
pub enum Out {
    /// Standard output, a device or a pipe, written to as it is, with its device and inode.
    Direct(File, (u64, u64)),
    /// A file, replaced in one step when the archive is complete.
    File(PathBuf),
}

/// The temporary file that the archive is written to and what it becomes, or nothing where it is written in its place.
pub struct Unfinished(Option<(TempPath, PathBuf)>);

impl Out {
    pub fn new(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            if io::stdout().is_terminal() {
                bail!("an archive is nothing for a terminal: redirect standard output, or name a file");
            }
            return stdout_file().and_then(direct).context("cannot write to standard output");
        }
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    bail!("{} is a link to nothing: name the archive itself", path.display());
                }
                Ok(Out::File(path.to_owned()))
            }
            Err(error) => Err(error).with_context(|| format!("cannot create {}", path.display())),
            Ok(metadata) if metadata.is_dir() => bail!("{} is a folder: name the archive in it", path.display()),
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(path);
                file.and_then(direct).with_context(|| format!("cannot write to {}", path.display()))
            }
            Ok(metadata) => {
                if metadata.len() > 0 && !looks_like_an_archive(path)? {
                    bail!("{} exists and is not an archive: remove it, or name another OUT first", path.display());
                }
                // Its folder would let it be replaced even where it is protected.
                let open = OpenOptions::new().write(true).open(path);
                open.with_context(|| format!("cannot replace {}", path.display()))?;
                // A link stays a link: what it points to is replaced.
                let target = path.canonicalize().with_context(|| format!("cannot create {}", path.display()))?;
                Ok(Out::File(target))
            }
        }
    }

    /// Whether the file `path` is where the archive is to be.
    pub fn is(&self, path: &Path) -> bool {
        let Out::File(out) = self else { return false };
        out.file_name() == path.file_name() && folder(out).canonicalize().ok() == folder(path).canonicalize().ok()
    }

    /// Whether the file that was found is written to as it is, under whatever name.
    pub fn writes_to(&self, found: &Metadata) -> bool {
        matches!(self, Out::Direct(_, out) if *out == (found.dev(), found.ino()))
    }

    pub fn open(self) -> Result<(File, Unfinished), Error> {
        let path = match self {
            Out::Direct(file, _) => return Ok((file, Unfinished(None))),
            Out::File(path) => path,
        };
        let fail = || format!("cannot create {}", path.display());
        let before = fs::metadata(&path).ok().map(|before| before.permissions());
        // Who cannot read what it replaces cannot read it while it is written.
        let mode = before.as_ref().map_or(0o666, |before| before.mode() & 0o666 | 0o600);
        let mut builder = Builder::new();
        builder.prefix(".s_zip-").suffix(".part").permissions(fs::Permissions::from_mode(mode));
        let mut cleanup = signals::cleanup();
        // The temporary name says nothing to whoever typed another one.
        let created = builder.tempfile_in(folder(&path)).map_err(|error| io::Error::from(error.kind()));
        let temporary = created.with_context(fail)?;
        *cleanup = Cleanup::Remove(temporary.path().to_owned());
        drop(cleanup);
        if let Some(Err(error)) = before.map(|before| temporary.as_file().set_permissions(before)) {
            complain(&format!("cannot keep the permissions of {}: {error}", path.display()));
        }
        let (file, temporary) = temporary.into_parts();
        Ok((file, Unfinished(Some((temporary, path)))))
    }
}

impl Unfinished {
    pub fn complete(self) -> Result<(), Error> {
        if let Some((temporary, path)) = self.0 {
            let fail = || format!("cannot create {}", path.display());
            let mut cleanup = signals::cleanup();
            temporary.persist(&path).map_err(|error| error.error).with_context(fail)?;
            *cleanup = Cleanup::Nothing;
        }
        Ok(())
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

fn direct(file: File) -> io::Result<Out> {
    let found = file.metadata()?;
    Ok(Out::Direct(file, (found.dev(), found.ino())))
}

/// Whether what stands there may be replaced: an archive, not a file that was typed in the wrong place.
fn looks_like_an_archive(path: &Path) -> Result<bool, Error> {
    let fail = || format!("cannot read {}, which OUT would replace", path.display());
    let mut start = Vec::new();
    File::open(path).with_context(fail)?.take(4).read_to_end(&mut start).with_context(fail)?;
    Ok(matches!(start.as_slice(), b"PK\x03\x04" | b"PK\x05\x06"))
}

/// Standard output without the line buffer, which would cut each write at its last newline.
fn stdout_file() -> io::Result<File> {
    check_stdout()?;
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}
