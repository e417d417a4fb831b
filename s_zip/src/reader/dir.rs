//! A folder that is used by its handle: whatever others put in its place meanwhile, nothing is written or read elsewhere.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RawMode};
use rustix::io::Errno;

/// Closes a file. Dropping it would lose the error by which NFS, FUSE and quotas tell only now that data is missing.
pub(crate) fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor is open, and nobody else has it any more.
    Ok(unsafe { rustix::io::try_close(file.into_raw_fd()) }?)
}

/// An open folder, or the current one.
pub(crate) struct Dir(Option<OwnedFd>);

impl Dir {
    /// On Linux a folder need not be readable to be entered.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const HANDLE: OFlags = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const HANDLE: OFlags = OFlags::RDONLY;
    const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);
    #[cfg(feature = "cli")]
    pub const HERE: Dir = Dir(None);

    /// Opens a folder, or the one that a link leads to: the caller named it.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Dir(Some(rustix::fs::open(path, Self::FOLDER | Self::HANDLE, Mode::empty())?)))
    }

    /// Opens a folder in this one, and no link.
    pub fn enter(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let flags = Self::FOLDER | Self::HANDLE | OFlags::NOFOLLOW;
        match rustix::fs::openat(self.fd(), name.as_ref(), flags, Mode::empty()) {
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
        // Takes the name by an empty file, which nobody else can have made, and puts the file over it.
        drop(self.create(to, 0)?);
        Ok(rustix::fs::renameat(self.fd(), from, self.fd(), to).inspect_err(|_| {
            let _ = self.remove(to);
        })?)
    }

    /// The folder as a file, for its time and mode.
    pub fn file(&self) -> io::Result<File> {
        let flags = Self::FOLDER | OFlags::RDONLY;
        Ok(File::from(rustix::fs::openat(self.fd(), ".", flags, Mode::empty())?))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_ref().map_or(rustix::fs::CWD, AsFd::as_fd)
    }
}

fn mode(permissions: u32) -> Mode {
    Mode::from_bits_truncate((permissions & 0o777) as RawMode)
}
