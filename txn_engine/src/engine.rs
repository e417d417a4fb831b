//! The shared engine of the sync and async runners: any number of threads or tasks apply rows to it at once.

use std::hash::Hash;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry as Slot;

use crate::accounts::Books;
use crate::error::ErrorKind;
use crate::hash::IdHash;
use crate::row::{Kind, Row};
use crate::rules::{Account, State, StoredTx, positive_amount};
use crate::session::Session;

/// Accounts and accepted transactions in two `DashMap`s. A row first locks the shard of its transaction, then that of its account, never the
/// other way round, so that rows cannot wait for each other in a circle.
#[derive(Debug, Default)]
pub struct Engine {
    accounts: DashMap<u16, Account, IdHash>,
    transactions: DashMap<u32, StoredTx, IdHash>,
}

impl Engine {
    pub fn resume(session: Session) -> Self {
        Engine {
            accounts: session.accounts.into_iter().collect(),
            transactions: session.transactions.into_iter().collect(),
        }
    }

    /// Applies one row, or says why it is rejected; nothing has changed then.
    pub fn process(&self, row: &Row) -> Result<(), ErrorKind> {
        if row.kind.needs_amount() { self.move_money(row) } else { self.contest(row) }
    }

    fn move_money(&self, row: &Row) -> Result<(), ErrorKind> {
        let amount = positive_amount(row)?;
        let Slot::Vacant(slot) = self.transactions.entry(row.tx) else {
            return Err(ErrorKind::RepeatedTx);
        };
        let signed = match self.accounts.get_mut(&row.client) {
            Some(account) => account,
            // A new account accepts any positive amount, so none is created for a row that is rejected.
            None if row.kind == Kind::Deposit => self.accounts.entry(row.client).or_default(),
            None => return Err(ErrorKind::AccountNotFound),
        }
        .move_money(row.kind, amount)?;
        slot.insert(StoredTx::new(row.client, signed, State::Settled));
        Ok(())
    }

    fn contest(&self, row: &Row) -> Result<(), ErrorKind> {
        // What the account alone decides needs no look at the transaction; a lock is never lifted, so this cannot become wrong.
        if self.accounts.get(&row.client).ok_or(ErrorKind::AccountNotFound)?.locked {
            return Err(ErrorKind::AccountLocked);
        }
        let mut tx = self.transactions.get_mut(&row.tx);
        let mut account = self.accounts.get_mut(&row.client).ok_or(ErrorKind::AccountNotFound)?;
        account.contest(row.kind, row.client, tx.as_deref_mut())
    }
}

impl Books for Engine {
    fn accounts(&self) -> Vec<(u16, Account)> {
        sorted(&self.accounts)
    }

    /// A slot is the entry and one byte of control.
    fn table_bytes(&self) -> u64 {
        table_bytes::<(u16, Account)>(self.accounts.capacity())
            + table_bytes::<(u32, StoredTx)>(self.transactions.capacity())
    }

    fn stored_transactions(&self) -> u64 {
        self.transactions.len() as u64
    }

    fn session(&self) -> Session {
        Session { accounts: self.accounts(), transactions: sorted(&self.transactions) }
    }
}

fn sorted<K: Copy + Eq + Hash + Ord, V: Copy>(table: &DashMap<K, V, IdHash>) -> Vec<(K, V)> {
    let mut entries: Vec<_> = table.iter().map(|entry| (*entry.key(), *entry.value())).collect();
    entries.sort_unstable_by_key(|&(id, _)| id);
    entries
}

/// Bytes of a hash table that can hold `capacity` entries of type `T`: it is filled to 7/8 at most.
pub(crate) fn table_bytes<T>(capacity: usize) -> u64 {
    (capacity as u64).div_ceil(7) * 8 * (size_of::<T>() as u64 + 1)
}
