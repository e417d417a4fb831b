//! The single-owner engine of `best_one_core` and `best_all_cores`: the same rules without locks.

use crate::accounts::Books;
use crate::error::ErrorKind;
use crate::row::{Kind, Row};
use crate::rules::{Account, State, StoredTx, positive_amount};
use crate::session::Session;
use crate::transactions::Transactions;

/// Accounts in an array and transactions by number, owned by one thread at a time: an array of all 65,536 clients is 1.5 MiB.
#[derive(Debug)]
pub struct Ledger {
    accounts: Vec<Option<Account>>,
    transactions: Transactions,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger { accounts: vec![None; usize::from(u16::MAX) + 1], transactions: Transactions::default() }
    }
}

impl Ledger {
    pub fn resume(session: Session) -> Self {
        let mut ledger = Ledger::default();
        for (client, account) in session.accounts {
            ledger.accounts[usize::from(client)] = Some(account);
        }
        for (id, tx) in session.transactions {
            ledger.transactions.insert(id, tx);
        }
        ledger
    }

    /// Has the account of `row` fetched, which will be applied soon: the accounts are larger than the second-level cache.
    #[inline]
    pub fn fetch(&self, row: &Row) {
        let account = &self.accounts[usize::from(row.client)];
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch has no effect but on the cache, whatever the address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(account).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        std::hint::black_box(account.is_some());
    }

    /// Applies one row, or says why it is rejected; nothing has changed then.
    #[inline]
    pub fn process(&mut self, row: &Row) -> Result<(), ErrorKind> {
        let Ledger { accounts, transactions } = self;
        let account = &mut accounts[usize::from(row.client)];
        if !row.kind.needs_amount() {
            let account = account.as_mut().ok_or(ErrorKind::AccountNotFound)?;
            if account.locked {
                // Decided already: the transaction need not be looked for.
                return Err(ErrorKind::AccountLocked);
            }
            return account.contest(row.kind, row.client, transactions.get_mut(row.tx));
        }
        let amount = positive_amount(row)?;
        if transactions.contains(row.tx) {
            return Err(ErrorKind::RepeatedTx);
        }
        let account = match account {
            Some(account) => account,
            // A new account accepts any positive amount, so none is created for a row that is rejected.
            None if row.kind == Kind::Deposit => account.insert(Account::default()),
            None => return Err(ErrorKind::AccountNotFound),
        };
        let signed = account.move_money(row.kind, amount)?;
        transactions.insert(row.tx, StoredTx::new(row.client, signed, State::Settled));
        Ok(())
    }
}

impl Books for Ledger {
    fn accounts(&self) -> Vec<(u16, Account)> {
        (0..=u16::MAX).zip(&self.accounts).filter_map(|(client, account)| Some((client, (*account)?))).collect()
    }

    fn table_bytes(&self) -> u64 {
        (self.accounts.capacity() * size_of::<Option<Account>>()) as u64 + self.transactions.bytes()
    }

    fn stored_transactions(&self) -> u64 {
        self.transactions.len() as u64
    }

    fn session(&self) -> Session {
        Session { accounts: self.accounts(), transactions: self.transactions.sorted() }
    }
}
