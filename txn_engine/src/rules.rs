//! The rules of the engine on one account and one stored transaction: every engine calls these, in the same order of checks.

use serde::{Deserialize, Serialize};

use crate::amount::Amount;
use crate::error::ErrorKind;
use crate::row::{Kind, Row};

/// What a client owns. The total is `available + held` and always fits 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// What can be withdrawn; below zero if a disputed deposit was spent.
    pub available: Amount,
    /// What is under dispute; below zero if a withdrawal is.
    pub held: Amount,
    /// Charged back: nothing is accepted any more.
    pub locked: bool,
}

/// State of an accepted deposit or withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Settled,
    Disputed,
    ChargedBack,
}

/// An accepted deposit or withdrawal, in 12 bytes: with its id it fills a 16-byte slot of a hash table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u16, Amount, State)", into = "(u16, Amount, State)")]
pub struct StoredTx {
    // Two halves, because an i64 would align the slot to 8 bytes and make it 24 bytes long.
    units: [u32; 2],
    pub client: u16,
    pub state: State,
}

const _: () = assert!(size_of::<(u32, StoredTx)>() == 16);

impl StoredTx {
    /// A transaction that moved `signed` (above zero: deposit, below: withdrawal) for `client`.
    pub fn new(client: u16, signed: Amount, state: State) -> Self {
        let bits = signed.0.cast_unsigned();
        #[expect(clippy::cast_possible_truncation, reason = "the halves of a 64-bit number")]
        let units = [bits as u32, (bits >> 32) as u32];
        StoredTx { units, client, state }
    }

    pub fn signed(&self) -> Amount {
        let bits = u64::from(self.units[0]) | u64::from(self.units[1]) << 32;
        Amount(bits.cast_signed())
    }
}

/// The row's amount, if it is there and above zero: the first two checks of deposits and withdrawals.
pub(crate) fn positive_amount(row: &Row) -> Result<Amount, ErrorKind> {
    let amount = row.amount.ok_or(ErrorKind::NoAmount)?;
    if amount > Amount::ZERO { Ok(amount) } else { Err(ErrorKind::NotPositive) }
}

impl From<(u16, Amount, State)> for StoredTx {
    fn from((client, signed, state): (u16, Amount, State)) -> Self {
        StoredTx::new(client, signed, state)
    }
}

impl From<StoredTx> for (u16, Amount, State) {
    fn from(tx: StoredTx) -> Self {
        (tx.client, tx.signed(), tx.state)
    }
}

impl Account {
    pub fn total(&self) -> Amount {
        // Checked whenever either changes.
        Amount(self.available.0 + self.held.0)
    }

    /// Deposits or withdraws `amount`: locked, funds, then overflow. What it moved: below zero for a withdrawal.
    pub(crate) fn move_money(&mut self, kind: Kind, amount: Amount) -> Result<Amount, ErrorKind> {
        if self.locked {
            return Err(ErrorKind::AccountLocked);
        }
        if kind == Kind::Withdrawal && self.available < amount {
            return Err(ErrorKind::InsufficientFunds);
        }
        let signed = if kind == Kind::Withdrawal { -amount } else { amount };
        self.change(signed, Amount::ZERO).map(|()| signed)
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
                self.change(-signed, signed)?;
                tx.state = State::Disputed;
            }
            (Kind::Dispute, _) => return Err(ErrorKind::AlreadyDisputed),
            (Kind::Resolve, State::Disputed) => {
                self.change(signed, -signed)?;
                tx.state = State::Settled;
            }
            (Kind::Chargeback, State::Disputed) => {
                self.change(Amount::ZERO, -signed)?;
                tx.state = State::ChargedBack;
                self.locked = true;
            }
            _ => return Err(ErrorKind::NotDisputed),
        }
        Ok(())
    }

    /// Changes both balances, or neither: a rejected row changes nothing.
    fn change(&mut self, available: Amount, held: Amount) -> Result<(), ErrorKind> {
        let changed = self.available.checked_add(available).zip(self.held.checked_add(held));
        let fits = |&(available, held): &(Amount, Amount)| available.checked_add(held).is_some();
        (self.available, self.held) = changed.filter(fits).ok_or(ErrorKind::Overflow)?;
        Ok(())
    }
}
