//! Little-endian numbers from bytes that may end anywhere.

/// A place in a slice; every step is checked against its end.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor(bytes)
    }

    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(bytes)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    pub fn u16s<const N: usize>(&mut self) -> Option<[u16; N]> {
        several(|| self.u16())
    }

    pub fn u32s<const N: usize>(&mut self) -> Option<[u32; N]> {
        several(|| self.u32())
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

fn several<T: Copy + Default, const N: usize>(mut next: impl FnMut() -> Option<T>) -> Option<[T; N]> {
    let mut numbers = [T::default(); N];
    for number in &mut numbers {
        *number = next()?;
    }
    Some(numbers)
}
