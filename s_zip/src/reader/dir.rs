//! A folder that is used by its handle: whatever others put in its place meanwhile, nothing is written or read elsewhere.

#[cfg(not(unix))]
use std::fs;
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

#[cfg(unix)]
use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
#[cfg(unix)]
use rustix::io::Errno;

/// An open folder, or the current one.
#[cfg(unix)]
pub(crate) struct Dir(Option<OwnedFd>);

#[cfg(unix)]
impl Dir {
    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(feature = "cli")]
    pub const HERE: Dir = Dir(None);

    /// Opens a folder, or the one that a link leads to: the caller named it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Dir(Some(rustix::fs::open(path, Self::FOLDER, Mode::empty())?)))
    }

    /// Opens a folder in this one, and no link.
    pub fn enter(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        match rustix::fs::openat(self.fd(), name.as_ref(), Self::FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::LOOP | Errno::MLINK) => Err(io::ErrorKind::NotADirectory.into()),
            result => Ok(Dir(Some(result?))),
        }
    }

    /// Creates a folder that the owner can use. Others can use it as far as the permissions and the umask let them.
    pub fn make(&self, name: &str, permissions: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(self.fd(), name, mode(permissions) | Mode::RWXU)?)
    }

    /// Creates a file where there is nothing, not even a link. Others can use it as far as the permissions and the umask let them.
    pub fn create(&self, name: &str, permissions: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = mode(permissions) | Mode::RUSR | Mode::WUSR;
        Ok(File::from(rustix::fs::openat(self.fd(), name, flags, mode)?))
    }

    /// Opens a file for reading, and no link. A pipe that took its place does not block.
    #[cfg(feature = "cli")]
    pub fn read(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(self.fd(), name.as_ref(), flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::MLINK) => Err(io::Error::other("it is a symbolic link")),
            result => Ok(File::from(result?)),
        }
    }

    pub fn holds(&self, name: &str) -> bool {
        rustix::fs::statat(self.fd(), name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.fd(), name, AtFlags::empty())?)
    }

    /// Removes a folder that is empty.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.fd(), name, AtFlags::REMOVEDIR)?)
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(self.fd(), from, self.fd(), to)?)
    }

    /// Renames a file unless the name is taken.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            let result = rustix::fs::renameat_with(self.fd(), from, self.fd(), to, flags);
            // Neither every kernel nor every file system can, and they say so in many ways.
            if matches!(result, Ok(()) | Err(Errno::EXIST)) {
                return Ok(result?);
            }
        }
        self.rename_over_own(from, to)
    }

    /// The folder as a file, for its time and mode.
    pub fn into_file(self) -> Option<File> {
        self.0.map(File::from)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_ref().map_or(rustix::fs::CWD, AsFd::as_fd)
    }
}

#[cfg(unix)]
fn mode(permissions: u32) -> Mode {
    Mode::from_bits_truncate((permissions & 0o777) as RawMode)
}

/// The path of a folder: here links are looked for before each step, not while it is taken.
#[cfg(not(unix))]
pub(crate) struct Dir(std::path::PathBuf);

#[cfg(not(unix))]
impl Dir {
    #[cfg(feature = "cli")]
    pub const HERE: Dir = Dir(std::path::PathBuf::new());

    pub fn open(path: &Path) -> io::Result<Self> {
        if fs::metadata(path)?.is_dir() { Ok(Dir(path.to_owned())) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub fn enter(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let path = self.0.join(name);
        if fs::symlink_metadata(&path)?.is_dir() { Ok(Dir(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub fn make(&self, name: &str, _permissions: u32) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub fn create(&self, name: &str, _permissions: u32) -> io::Result<File> {
        File::create_new(self.0.join(name))
    }

    #[cfg(feature = "cli")]
    pub fn read(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let path = self.0.join(name);
        if fs::symlink_metadata(&path)?.is_symlink() {
            return Err(io::Error::other("it is a symbolic link"));
        }
        File::open(path)
    }

    pub fn holds(&self, name: &str) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
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
        drop(self.create(to, 0)?);
        self.replace(from, to).inspect_err(|_| {
            let _ = self.remove(to);
        })
    }
}
