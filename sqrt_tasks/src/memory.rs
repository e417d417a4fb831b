//! Blocks of memory got in different ways, to tell the cost of getting memory from that of using it.

use std::alloc::{GlobalAlloc, Layout};
use std::slice;

use mimalloc::MiMalloc;

use crate::kernel;

/// Where a block comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The process's allocator, as it is: glibc maps blocks beyond 32 MiB anew each time.
    Default,
    /// The process's allocator at an address that huge pages can serve, which the kernel is advised to use.
    HugePages,
    /// mimalloc, which keeps what is freed.
    Mimalloc,
}

/// A huge page of `x86_64`, and of `aarch64` with pages of 4 KiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A block full of square roots.
pub struct Block {
    start: *mut f64,
    len: usize,
    layout: Layout,
    source: Source,
}

impl Block {
    /// Gets a block for `len` numbers from `source` and writes the roots of 0, 1, ... into it; `None` if there is no memory.
    #[must_use]
    pub fn of_roots(source: Source, len: usize) -> Option<Block> {
        let align = if source == Source::HugePages { HUGE_PAGE_BYTES } else { align_of::<f64>() };
        let layout = Layout::array::<f64>(len).ok()?.align_to(align).ok()?;
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the layout has a size. `Block` frees with the same layout and allocator.
        let start = unsafe {
            match source {
                Source::Default | Source::HugePages => std::alloc::alloc(layout),
                Source::Mimalloc => MiMalloc.alloc(layout),
            }
        };
        if start.is_null() {
            return None;
        }
        let block = Block { start: start.cast(), len, layout, source };
        if source == Source::HugePages {
            advise_huge_pages(start, layout.size());
        }
        for index in 0..len {
            // SAFETY: the index is within the block, whose alignment is at least that of a number. Written before it is ever read.
            unsafe { block.start.add(index).write(kernel::root_of(index)) };
        }
        Some(block)
    }

    /// The numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        // SAFETY: `of_roots` has written all of the block.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block came from this allocator with this layout and is freed once.
        unsafe {
            match self.source {
                Source::Default | Source::HugePages => std::alloc::dealloc(self.start.cast(), self.layout),
                Source::Mimalloc => MiMalloc.dealloc(self.start.cast(), self.layout),
            }
        }
    }
}

/// Asks the kernel for huge pages there; it may not have any.
fn advise_huge_pages(start: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: the range is a block of ours; the advice changes how it is mapped, not what it holds.
    unsafe {
        // Whole pages only: beyond the block's end there may be something else.
        libc::madvise(start.cast(), bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Makes glibc keep every freed block and take none from the kernel apart, in one arena for all threads, as raising its threshold for
/// mappings beyond a block would; false where there is no such allocator.
#[must_use]
pub fn keep_freed_blocks() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: sets parameters of the allocator and touches no memory of ours.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1) == 1
                && libc::mallopt(libc::M_MMAP_MAX, 0) == 1
                && libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) == 1
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}
