//! Rows cut out of a window of 64 bytes by masks: the fast way for short lines that hide nothing.
//!
//! What a program writes into a payments file fits: no quote, no white space around the needed fields, a line break within the window.
//! Whatever else there is, row errors among it, is left to the reader of single lines, so that one place judges them.

#![expect(clippy::inline_always, reason = "a field that goes through memory costs more than to read it")]

use crate::amount::{Amount, DECIMALS, SCALE};
use crate::row::{Kind, Row, parse_id};

/// As many bytes as a mask has bits.
const WINDOW: usize = 64;
/// The window and what may be loaded with a field at its end.
type Text = [u8; WINDOW + 16];
/// The needed columns are among the first of a line.
const MOST_COLUMNS: usize = 8;

/// The row in the first line of `text` and the length of that line with its break, if it is a plain one.
#[inline(always)]
pub(crate) fn read(text: &[u8], columns: [usize; 4]) -> Option<(Row, usize)> {
    let text: &Text = text.first_chunk()?;
    let line_break = places(text, b'\n').trailing_zeros() as usize;
    if line_break == WINDOW {
        return None;
    }
    let end = line_break - usize::from(line_break > 0 && text[line_break - 1] == b'\r');
    let before_end = (1 << end) - 1;
    if places(text, b'"') & before_end != 0 {
        return None;
    }
    // Behind the end every byte ends a field, so that columns which a line does not have are empty.
    let mut ends = places(text, b',') & before_end | !before_end;
    // Field n lies from start n to before the comma in front of start n + 1.
    let mut starts = [0; MOST_COLUMNS + 1];
    let needed = columns.into_iter().fold(0, usize::max) + 1;
    for start in starts.get_mut(1..=needed)? {
        *start = ends.trailing_zeros() as usize + 1;
        ends &= ends.wrapping_sub(1);
    }
    let [kind, client, tx, amount] = columns.map(|n| Field { text, start: starts[n], end: starts[n + 1] - 1 });
    let kind = kind.kind()?;
    let client = client.digits().and_then(|number| u16::try_from(number).ok())?;
    let tx = tx.id()?;
    let fixed = amount.fixed_amount();
    let is_other = kind.needs_amount() & fixed.is_none() & !amount.is_empty();
    let amount = if is_other { Some(amount.other_amount()?) } else { fixed };
    Some((Row { amount: amount.filter(|_| kind.needs_amount()), tx, client, kind }, line_break + 1))
}

/// The places of `byte` in the window, a bit for each.
#[inline(always)]
fn places(text: &Text, byte: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return text[..WINDOW].as_chunks::<16>().0.iter().rev().fold(0, |mask, part| {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: every x86_64 has SSE2, and a part is 16 bytes long.
        let equal = unsafe {
            let equal = _mm_cmpeq_epi8(_mm_loadu_si128(part.as_ptr().cast()), _mm_set1_epi8(byte.cast_signed()));
            _mm_movemask_epi8(equal)
        };
        mask << 16 | u64::from(equal.cast_unsigned())
    });
    #[cfg(not(target_arch = "x86_64"))]
    return memchr::memchr_iter(byte, &text[..WINDOW]).fold(0, |mask, place| mask | 1 << place);
}

/// The bytes from `start` to before `end`; none if it lies before.
#[derive(Clone, Copy)]
struct Field<'a> {
    text: &'a Text,
    start: usize,
    end: usize,
}

impl Field<'_> {
    fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    fn bytes(&self) -> &[u8] {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    #[inline(always)]
    fn kind(&self) -> Option<Kind> {
        let word = self.text.get(self.start..)?.first_chunk()?;
        Kind::of_word(u128::from_le_bytes(*word), self.end.wrapping_sub(self.start))
    }

    #[inline(always)]
    fn id(&self) -> Option<u32> {
        match self.digits() {
            Some(id) => Some(id),
            None => self.long_id(),
        }
    }

    #[cold]
    fn long_id(&self) -> Option<u32> {
        if self.is_empty() { None } else { parse_id(self.bytes()) }
    }

    /// An amount with all decimals and one to eight digits before the point, if it is one.
    /// Tried also where a row has none: that cannot be foreseen, and a branch costs more.
    #[inline(always)]
    fn fixed_amount(&self) -> Option<Amount> {
        let point = self.end.wrapping_sub(1 + DECIMALS);
        let whole = Field { end: point, ..*self }.digits();
        let fraction = Field { start: point.wrapping_add(1), ..*self }.digits();
        let has_point = self.text.get(point) == Some(&b'.');
        let units = i64::from(whole.unwrap_or_default()) * SCALE + i64::from(fraction.unwrap_or_default());
        (has_point & whole.is_some() & fraction.is_some()).then_some(Amount(units))
    }

    #[cold]
    fn other_amount(&self) -> Option<Amount> {
        Amount::parse(self.bytes())
    }

    /// One to eight digits as a number, without a loop.
    #[inline(always)]
    fn digits(&self) -> Option<u32> {
        let len = self.end.wrapping_sub(self.start);
        let word = u64::from_le_bytes(*self.text.get(self.start..)?.first_chunk()?);
        // What follows the field is shifted out; the zeros that come in stand before the number.
        let digits = (word ^ 0x3030_3030_3030_3030) << (len.wrapping_mul(8).wrapping_neg() % 64);
        let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
        // Neighbours become numbers of two digits, these of four, these of eight; the first digit is in the lowest byte.
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        let fours = (pairs & 0x00FF_00FF_00FF_00FF) * 100 + (pairs >> 16 & 0x00FF_00FF_00FF_00FF);
        #[expect(clippy::cast_possible_truncation, reason = "eight digits")]
        let number = ((fours & 0xFFFF) * 10_000 + (fours >> 32 & 0xFFFF)) as u32;
        ((others == 0) & (len.wrapping_sub(1) < 8)).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_padded(line: &str) -> Option<(Row, usize)> {
        read(&[line.as_bytes(), &[b'7'; WINDOW + 16]].concat(), [0, 1, 2, 3])
    }

    #[test]
    fn what_a_program_writes_is_read_here_and_not_line_by_line() {
        let row = |kind, client, tx, units: Option<i64>| Row { amount: units.map(Amount), tx, client, kind };
        for (text, right) in [
            ("deposit,1,2,3.4567\n", row(Kind::Deposit, 1, 2, Some(34_567))),
            (
                "Withdrawal,65535,12345678,12345678.9012\r\n",
                row(Kind::Withdrawal, 65_535, 12_345_678, Some(123_456_789_012)),
            ),
            ("deposit,007,4294967295,.5,a note\n", row(Kind::Deposit, 7, u32::MAX, Some(5_000))),
            ("deposit,1,2,\n", row(Kind::Deposit, 1, 2, None)),
            ("deposit,1,2\r\n", row(Kind::Deposit, 1, 2, None)),
            ("dispute,1,2,\n", row(Kind::Dispute, 1, 2, None)),
            ("RESOLVE,1,2\n", row(Kind::Resolve, 1, 2, None)),
            ("chargeback,1,2,3.4567\n", row(Kind::Chargeback, 1, 2, None)),
        ] {
            assert_eq!(read_padded(text), Some((right, text.len())), "{text:?}");
        }
    }
}
