//! One row of input, read once into the form that every engine works on.

use crate::amount::Amount;
use crate::error::ErrorKind;

/// What a row asks for, in the order in which the document names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Kind {
    /// Money comes in.
    Deposit,
    /// Money goes out.
    Withdrawal,
    /// The client contests an accepted transaction: its amount is held.
    Dispute,
    /// The dispute ends and the amount is released.
    Resolve,
    /// The dispute ends, the transaction is undone and the account locked.
    Chargeback,
}

impl Kind {
    /// Every kind.
    pub const ALL: &[Kind] = <Kind as strum::VariantArray>::VARIANTS;

    /// The name in the `type` column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    /// Reads a name in any case.
    #[must_use]
    #[inline]
    pub fn parse(text: &[u8]) -> Option<Self> {
        // The kinds of rows follow no order, so a branch for each would be guessed wrong most of the time: the letters are
        // compared as one number. Bit 5 set makes a letter small, and makes no letter of anything else.
        const SMALL: u64 = 0x2020_2020_2020_2020;
        let letters = |from: usize| -> u64 {
            let mut word = [0; 8];
            word[..7].copy_from_slice(&text[from..from + 7]);
            u64::from_le_bytes(word) | SMALL
        };
        let is = |kind: Kind, from: usize| {
            let name = kind.name().as_bytes();
            let mut word = [0; 8];
            word[..7].copy_from_slice(&name[from..from + 7]);
            letters(from) == u64::from_le_bytes(word) | SMALL
        };
        match text.len() {
            7 if is(Kind::Deposit, 0) => Some(Kind::Deposit),
            7 if is(Kind::Dispute, 0) => Some(Kind::Dispute),
            7 if is(Kind::Resolve, 0) => Some(Kind::Resolve),
            // Ten letters are two numbers that overlap.
            10 if is(Kind::Withdrawal, 0) && is(Kind::Withdrawal, 3) => Some(Kind::Withdrawal),
            10 if is(Kind::Chargeback, 0) && is(Kind::Chargeback, 3) => Some(Kind::Chargeback),
            _ => None,
        }
    }

    /// The kind whose name, in any case, is the first `len` bytes of `word`.
    #[inline]
    pub(crate) fn of_word(word: u128, len: usize) -> Option<Self> {
        let name = &NAMES[(word >> 32) as usize % NAMES.len()];
        ((word | SMALL) & name.mask == name.word && len == name.len).then_some(name.kind)
    }

    /// Whether the row's amount counts.
    #[must_use]
    pub fn needs_amount(self) -> bool {
        matches!(self, Kind::Deposit | Kind::Withdrawal)
    }
}

/// Bit 5 set makes a letter small, and makes no letter of anything else.
const SMALL: u128 = u128::from_ne_bytes([0x20; 16]);

/// A kind's name as one number.
#[derive(Clone, Copy)]
struct Name {
    word: u128,
    /// The bytes that count.
    mask: u128,
    len: usize,
    kind: Kind,
}

/// The names by the low half of their fifth letter, which tells them apart.
static NAMES: [Name; 16] = {
    let mut names = [Name { word: 0, mask: 0, len: usize::MAX, kind: Kind::Deposit }; 16];
    let mut n = 0;
    while n < Kind::ALL.len() {
        let (kind, name) = (Kind::ALL[n], Kind::ALL[n].name().as_bytes());
        let (mut bytes, mut at) = ([0; 16], 0);
        while at < name.len() {
            bytes[at] = name[at];
            at += 1;
        }
        names[name[4] as usize % 16] =
            Name { word: u128::from_le_bytes(bytes), mask: (1 << (8 * name.len())) - 1, len: name.len(), kind };
        n += 1;
    }
    names
};

/// A row whose fields could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Physical line in its file, from 1.
    pub line: u64,
    /// The amount of a deposit or withdrawal; absent if its field is empty, and in the other kinds.
    pub amount: Option<Amount>,
    /// Transaction id.
    pub tx: u32,
    /// Client id.
    pub client: u16,
    /// What is asked for.
    pub kind: Kind,
}

/// What a physical line turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A row to apply.
    Row(Row),
    /// A row that could not be read.
    Unreadable {
        /// Physical line in its file, from 1.
        line: u64,
        /// Why.
        kind: ErrorKind,
    },
}

impl Entry {
    /// The physical line in its file, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        match self {
            Entry::Row(row) => row.line,
            Entry::Unreadable { line, .. } => *line,
        }
    }

    /// Moves the entry down by `lines`, for blocks that were read apart.
    pub fn shift(&mut self, lines: u64) {
        match self {
            Entry::Row(row) => row.line += lines,
            Entry::Unreadable { line, .. } => *line += lines,
        }
    }
}

/// ASCII digits, leading zeros allowed, no sign.
#[inline]
pub(crate) fn parse_id(text: &[u8]) -> Option<u32> {
    // Zeros in front carry no value; what is left of a 32-bit number has at most ten digits.
    let digits = if text.len() <= 10 { text } else { significant(text) };
    if digits.len() > 10 {
        return None;
    }
    let mut bad = 0;
    let mut id = 0_u64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        bad |= u8::from(digit > 9);
        id = id * 10 + u64::from(digit);
    }
    if bad == 0 { u32::try_from(id).ok() } else { None }
}

#[cold]
fn significant(text: &[u8]) -> &[u8] {
    let zeros = text.iter().take_while(|&&byte| byte == b'0').count();
    // One digit is left of a long zero.
    &text[zeros.min(text.len() - 1)..]
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_read_in_any_case_and_nothing_else_is() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.name().to_uppercase().as_bytes()), Some(*kind));
        }
        for text in ["", "d", "deposi", "deposits", "disputes", "dxposit", "with", "refund", "charge back"] {
            assert_eq!(Kind::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn an_entry_is_small_enough_to_be_sent_by_value() {
        assert_eq!(size_of::<super::Entry>(), 32);
    }
}
