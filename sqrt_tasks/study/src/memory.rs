//! Blocks of memory got in different ways, to tell the cost of getting memory from that of using it.

use std::alloc::{GlobalAlloc, Layout};
use std::hint::black_box;
use std::slice;

use memmap2::{Advice, MmapMut};
use mimalloc::MiMalloc;
use sqrt_tasks::kernel::root_of;
use sqrt_tasks::work::{checksum, probes};

/// A huge page of `x86_64`, and of `aarch64` with pages of 4 KiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;
const ROOT_BYTES: usize = size_of::<f64>();

/// Writes `len` roots into a fresh mapping that the kernel is advised to back by huge pages (it may not have any), and returns their
/// checksum; `None` if there is no memory.
pub fn in_huge_pages(len: usize) -> Option<f64> {
    let bytes = len.checked_mul(ROOT_BYTES)?;
    // One page more, of which the part before the first boundary is left alone.
    let mut mapping = MmapMut::map_anon(bytes.checked_add(HUGE_PAGE_BYTES)?).ok()?;
    #[cfg(target_os = "linux")]
    let _ = mapping.advise(Advice::HugePage);
    let start = mapping.as_ptr().align_offset(HUGE_PAGE_BYTES);
    let block = &mut mapping[start..start + bytes];
    for (index, slot) in block.as_chunks_mut::<ROOT_BYTES>().0.iter_mut().enumerate() {
        *slot = root_of(index).to_ne_bytes();
    }
    let (roots, _) = black_box(&*block).as_chunks::<ROOT_BYTES>();
    Some(probes(len).map(|index| f64::from_ne_bytes(roots[index])).sum())
}

/// Writes `len` roots into a fresh block of mimalloc, which keeps what is freed, and returns their checksum; `None` if there is no memory.
pub fn in_mimalloc(len: usize) -> Option<f64> {
    let layout = Layout::array::<f64>(len).ok()?;
    if layout.size() == 0 {
        return Some(0.0);
    }
    // SAFETY: the layout has a size.
    let start: *mut f64 = unsafe { MiMalloc.alloc(layout) }.cast();
    if start.is_null() {
        return None;
    }
    for index in 0..len {
        // SAFETY: the index is within the block, whose alignment is that of a number.
        unsafe { start.add(index).write(root_of(index)) };
    }
    // SAFETY: all of the block has been written.
    let sum = checksum(black_box(unsafe { slice::from_raw_parts(start, len) }));
    // SAFETY: the block came from this allocator with this layout, and nobody looks at it any more.
    unsafe { MiMalloc.dealloc(start.cast(), layout) };
    Some(sum)
}
