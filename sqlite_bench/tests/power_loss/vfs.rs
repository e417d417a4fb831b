//! A VFS of SQLite that does everything as the default one of this system does, and tells a [`Disk`] what was written and what was synced.
//!
//! Nothing is really synced: the files that are seen while SQLite runs live in the page cache, and those after a power cut come from the
//! [`Disk`]. There is no memory mapping: what it writes would go unseen.
//!
//! How it is built: what SQLite knows of an open file is a pointer to its methods, at the start of the default VFS's structure. Once that
//! has opened a file, a [`Handle`] takes their place: a copy of them, of which some tell the disk, too.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use crate::disk::{Disk, Inode, Shared};

/// What a sync takes: of a fast disk, so that writes meet while one is under way.
const SYNC_TIME: Duration = Duration::from_micros(200);

/// Handles of these files sync the folder too, once.
const WITH_FOLDER: c_int = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;

/// What SQLite takes for the VFS of a disk.
#[repr(C)]
struct OfDisk {
    /// Must come first: SQLite sees no more than this.
    vfs: sqlite3_vfs,
    disk: Weak<Mutex<Disk>>,
}

/// What SQLite takes for the methods of an open file.
#[repr(C)]
struct Handle {
    /// Must come first: SQLite sees no more than this.
    methods: sqlite3_io_methods,
    default: *const sqlite3_io_methods,
    disk: Shared,
    inode: Inode,
    syncs_folder: AtomicBool,
}

/// Registers a VFS of this name, whose files lie on `disk`.
pub fn register(name: &str, disk: &Shared) {
    // SAFETY: the default VFS is there for as long as the process is, and its structure is plain data and function pointers, of which a
    // copy serves as well: its functions take their data from `pAppData`, which is copied too. Copy and name are never freed.
    let result = unsafe {
        let vfs = sqlite3_vfs {
            pNext: std::ptr::null_mut(),
            zName: CString::new(name).unwrap().into_raw(),
            xOpen: Some(open),
            xDelete: Some(delete),
            ..*ffi::sqlite3_vfs_find(std::ptr::null())
        };
        let of_disk = Box::new(OfDisk { vfs, disk: Arc::downgrade(disk) });
        ffi::sqlite3_vfs_register(Box::into_raw(of_disk).cast(), 0)
    };
    assert_eq!(result, ffi::SQLITE_OK);
}

/// The disk and the name of a file; `None` of one that has no name, which is temporary.
///
/// # Safety
/// `vfs` must be one of [`register`], `path` null or a C string.
unsafe fn find(vfs: *mut sqlite3_vfs, path: *const c_char) -> Option<(Shared, PathBuf, String)> {
    if path.is_null() {
        return None;
    }
    // SAFETY: by the caller.
    let (disk, path) = unsafe { ((*vfs.cast::<OfDisk>()).disk.upgrade()?, CStr::from_ptr(path).to_str().ok()?) };
    let path = PathBuf::from(path);
    let name = path.file_name()?.to_str()?.to_owned();
    Some((disk, path, name))
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    path: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a path or null, and at `file` as many bytes as the default VFS asks for, which begin with its methods.
    unsafe {
        let default_vfs = ffi::sqlite3_vfs_find(std::ptr::null());
        let told = find(vfs, path).map(|(disk, path, name)| (disk, std::fs::read(path).ok(), name));
        let result = (*default_vfs).xOpen.unwrap()(default_vfs, path, file, flags, out_flags);
        let Some((disk, found, name)) = told.filter(|_| result == ffi::SQLITE_OK) else { return result };
        let inode = disk.lock().unwrap().open(&name, found);
        let syncs_folder = AtomicBool::new(flags & WITH_FOLDER != 0 && flags & ffi::SQLITE_OPEN_CREATE != 0);
        let default = (*file).pMethods;
        let methods = sqlite3_io_methods {
            // Version 3 would add memory mapping.
            iVersion: 2,
            xClose: Some(close),
            xWrite: Some(write),
            xTruncate: Some(truncate),
            xSync: Some(sync),
            ..*default
        };
        (*file).pMethods = Box::into_raw(Box::new(Handle { methods, default, disk, inode, syncs_folder })).cast();
        result
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: SQLite passes a C string.
    unsafe {
        let default = ffi::sqlite3_vfs_find(std::ptr::null());
        if let Some((disk, found, name)) = find(vfs, path)
            && found.exists()
        {
            disk.lock().unwrap().delete(&name, sync_folder != 0);
        }
        (*default).xDelete.unwrap()(default, path, 0)
    }
}

/// What is known of an open file.
///
/// # Safety
/// `file` must be one of [`open`], and not closed while the result is in use.
unsafe fn handle<'a>(file: *mut sqlite3_file) -> &'a Handle {
    // SAFETY: `open` has set it, and `close` alone frees it.
    unsafe { &*(*file).pMethods.cast() }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file of `open` once and does not use it any more.
    unsafe {
        let handle = Box::from_raw((*file).pMethods.cast_mut().cast::<Handle>());
        (*file).pMethods = handle.default;
        (*handle.default).xClose.unwrap()(file)
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, data: *const c_void, size: c_int, offset: sqlite3_int64) -> c_int {
    // SAFETY: SQLite passes `size` bytes at `data`.
    unsafe {
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), usize::try_from(size).unwrap());
        let Handle { disk, inode, default, .. } = handle(file);
        disk.lock().unwrap().write(*inode, usize::try_from(offset).unwrap(), bytes);
        (**default).xWrite.unwrap()(file, data, size, offset)
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: a file of `open`.
    unsafe {
        let Handle { disk, inode, default, .. } = handle(file);
        disk.lock().unwrap().truncate(*inode, usize::try_from(size).unwrap());
        (**default).xTruncate.unwrap()(file, size)
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: a file of `open`.
    let Handle { disk, inode, syncs_folder, .. } = unsafe { handle(file) };
    let changes = disk.lock().unwrap().unsynced(*inode);
    std::thread::sleep(SYNC_TIME);
    disk.lock().unwrap().synced(*inode, changes, syncs_folder.swap(false, Ordering::AcqRel));
    ffi::SQLITE_OK
}
