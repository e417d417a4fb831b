//! The output: accounts as CSV.

use std::io::{self, Write};

use crate::rules::Account;

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
