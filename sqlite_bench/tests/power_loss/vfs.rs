//! A VFS of SQLite that does everything as the default one of this system does, and tells a [`Disk`] what was written and what was synced.
//!
//! Only the files of a mounted folder are told of. Nothing is really synced: the files that are seen while SQLite runs live in the page
//! cache, and those after a power cut come from the [`Disk`]. There is no memory mapping: what it writes would go unseen.
//!
//! How it is built: SQLite allocates `szOsFile` bytes per open file. Ours has a [`Shim`] at their start and the default VFS's own structure
//! after it; each method finds the latter and calls the default VFS's method with it.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use crate::disk::{Disk, Inode};

/// Under which SQLite knows it.
pub const NAME: &str = "power_loss";
const C_NAME: &CStr = c"power_loss";

/// What a sync takes: of a fast disk, so that writes meet while one is under way.
const SYNC_TIME: Duration = Duration::from_micros(200);

/// Handles of these files sync the folder too, once.
const WITH_FOLDER: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;

static DISKS: Mutex<BTreeMap<PathBuf, Arc<Disk>>> = Mutex::new(BTreeMap::new());
static DEFAULT: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(std::ptr::null_mut());

/// A folder whose files lie on a [`Disk`], until it is dropped.
pub struct Mount {
    folder: PathBuf,
}

impl Mount {
    /// Mounts `disk` at `folder`, and registers the VFS if that was not done.
    pub fn new(folder: &Path, disk: &Arc<Disk>) -> Self {
        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(register);
        // SQLite hands a VFS paths without symbolic links.
        let folder = folder.canonicalize().unwrap();
        DISKS.lock().unwrap().insert(folder.clone(), Arc::clone(disk));
        Mount { folder }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        DISKS.lock().unwrap().remove(&self.folder);
    }
}

/// What stands at the start of SQLite's allocation for an open file.
#[repr(C)]
struct Shim {
    /// Must come first: SQLite sees no more than this.
    base: sqlite3_file,
    /// From `Box::into_raw` in [`open`], back in [`close`].
    handle: *mut Handle,
}

struct Handle {
    disk: Arc<Disk>,
    inode: Inode,
    syncs_folder: AtomicBool,
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Version 3 would add memory mapping.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

fn register() {
    // SAFETY: the default VFS is there for as long as the process is, and its structure is plain data and function pointers, of which a
    // copy serves as well: its functions take their data from `pAppData`, which is copied too. The copy is never freed.
    let result = unsafe {
        let default = ffi::sqlite3_vfs_find(std::ptr::null());
        DEFAULT.store(default, Ordering::Release);
        let shim = sqlite3_vfs {
            szOsFile: c_int::try_from(size_of::<Shim>()).unwrap() + (*default).szOsFile,
            pNext: std::ptr::null_mut(),
            zName: C_NAME.as_ptr(),
            xOpen: Some(open),
            xDelete: Some(delete),
            ..*default
        };
        ffi::sqlite3_vfs_register(Box::into_raw(Box::new(shim)), 0)
    };
    assert_eq!(result, ffi::SQLITE_OK);
}

/// The disk and the name of a file, if its folder is mounted.
///
/// # Safety
/// `path` must be null or a C string.
unsafe fn find(path: *const c_char) -> Option<(Arc<Disk>, PathBuf, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: by the caller.
    let path = PathBuf::from(unsafe { CStr::from_ptr(path) }.to_str().ok()?);
    let disk = Arc::clone(DISKS.lock().unwrap().get(path.parent()?)?);
    let name = path.file_name()?.to_str()?.to_owned();
    Some((disk, path, name))
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    path: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let default = DEFAULT.load(Ordering::Acquire);
    // SAFETY: SQLite passes a path or null, and `szOsFile` bytes at `file`, which have room for `Shim` and the default VFS's structure.
    // A file that is of no interest, such as a temporary one, is the default VFS's from the start of the allocation on.
    unsafe {
        let xopen = (*default).xOpen.unwrap();
        let Some((disk, found, name)) = find(path) else { return xopen(default, path, file, flags, out_flags) };
        // What SQLite must see if it fails: nothing to close.
        (*file).pMethods = std::ptr::null();
        let found = std::fs::read(found).ok();
        let inner = inner(file);
        let result = xopen(default, path, inner, flags, out_flags);
        if result != ffi::SQLITE_OK {
            // The default VFS leaves methods behind if its file is to be closed nevertheless.
            if !(*inner).pMethods.is_null() {
                (*(*inner).pMethods).xClose.unwrap()(inner);
            }
            return result;
        }
        let inode = disk.open(&name, found);
        let syncs_folder = AtomicBool::new(flags & WITH_FOLDER != 0 && flags & ffi::SQLITE_OPEN_CREATE != 0);
        (*file.cast::<Shim>()).handle = Box::into_raw(Box::new(Handle { disk, inode, syncs_folder }));
        (*file).pMethods = &raw const METHODS;
        result
    }
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    let default = DEFAULT.load(Ordering::Acquire);
    // SAFETY: SQLite passes a C string.
    unsafe {
        if let Some((disk, found, name)) = find(path)
            && found.exists()
        {
            disk.delete(&name, sync_folder != 0);
        }
        (*default).xDelete.unwrap()(default, path, 0)
    }
}

/// The default VFS's structure of an open file.
///
/// # Safety
/// `file` must be one of [`open`].
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: the allocation is that long; both structures are aligned as pointers are, as is the size of the first.
    unsafe { file.cast::<Shim>().add(1).cast() }
}

/// What is known of an open file.
///
/// # Safety
/// `file` must be one of [`open`], and not closed while the result is in use.
unsafe fn handle<'a>(file: *mut sqlite3_file) -> &'a Handle {
    // SAFETY: `open` has set it, and `close` alone frees it.
    unsafe { &*(*file.cast::<Shim>()).handle }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file of `open` once and does not use it any more.
    unsafe {
        drop(Box::from_raw((*file.cast::<Shim>()).handle));
        let inner = inner(file);
        (*(*inner).pMethods).xClose.unwrap()(inner)
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, data: *const c_void, size: c_int, offset: sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes `size` bytes at `data`.
    unsafe {
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), usize::try_from(size).unwrap());
        let Handle { disk, inode, .. } = handle(file);
        disk.write(*inode, usize::try_from(offset).unwrap(), bytes);
        let inner = inner(file);
        (*(*inner).pMethods).xWrite.unwrap()(inner, data, size, offset)
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: a file of `open`.
    unsafe {
        let Handle { disk, inode, .. } = handle(file);
        disk.truncate(*inode, usize::try_from(size).unwrap());
        let inner = inner(file);
        (*(*inner).pMethods).xTruncate.unwrap()(inner, size)
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: a file of `open`.
    let Handle { disk, inode, syncs_folder } = unsafe { handle(file) };
    let changes = disk.unsynced(*inode);
    std::thread::sleep(SYNC_TIME);
    disk.synced(*inode, changes, syncs_folder.swap(false, Ordering::AcqRel));
    ffi::SQLITE_OK
}

macro_rules! as_the_default {
    ($($name:ident $method:ident ($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $type)*) $(-> $result)? {
            // SAFETY: a file of `open`; the arguments are SQLite's own.
            unsafe {
                let inner = inner(file);
                (*(*inner).pMethods).$method.unwrap()(inner $(, $argument)*)
            }
        })*
    };
}

as_the_default! {
    read xRead(data: *mut c_void, size: c_int, offset: sqlite3_int64) -> c_int;
    file_size xFileSize(size: *mut sqlite3_int64) -> c_int;
    lock xLock(level: c_int) -> c_int;
    unlock xUnlock(level: c_int) -> c_int;
    check_reserved_lock xCheckReservedLock(reserved: *mut c_int) -> c_int;
    file_control xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size xSectorSize() -> c_int;
    device_characteristics xDeviceCharacteristics() -> c_int;
    shm_map xShmMap(region: c_int, size: c_int, extend: c_int, memory: *mut *mut c_void) -> c_int;
    shm_lock xShmLock(offset: c_int, count: c_int, flags: c_int) -> c_int;
    shm_barrier xShmBarrier();
    shm_unmap xShmUnmap(delete: c_int) -> c_int;
}
