//! Dump and go on: the accounts and transactions of a run, so that a later run can go on.
//!
//! A dump is a folder with one file, the session as JSON with format, version and SHA-256. It is written and synced under another name and counts
//! once it is renamed: until then the earlier session stands whole, from then on the new one.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::ErrorKind::{InvalidInput, NotFound, Unsupported};
use std::io::{self, BufWriter, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::rules::{Account, StoredTx};

const FORMAT: &str = "txn_engine session";
const VERSION: u32 = 2;
const FILE: &str = "session.json";
/// The file before it counts.
const DRAFT: &str = "session.json.new";

/// Accounts and accepted transactions, each sorted by id.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Session {
    pub accounts: Vec<(u16, Account)>,
    pub transactions: Vec<(u32, StoredTx)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dump<T> {
    format: String,
    version: u32,
    sha256: String,
    session: T,
}

impl Session {
    /// Claims the folder `dir`, which is created if absent, for a dump, before there is a session that would be lost. `warn` is told what
    /// its file system cannot do. Fails if another process has it, it cannot be written to, or its `session.json` is not ours.
    pub fn claim(dir: &Path, warn: fn(Error)) -> Result<Claim, Error> {
        let claim = Claim::of(dir, warn)?;
        expect_ours(dir)?;
        Ok(claim)
    }

    /// Writes the session to the claimed folder, in place of the one that stands there. Fails with [`Error::SyncDump`] if the new session
    /// stands but may not outlast a power cut; all other errors leave what stood there as it was.
    pub fn dump(&self, claim: Claim) -> Result<(), Error> {
        let claim = claim.renewed()?;
        let dir = claim.path.as_path();
        expect_ours(dir)?;
        let draft = dir.join(DRAFT);
        // If that fails it only takes up space.
        let discard = || drop(fs::remove_file(&draft));
        discard();
        let failed = |source| {
            discard();
            Error::WriteDump { path: dir.to_owned(), source }
        };
        let written = self.write(&draft).map_err(failed)?;
        fs::rename(&draft, dir.join(FILE)).or_else(|source| match fs::metadata(dir.join(FILE)) {
            // A file system over a network may rename and report a failure.
            Ok(stands) if identity(&stands) == identity(&written) => Ok(()),
            _ => Err(failed(source)),
        })?;
        let not_synced = |source| Error::SyncDump { path: dir.to_owned(), source };
        match claim.folder.sync_all() {
            // EINVAL, ENOTSUP, or EBADF, which is 9 on Linux and macOS: the file system syncs no folders.
            Err(error) if matches!(error.kind(), InvalidInput | Unsupported) || error.raw_os_error() == Some(9) => {
                (claim.warn)(not_synced(error));
                Ok(())
            }
            synced => synced.map_err(not_synced),
        }
    }

    /// Writes it, first into the hash: all of it as text may be more than there is memory for.
    fn write(&self, draft: &Path) -> io::Result<Metadata> {
        let mut hashed = Hashed(Sha256::new());
        serde_json::to_writer(&mut hashed, self)?;
        let sha256 = hex::encode(hashed.0.finalize());
        let dump = Dump { format: FORMAT.to_owned(), version: VERSION, sha256, session: self };
        let mut out = BufWriter::new(File::create_new(draft)?);
        serde_json::to_writer(&mut out, &dump)?;
        let file = out.into_inner()?;
        file.sync_all()?;
        file.metadata()
    }

    /// Reads the session that stands in the folder `dir`, whoever has claimed it.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(FILE);
        let text = fs::read(&path).map_err(|source| Error::ReadDump { path: path.clone(), source })?;
        let refused = |reason| Error::RefusedDump { path: path.clone(), reason };
        let damaged = |error| refused(format!("it is damaged, or of another program or version ({error})"));
        let Dump::<&RawValue> { format, version, sha256: written, session } =
            serde_json::from_slice(&text).map_err(damaged)?;
        if (format.as_str(), version) != (FORMAT, VERSION) {
            return Err(refused(format!(
                "it is of '{format}', version {version}: this program reads version {VERSION}"
            )));
        }
        if hex::encode(Sha256::digest(session.get())) != written {
            return Err(refused("it was changed after it was written (its SHA-256 differs)".to_owned()));
        }
        let session: Session = serde_json::from_str(session.get()).map_err(damaged)?;
        // What undoes a transaction must be an amount, too.
        let is_sound =
            session.accounts.iter().all(|(_, account)| account.available.checked_add(account.held).is_some())
                && session.transactions.iter().all(|(_, tx)| tx.signed().0.checked_neg().is_some());
        if is_sound { Ok(session) } else { Err(refused("it has an amount outside of 64 bits".to_owned())) }
    }
}

/// Takes in what would be written.
struct Hashed(Sha256);

impl io::Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fails if what stands in the folder `dir` is not ours.
fn expect_ours(dir: &Path) -> Result<(), Error> {
    let (path, ours) = (dir.join(FILE), format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},"));
    let mut start = Vec::new();
    match File::open(&path).and_then(|file| file.take(ours.len() as u64).read_to_end(&mut start)) {
        Ok(_) if start == ours.as_bytes() => Ok(()),
        Ok(_) => Err(Error::RefusedDump { path, reason: "it is of another program or version".to_owned() }),
        Err(error) if error.kind() == NotFound => Ok(()),
        Err(source) => Err(Error::ReadDump { path, source }),
    }
}

/// A folder that no other process of this machine can claim before this one drops it or ends: a lock of the system on the folder itself.
pub struct Claim {
    path: PathBuf,
    folder: File,
    warn: fn(Error),
}

impl Claim {
    fn of(path: &Path, warn: fn(Error)) -> Result<Self, Error> {
        let failed = |source| Error::WriteDump { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(failed)?;
        let folder = File::open(path).map_err(failed)?;
        match folder.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = locked_by(&folder).map(|pid| format!("process {pid}"));
                let holder = holder.unwrap_or_else(|| "another process".to_owned());
                return Err(Error::DumpInUse { path: path.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => warn(Error::LockDump { path: path.to_owned(), source }),
        }
        tempfile::tempfile_in(path).map_err(failed)?;
        Ok(Claim { path: path.to_owned(), folder, warn })
    }

    /// The same claim, or another one if the folder was removed or replaced in the meantime.
    fn renewed(self) -> Result<Self, Error> {
        let claimed = self.folder.metadata().map(|claimed| identity(&claimed)).ok();
        match fs::metadata(&self.path) {
            Err(error) if error.kind() != NotFound => Ok(self),
            Ok(now) if Some(identity(&now)) == claimed => Ok(self),
            _ => Claim::of(&self.path, self.warn),
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
