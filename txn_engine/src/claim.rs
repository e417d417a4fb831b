//! A folder that one process at a time writes to.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A folder that no other process of this machine can claim before this one drops it or ends: a lock of the system on the folder itself.
pub struct Claim {
    pub(crate) path: PathBuf,
    folder: File,
    pub(crate) warn: fn(Error),
}

impl Claim {
    pub(crate) fn of(path: &Path, warn: fn(Error)) -> Result<Self, Error> {
        let failed = |source| Error::WriteDump { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(failed)?;
        let folder = File::open(path).map_err(failed)?;
        match folder.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::DumpInUse { path: path.to_owned(), holder: holder(&folder) });
            }
            Err(TryLockError::Error(source)) => warn(Error::LockDump { path: path.to_owned(), source }),
        }
        tempfile::tempfile_in(path).map_err(failed)?;
        Ok(Claim { path: path.to_owned(), folder, warn })
    }

    /// The same claim, or another one if the folder was removed or replaced in the meantime.
    pub(crate) fn renewed(self) -> Result<Self, Error> {
        let claimed = self.folder.metadata().map(|claimed| identity(&claimed)).ok();
        match fs::metadata(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Ok(self),
            Ok(now) if Some(identity(&now)) == claimed => Ok(self),
            _ => Claim::of(&self.path, self.warn),
        }
    }

    /// Makes the names in the folder outlast a power cut; gives the reason if its file system syncs no folders.
    pub(crate) fn sync(&self) -> io::Result<Option<io::Error>> {
        let Err(error) = self.folder.sync_all() else { return Ok(None) };
        match (error.kind(), error.raw_os_error()) {
            // EINVAL, ENOTSUP, or EBADF, which is 9 on Linux and macOS.
            (ErrorKind::InvalidInput | ErrorKind::Unsupported, _) | (_, Some(9)) => Ok(Some(error)),
            _ => Err(error),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Closing is not enough while a process that was just forked from this one still has the folder open.
        let _ = self.folder.unlock();
    }
}

/// What tells a folder from every other: its device and number.
#[cfg(unix)]
fn identity(folder: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (folder.dev(), folder.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) {}

fn holder(folder: &File) -> String {
    locked_by(folder).map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

#[cfg(target_os = "linux")]
fn locked_by(folder: &File) -> Option<i32> {
    let (device, number) = identity(&folder.metadata().ok()?);
    // As Linux packs a device into one number. That of btrfs is not the one in the list of locks: nobody is found then.
    let packed = |major: u32, minor: u32| u64::from(major) << 8 | u64::from(minor & 0xff) | u64::from(minor >> 8) << 20;
    let locks = procfs::locks().ok()?;
    locks.iter().find(|lock| packed(lock.devmaj, lock.devmin) == device && lock.inode == number)?.pid
}

#[cfg(not(target_os = "linux"))]
fn locked_by(_: &File) -> Option<i32> {
    None
}
