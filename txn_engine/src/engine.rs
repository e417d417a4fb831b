//! The shared engine of the sync and async arms: any number of threads or tasks apply rows to it at once.

use dashmap::DashMap;
use dashmap::mapref::entry::Entry as Slot;

use crate::error::ErrorKind;
use crate::hash::IdHash;
use crate::row::{Kind, Row};
use crate::rules::{Account, State, StoredTx, positive_amount};
use crate::session::Session;

/// Accounts and accepted transactions in two `DashMap`s.
///
/// A row first locks the shard of its transaction, then the shard of its account, never the other way round, so that rows
/// cannot wait for each other in a circle; and a row is applied as a whole or not at all.
#[derive(Debug, Default)]
pub struct Engine {
    accounts: DashMap<u16, Account, IdHash>,
    transactions: DashMap<u32, StoredTx, IdHash>,
}

impl Engine {
    /// An engine that goes on where `session` ended.
    #[must_use]
    pub fn resume(session: Session) -> Self {
        Engine {
            accounts: session.accounts.into_iter().collect(),
            transactions: session.transactions.into_iter().collect(),
        }
    }

    /// Applies one row.
    ///
    /// # Errors
    /// The reason why the row is rejected; nothing has changed then.
    pub fn process(&self, row: &Row) -> Result<(), ErrorKind> {
        match row.kind {
            Kind::Deposit => self.deposit(row),
            Kind::Withdrawal => self.withdraw(row),
            Kind::Dispute | Kind::Resolve | Kind::Chargeback => self.contest(row),
        }
    }

    fn deposit(&self, row: &Row) -> Result<(), ErrorKind> {
        let amount = positive_amount(row)?;
        let Slot::Vacant(slot) = self.transactions.entry(row.tx) else {
            return Err(ErrorKind::RepeatedTx);
        };
        // A new account accepts any positive amount, so none is created for a row that is rejected.
        match self.accounts.get_mut(&row.client) {
            Some(mut account) => account.deposit(amount)?,
            None => self.accounts.entry(row.client).or_default().deposit(amount)?,
        }
        slot.insert(StoredTx::new(row.client, amount, State::Settled));
        Ok(())
    }

    fn withdraw(&self, row: &Row) -> Result<(), ErrorKind> {
        let amount = positive_amount(row)?;
        let Slot::Vacant(slot) = self.transactions.entry(row.tx) else {
            return Err(ErrorKind::RepeatedTx);
        };
        self.accounts.get_mut(&row.client).ok_or(ErrorKind::AccountNotFound)?.withdraw(amount)?;
        let signed = crate::amount::Amount::from_units(-amount.units());
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

    /// Bytes of the two hash tables, from their capacity: a slot is the entry and one byte of control.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        table_bytes::<(u16, Account)>(self.accounts.capacity())
            + table_bytes::<(u32, StoredTx)>(self.transactions.capacity())
    }

    /// How many transactions are stored.
    #[must_use]
    pub fn stored_transactions(&self) -> u64 {
        self.transactions.len() as u64
    }

    /// The accounts, sorted by client.
    #[must_use]
    pub fn accounts(&self) -> Vec<(u16, Account)> {
        let mut accounts: Vec<_> = self.accounts.iter().map(|entry| (*entry.key(), *entry.value())).collect();
        accounts.sort_unstable_by_key(|&(client, _)| client);
        accounts
    }

    /// Accounts and transactions as they are, each sorted by id, while nobody applies rows.
    #[must_use]
    pub fn session(&self) -> Session {
        let mut transactions: Vec<_> = self.transactions.iter().map(|entry| (*entry.key(), *entry.value())).collect();
        transactions.sort_unstable_by_key(|&(tx, _)| tx);
        Session { accounts: self.accounts(), transactions }
    }

    /// Accounts and transactions, each sorted by id.
    #[must_use]
    pub fn into_session(self) -> Session {
        let accounts = self.accounts();
        let mut transactions: Vec<_> = self.transactions.into_iter().collect();
        transactions.sort_unstable_by_key(|&(tx, _)| tx);
        Session { accounts, transactions }
    }
}

/// Bytes of a hash table that can hold `capacity` entries of type `T`: it is filled to 7/8 at most.
pub(crate) fn table_bytes<T>(capacity: usize) -> u64 {
    (capacity as u64).div_ceil(7) * 8 * (size_of::<T>() as u64 + 1)
}
