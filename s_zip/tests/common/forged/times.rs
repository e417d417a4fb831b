//! The extra fields that hold a time in UTC, in Unix seconds.

fn field(id: u16, parts: &[&[u8]]) -> Vec<u8> {
    let data = parts.concat();
    let length = u16::try_from(data.len()).unwrap();
    [&id.to_le_bytes()[..], &length.to_le_bytes(), &data].concat()
}

fn in_32_bits(seconds: i64) -> [u8; 4] {
    i32::try_from(seconds).unwrap().to_le_bytes()
}

/// The time of the last change alone.
pub fn ut(modified: i64) -> Vec<u8> {
    field(0x5455, &[&[1], &in_32_bits(modified)])
}

/// Another time of the last access stands before.
pub fn old_unix(modified: i64) -> Vec<u8> {
    field(0x5855, &[&[9; 4], &in_32_bits(modified)])
}

/// As [`old_unix`], with two owners behind.
pub fn unix(modified: i64) -> Vec<u8> {
    field(0x000d, &[&[9; 4], &in_32_bits(modified), &[0; 4]])
}

/// Steps of 100 ns since 1601, in the middle of a second.
pub fn ntfs(modified: i64) -> Vec<u8> {
    let steps = match (modified + 11_644_473_600) * 10_000_000 {
        0 => 0,
        steps => steps + 5_000_000,
    };
    field(0x000a, &[&[0; 4], &[1, 0, 24, 0], &steps.to_le_bytes(), &[1; 16]])
}
