//! The rules of the engine as pure functions on one account and one stored transaction.
//!
//! Every engine calls these, in the same order of checks; where accounts and transactions are kept is the engine's affair.

use crate::amount::Amount;
use crate::error::ErrorKind;
use crate::row::{Kind, Row};

/// What a client owns. The total is `available + held` and always fits 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Account {
    /// What can be withdrawn; below zero if a disputed deposit was spent.
    pub available: Amount,
    /// What is under dispute; below zero if a withdrawal is.
    pub held: Amount,
    /// Charged back: nothing is accepted any more.
    pub locked: bool,
}

/// State of an accepted deposit or withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum State {
    /// Not contested.
    Settled,
    /// Under dispute.
    Disputed,
    /// Undone.
    ChargedBack,
}

/// An accepted deposit or withdrawal, in 12 bytes: with its id it fills a 16-byte slot of a hash table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredTx {
    // Two halves, because an i64 would align the slot to 8 bytes and make it 24 bytes long.
    units: [u32; 2],
    client: u16,
    state: State,
}

impl StoredTx {
    /// A transaction that moved `signed` (above zero: deposit, below: withdrawal) for `client`.
    #[must_use]
    pub fn new(client: u16, signed: Amount, state: State) -> Self {
        let bits = signed.units().cast_unsigned();
        #[expect(clippy::cast_possible_truncation, reason = "the halves of a 64-bit number")]
        let units = [bits as u32, (bits >> 32) as u32];
        StoredTx { units, client, state }
    }

    /// What it moved: above zero for a deposit, below for a withdrawal.
    #[must_use]
    pub fn signed(&self) -> Amount {
        let bits = u64::from(self.units[0]) | u64::from(self.units[1]) << 32;
        Amount::from_units(bits.cast_signed())
    }

    /// Whose it is.
    #[must_use]
    pub fn client(&self) -> u16 {
        self.client
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }
}

/// The row's amount, if it is there and above zero: the first two checks of deposits and withdrawals.
pub(crate) fn positive_amount(row: &Row) -> Result<Amount, ErrorKind> {
    let amount = row.amount.ok_or(ErrorKind::NoAmount)?;
    if amount.is_positive() { Ok(amount) } else { Err(ErrorKind::NotPositive) }
}

impl Account {
    /// `available + held`.
    #[must_use]
    pub fn total(&self) -> Amount {
        // Checked whenever either changes.
        Amount::from_units(self.available.units() + self.held.units())
    }

    /// Adds `amount`: locked, then overflow.
    pub(crate) fn deposit(&mut self, amount: Amount) -> Result<(), ErrorKind> {
        if self.locked {
            return Err(ErrorKind::AccountLocked);
        }
        let available = self.available.checked_add(amount);
        self.settle(available, Some(self.held))
    }

    /// Takes `amount`: locked, funds, then overflow.
    pub(crate) fn withdraw(&mut self, amount: Amount) -> Result<(), ErrorKind> {
        if self.locked {
            return Err(ErrorKind::AccountLocked);
        }
        if self.available < amount {
            return Err(ErrorKind::InsufficientFunds);
        }
        let available = self.available.checked_sub(amount);
        self.settle(available, Some(self.held))
    }

    /// Dispute, resolve or chargeback of `tx`, which is `None` if no accepted transaction has the id.
    pub(crate) fn contest(&mut self, kind: Kind, client: u16, tx: Option<&mut StoredTx>) -> Result<(), ErrorKind> {
        if self.locked {
            return Err(ErrorKind::AccountLocked);
        }
        let tx = tx.ok_or(ErrorKind::TxNotFound)?;
        if tx.client != client {
            return Err(ErrorKind::DifferentClient);
        }
        let signed = tx.signed();
        match (kind, tx.state) {
            (Kind::Dispute, State::Settled) => {
                self.settle(self.available.checked_sub(signed), self.held.checked_add(signed))?;
                tx.state = State::Disputed;
            }
            (Kind::Dispute, _) => return Err(ErrorKind::AlreadyDisputed),
            (Kind::Resolve, State::Disputed) => {
                self.settle(self.available.checked_add(signed), self.held.checked_sub(signed))?;
                tx.state = State::Settled;
            }
            (Kind::Chargeback, State::Disputed) => {
                self.settle(Some(self.available), self.held.checked_sub(signed))?;
                tx.state = State::ChargedBack;
                self.locked = true;
            }
            _ => return Err(ErrorKind::NotDisputed),
        }
        Ok(())
    }

    /// Takes both balances over, or neither: a rejected row changes nothing.
    fn settle(&mut self, available: Option<Amount>, held: Option<Amount>) -> Result<(), ErrorKind> {
        let (Some(available), Some(held)) = (available, held) else {
            return Err(ErrorKind::Overflow);
        };
        if available.checked_add(held).is_none() {
            return Err(ErrorKind::Overflow);
        }
        self.available = available;
        self.held = held;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_transaction_fills_twelve_bytes_and_keeps_its_sign() {
        assert_eq!(size_of::<(u32, StoredTx)>(), 16);
        for units in [0, 1, -1, i64::MAX, i64::MIN] {
            let tx = StoredTx::new(7, Amount::from_units(units), State::Settled);
            assert_eq!(tx.signed().units(), units);
        }
    }

    #[test]
    fn an_overflow_changes_nothing() {
        let mut account = Account { available: Amount::from_units(i64::MAX), ..Account::default() };
        let before = account;
        assert_eq!(account.deposit(Amount::from_units(1)), Err(ErrorKind::Overflow));
        assert_eq!(account, before);
    }
}
