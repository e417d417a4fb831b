//! Accounts and transactions, whoever applies rows to them; and accounts as CSV, which is the output.

use std::fmt::Debug;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use crate::rules::Account;
use crate::session::Session;

/// Accounts and accepted transactions, while nobody applies rows.
pub trait Books: Debug + Send + Sync {
    /// Sorted by client.
    fn accounts(&self) -> Vec<(u16, Account)>;
    /// Bytes of the tables of accounts and transactions, from their capacity.
    fn table_bytes(&self) -> u64;
    /// How many deposits and withdrawals were accepted.
    fn stored_transactions(&self) -> u64;
    /// Accounts and transactions, each sorted by id: what a later run can go on from.
    fn session(&self) -> Session;
}

/// Writes the header and one line per account, `client,available,held,total,locked`, in the order given; amounts with four decimals.
pub fn write_csv(accounts: &[(u16, Account)], mut out: impl Write) -> io::Result<()> {
    out.write_all(b"client,available,held,total,locked\n")?;
    for (client, account) in accounts {
        let Account { available, held, locked } = account;
        writeln!(out, "{client},{available},{held},{},{locked}", account.total())?;
    }
    out.flush()
}

pub fn to_csv(accounts: &[(u16, Account)]) -> Vec<u8> {
    let mut csv = Vec::new();
    // Writing to a vector cannot fail.
    let _ = write_csv(accounts, &mut csv);
    csv
}

/// The first 16 hexadecimal digits of the SHA-256 of accounts as CSV.
pub fn digest(csv: &[u8]) -> String {
    hex::encode(&Sha256::digest(csv)[..8])
}
