//! One row of input, read once into the form that every engine works on.

use std::io::{self, Write};

use crate::amount::Amount;
use crate::error::ErrorKind;

/// What a row asks for, in the order in which the document names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Kind {
    Deposit,
    Withdrawal,
    /// The client contests an accepted transaction: its amount is held.
    Dispute,
    /// The dispute ends and the amount is released.
    Resolve,
    /// The dispute ends, the transaction is undone and the account locked.
    Chargeback,
}

impl Kind {
    pub const ALL: &[Kind] = <Kind as strum::VariantArray>::VARIANTS;

    /// The name in the `type` column.
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    /// Reads a name in any case.
    #[inline]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut word = [0; 16];
        // Copied by lengths that are known, seven letters or ten.
        match text.len() {
            7 => word[..7].copy_from_slice(text),
            10 => word[..10].copy_from_slice(text),
            _ => return None,
        }
        Self::of_word(u128::from_le_bytes(word), text.len())
    }

    /// The kind whose name, in any case, is the first `len` bytes of `word`.
    /// The kinds of rows follow no order, so a branch for each would be guessed wrong most of the time: the letters are compared as one number.
    #[inline]
    pub(crate) fn of_word(word: u128, len: usize) -> Option<Self> {
        let name = &NAMES[(word >> 32) as usize % NAMES.len()];
        ((word | SMALL) & name.mask == name.word && len == name.len).then_some(name.kind)
    }

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The amount of a deposit or withdrawal; absent if its field is empty, and in the other kinds.
    pub amount: Option<Amount>,
    pub tx: u32,
    pub client: u16,
    pub kind: Kind,
}

impl Row {
    /// Writes the row as a line with its line break.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Row { kind, client, tx, .. } = self;
        match self.amount {
            Some(amount) => writeln!(out, "{},{client},{tx},{amount}", kind.name()),
            None => writeln!(out, "{},{client},{tx},", kind.name()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Physical line in its file, from 1.
    pub line: u64,
    pub row: Result<Row, ErrorKind>,
}

/// Small enough to be sent by value.
const _: () = assert!(size_of::<Entry>() == 32);

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
