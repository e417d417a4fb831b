//! Dump and go on: the accounts and transactions of a run, so that a later run can go on.
//!
//! A dump is a folder with three files: `accounts-G.csv` and `transactions-G.csv`, where G is a generation number, and
//! `session.json`, which names them with version, row counts and SHA-256. Everything is written to a temporary file,
//! synced and renamed, `session.json` last: until that rename the earlier session stays whole, whatever happens.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::accounts;
use crate::amount::Amount;
use crate::error::Error;
use crate::rules::{Account, StoredTx};

const FORMAT: &str = "txn_engine session";
const VERSION: u32 = 1;
const MANIFEST: &str = "session.json";

/// Accounts and accepted transactions, each sorted by id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// Accounts by client.
    pub accounts: Vec<(u16, Account)>,
    /// Accepted deposits and withdrawals by id.
    pub transactions: Vec<(u32, StoredTx)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: String,
    version: u32,
    generation: u64,
    accounts: Part,
    transactions: Part,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    file: String,
    rows: u64,
    sha256: String,
}

// Lines as columns: the checksum vouches for their order, too.
type AccountLine = (u16, String, String, String, bool);
type TransactionLine = (u32, u16, String, String);

impl Session {
    /// Writes the session to the folder `dir`, which is created if absent, in place of the session that stands there.
    ///
    /// # Errors
    /// If something cannot be written, or `dir` holds a `session.json` that is not ours. What stood there is whole then.
    pub fn dump(&self, dir: &Path) -> Result<(), Error> {
        let failed = |source| Error::WriteDump { path: dir.to_owned(), source };
        let before = standing(dir)?;
        let generation = before.as_ref().map_or(1, |manifest| manifest.generation + 1);

        let names = ["accounts", "transactions"].map(|part| format!("{part}-{generation}.csv"));
        let [accounts, transactions] = names.clone();
        let write = || -> io::Result<String> {
            let sha256 = write_whole(dir, &accounts, |out| accounts::write_csv(&self.accounts, out))?;
            let accounts = Part { file: accounts, rows: self.accounts.len() as u64, sha256 };
            let sha256 = write_whole(dir, &transactions, |out| self.write_transactions(out))?;
            let transactions = Part { file: transactions, rows: self.transactions.len() as u64, sha256 };
            let manifest = Manifest { format: FORMAT.to_owned(), version: VERSION, generation, accounts, transactions };
            let text = serde_json::to_string_pretty(&manifest)?;
            write_whole(dir, MANIFEST, |out| writeln!(out, "{text}"))
        };
        write().inspect_err(|_| names.iter().for_each(|name| discard(dir, name))).map_err(failed)?;
        if let Some(Manifest { accounts, transactions, .. }) = before {
            discard(dir, &accounts.file);
            discard(dir, &transactions.file);
        }
        Ok(())
    }

    /// Makes sure that a session can be dumped to the folder `dir`, before there is one that would be lost.
    ///
    /// # Errors
    /// If it cannot be written to, or holds a `session.json` that is not ours.
    pub fn expect_dump(dir: &Path) -> Result<(), Error> {
        standing(dir)?;
        NamedTempFile::new_in(dir).map(drop).map_err(|source| Error::WriteDump { path: dir.to_owned(), source })
    }

    /// Reads the session in the folder `dir`.
    ///
    /// # Errors
    /// If a file is missing, damaged, foreign or of another version.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let manifest = read_manifest(dir)?;
        let amount = |text: String| Amount::parse(text.as_bytes());
        let accounts = read_part(dir, &manifest.accounts, |(client, available, held, total, locked): AccountLine| {
            let account = Account { available: amount(available)?, held: amount(held)?, locked };
            let sum = account.available.checked_add(account.held)?;
            (amount(total)? == sum).then_some((client, account))
        })?;
        let transactions = read_part(dir, &manifest.transactions, |(tx, client, signed, state): TransactionLine| {
            let signed = amount(signed)?;
            // What undoes it must be an amount, too.
            signed.0.checked_neg()?;
            Some((tx, StoredTx::new(client, signed, state.parse().ok()?)))
        })?;
        Ok(Session { accounts, transactions })
    }

    fn write_transactions(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "tx,client,amount,state")?;
        for (id, tx) in &self.transactions {
            writeln!(out, "{id},{},{},{}", tx.client, tx.signed(), tx.state)?;
        }
        Ok(())
    }
}

/// The manifest of the session that stands in the folder `dir`, which is created if absent.
fn standing(dir: &Path) -> Result<Option<Manifest>, Error> {
    fs::create_dir_all(dir).map_err(|source| Error::WriteDump { path: dir.to_owned(), source })?;
    dir.join(MANIFEST).exists().then(|| read_manifest(dir)).transpose()
}

/// Removes a file that no manifest names; if that fails it only takes up space.
fn discard(dir: &Path, file: &str) {
    let _ = fs::remove_file(dir.join(file));
}

/// Writes `name` in `dir` under a temporary name, syncs and renames it; its SHA-256.
fn write_whole(dir: &Path, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    let mut file = NamedTempFile::new_in(dir)?;
    let mut out = BufWriter::new(file.as_file_mut());
    content(&mut out)?;
    out.flush()?;
    drop(out);
    file.as_file().sync_all()?;
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut written = BufReader::new(file.as_file());
    while let read @ [_, ..] = written.fill_buf()? {
        hash.update(read);
        let length = read.len();
        written.consume(length);
    }
    file.persist(dir.join(name)).map_err(|error| error.error)?;
    // The rename itself is durable once the folder is.
    File::open(dir)?.sync_all()?;
    Ok(hex::encode(hash.finalize()))
}

fn read(dir: &Path, file: &str) -> Result<Vec<u8>, Error> {
    let path = dir.join(file);
    fs::read(&path).map_err(|source| Error::ReadDump { path, source })
}

fn read_manifest(dir: &Path) -> Result<Manifest, Error> {
    let refused = |reason| Error::RefusedDump { path: dir.join(MANIFEST), reason };
    let manifest: Manifest = serde_json::from_slice(&read(dir, MANIFEST)?)
        .map_err(|error| refused(format!("session.json is damaged or not of this program ({error})")))?;
    // A name with a path in it could make us read, and later remove, files elsewhere.
    let is_outside = |part: &&Part| Path::new(&part.file).file_name() != Some(part.file.as_ref());
    Err(refused(if manifest.format != FORMAT {
        format!("session.json is of another program, '{}'", manifest.format)
    } else if manifest.version != VERSION {
        format!("it has version {}, this program reads version {VERSION}", manifest.version)
    } else if let Some(part) = [&manifest.accounts, &manifest.transactions].into_iter().find(is_outside) {
        format!("it names a file outside of its folder, '{}'", part.file)
    } else {
        return Ok(manifest);
    }))
}

fn read_part<L: serde::de::DeserializeOwned, T>(
    dir: &Path,
    part: &Part,
    convert: impl Fn(L) -> Option<T>,
) -> Result<Vec<T>, Error> {
    let bytes = read(dir, &part.file)?;
    let refused = |reason| Error::RefusedDump { path: dir.join(&part.file), reason };
    if hex::encode(Sha256::digest(&bytes)) != part.sha256 {
        return Err(refused("it was changed after it was written (its SHA-256 differs)".to_owned()));
    }
    let mut rows = Vec::new();
    for (index, line) in csv::Reader::from_reader(bytes.as_slice()).deserialize().enumerate() {
        let row = line.ok().and_then(&convert);
        rows.push(row.ok_or_else(|| refused(format!("line {} cannot be read", index + 2)))?);
    }
    if rows.len() as u64 != part.rows {
        return Err(refused(format!("it has {} rows, session.json says {}", rows.len(), part.rows)));
    }
    Ok(rows)
}
