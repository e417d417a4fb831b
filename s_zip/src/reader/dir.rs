//! A folder that is written to by its handle: whatever others put in its place meanwhile, nothing lands elsewhere.

#[cfg(not(unix))]
use std::fs;
use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
use rustix::fs::{AtFlags, Mode, OFlags};
#[cfg(unix)]
use rustix::io::Errno;

/// An open folder.
#[cfg(unix)]
pub(super) struct Dir(std::os::fd::OwnedFd);

#[cfg(unix)]
impl Dir {
    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// Opens a folder, or the one that a link leads to: the caller named it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Dir(rustix::fs::open(path, Self::FOLDER, Mode::empty())?))
    }

    /// Opens a folder in this one, and no link.
    pub fn enter(&self, name: &str) -> io::Result<Self> {
        match rustix::fs::openat(&self.0, name, Self::FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::LOOP | Errno::MLINK) => Err(io::ErrorKind::NotADirectory.into()),
            result => Ok(Dir(result?)),
        }
    }

    pub fn make(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    /// Creates a file where there is nothing, not even a link. Until it has its own mode, nobody else can read it.
    pub fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    pub fn holds(&self, name: &str) -> bool {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Renames a file unless the name is taken.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match rustix::fs::renameat_with(&self.0, from, &self.0, to, rustix::fs::RenameFlags::NOREPLACE) {
            // Neither every kernel nor every file system can.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
        self.rename_over_own(from, to)
    }

    /// The folder as a file, for its time and mode.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    pub fn into_file(self) -> Option<File> {
        Some(File::from(self.0))
    }
}

/// The path of a folder: here links are looked for before each step, not while it is taken.
#[cfg(not(unix))]
pub(super) struct Dir(std::path::PathBuf);

#[cfg(not(unix))]
impl Dir {
    pub fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() { Ok(Dir(path.to_owned())) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub fn enter(&self, name: &str) -> io::Result<Self> {
        let path = self.0.join(name);
        if fs::symlink_metadata(&path)?.is_dir() { Ok(Dir(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub fn make(&self, name: &str) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub fn create(&self, name: &str) -> io::Result<File> {
        File::create_new(self.0.join(name))
    }

    pub fn holds(&self, name: &str) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.rename_over_own(from, to)
    }

    /// A folder cannot be opened as a file; it keeps the time at which it was made.
    pub fn into_file(self) -> Option<File> {
        None
    }
}

impl Dir {
    /// Takes the name by an empty file, which nobody else can have made, and puts the file over it.
    fn rename_over_own(&self, from: &str, to: &str) -> io::Result<()> {
        drop(self.create(to)?);
        self.replace(from, to).inspect_err(|_| {
            let _ = self.remove(to);
        })
    }
}
