//! The output: accounts as CSV.

use std::io::{self, Write};

use crate::rules::Account;

const HEADER: &str = "client,available,held,total,locked\n";

/// Writes the header and one line per account, `client,available,held,total,locked`, in the order given; amounts with four decimals.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(accounts: &[(u16, Account)], mut out: impl Write) -> io::Result<()> {
    out.write_all(HEADER.as_bytes())?;
    for (client, account) in accounts {
        out.write_all(line(*client, account).as_bytes())?;
    }
    out.flush()
}

/// The same in memory.
#[must_use]
pub fn to_csv(accounts: &[(u16, Account)]) -> Vec<u8> {
    let mut csv = HEADER.as_bytes().to_vec();
    for (client, account) in accounts {
        csv.extend_from_slice(line(*client, account).as_bytes());
    }
    csv
}

fn line(client: u16, account: &Account) -> String {
    let Account { available, held, locked } = account;
    format!("{client},{available},{held},{},{locked}\n", account.total())
}
