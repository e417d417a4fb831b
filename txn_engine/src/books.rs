//! Where accounts and transactions are kept, whoever applies rows to them.

use std::fmt::Debug;

use crate::rules::Account;
use crate::session::Session;

/// Accounts and accepted transactions, while nobody applies rows.
pub trait Books: Debug + Send + Sync {
    fn accounts(&self) -> Vec<(u16, Account)>;
    /// Bytes of the tables of accounts and transactions, from their capacity.
    fn table_bytes(&self) -> u64;
    fn stored_transactions(&self) -> u64;
    /// Accounts and transactions, each sorted by id: what a later run can go on from.
    fn session(&self) -> Session;
}
