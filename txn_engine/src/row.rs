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

    /// Whether the row's amount counts.
    #[must_use]
    pub fn needs_amount(self) -> bool {
        matches!(self, Kind::Deposit | Kind::Withdrawal)
    }
}

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
