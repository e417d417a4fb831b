//! Money as a fixed-point number with four decimals in 64 bits.

use std::fmt;
use std::ops::Neg;

use serde::{Deserialize, Serialize};

/// Units per whole: four decimals.
pub(crate) const SCALE: i64 = 10_000;
pub(crate) const DECIMALS: usize = 4;
/// Whole digits that cannot overflow even if every byte stands for 255.
const SAFE_DIGITS: usize = 12;

/// An amount of money in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Amount(pub i64);

impl Amount {
    pub const ZERO: Amount = Amount(0);

    /// Reads an optional sign and decimal digits with at most one point (`.5`, `7.`, `+3.25`).
    /// `None` for anything else, for more than four significant decimals, and for values that do not fit 64 bits.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] | rest => (false, rest),
        };
        let point = digits.iter().position(|&byte| byte == b'.');
        let (whole, fraction) = digits.split_at(point.unwrap_or(digits.len()));
        let fraction = fraction.get(1..).unwrap_or_default();
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        if whole.len() <= SAFE_DIGITS && fraction.len() == DECIMALS {
            // The common case cannot overflow, so the digits need no check each.
            let mut bad = 0;
            let mut units = 0_i64;
            for byte in whole.iter().chain(fraction) {
                let digit = byte.wrapping_sub(b'0');
                bad |= u8::from(digit > 9);
                units = units * 10 - i64::from(digit);
            }
            return (bad == 0).then_some(Amount(if negative { units } else { -units }));
        }
        // Collected below zero, because the negative side reaches one unit further.
        let decimals = (0..DECIMALS).map(|place| fraction.get(place).copied().unwrap_or(b'0'));
        let units = whole.iter().copied().chain(decimals).try_fold(0_i64, |units, byte| {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 { None } else { units.checked_mul(10)?.checked_sub(i64::from(digit)) }
        })?;
        if fraction.len() > DECIMALS && fraction[DECIMALS..].iter().any(|&byte| byte != b'0') {
            return None;
        }
        if negative { Some(Amount(units)) } else { units.checked_neg().map(Amount) }
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Amount)
    }
}

impl Neg for Amount {
    type Output = Amount;

    fn neg(self) -> Amount {
        Amount(-self.0)
    }
}

impl fmt::Display for Amount {
    /// Always four decimals: `-0.5000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = self.0.unsigned_abs();
        let scale = SCALE.unsigned_abs();
        write!(f, "{sign}{}.{:04}", units / scale, units % scale)
    }
}
