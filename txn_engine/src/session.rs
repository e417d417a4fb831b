//! Dump and go on: the accounts and transactions of a run, so that a later run can go on.
//!
//! A dump is a folder with three files: one of accounts, one of transactions, and `session.json`, which names them with version, row
//! counts and SHA-256. New files get names that the standing `session.json` does not use, are synced, and count once the new
//! `session.json` is renamed into place: until that rename the earlier session stands whole, from then on the new one.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::accounts;
use crate::amount::Amount;
pub use crate::claim::Claim;
use crate::error::Error;
use crate::rules::{Account, StoredTx};

const FORMAT: &str = "txn_engine session";
const VERSION: u32 = 1;
const MANIFEST: &str = "session.json";
/// The manifest before it counts.
const DRAFT: &str = "session.json.new";

/// Accounts and accepted transactions, each sorted by id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// Accounts by client.
    pub accounts: Vec<(u16, Account)>,
    /// Accepted deposits and withdrawals by id.
    pub transactions: Vec<(u32, StoredTx)>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: String,
    version: u32,
    generation: u64,
    accounts: Part,
    transactions: Part,
}

#[derive(PartialEq, Serialize, Deserialize)]
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
    /// Claims the folder `dir`, which is created if absent, for a dump, before there is a session that would be lost. `warn` is told what
    /// its file system cannot do.
    ///
    /// # Errors
    /// If another process has claimed it, it cannot be written to, or it holds a `session.json` that is not ours.
    pub fn claim(dir: &Path, warn: fn(Error)) -> Result<Claim, Error> {
        let claim = Claim::of(dir, warn)?;
        standing(dir)?;
        Ok(claim)
    }

    /// Writes the session to the claimed folder, in place of the session that stands there.
    ///
    /// # Errors
    /// [`Error::SyncDump`] if the new session stands but may not outlast a power cut. All others leave what stood there as it was.
    pub fn dump(&self, claim: Claim) -> Result<(), Error> {
        let claim = claim.renewed()?;
        let dir = claim.path.as_path();
        let before = standing(dir)?;
        let old: Vec<_> = before.iter().flat_map(|before| [&before.accounts.file, &before.transactions.file]).collect();
        // Sets of names take turns, so that what a killed run has left is overwritten. Two files are of two of three sets at most.
        let is_free = |set: &u8| !old.iter().any(|file| file.ends_with(&format!("-{set}.csv")));
        let set = (1..3).find(is_free).unwrap_or(3);
        let generation = before.as_ref().map_or(1, |before| before.generation.wrapping_add(1));
        let new = ["accounts", "transactions"].map(|part| format!("{part}-{set}.csv"));
        let failed = |source| {
            new.iter().map(String::as_str).chain([DRAFT]).for_each(|file| discard(dir, file));
            Error::WriteDump { path: dir.to_owned(), source }
        };
        self.write(&claim, generation, new.clone()).map_err(failed)?;
        fs::rename(dir.join(DRAFT), dir.join(MANIFEST)).or_else(|source| {
            // A file system over a network may rename and report a failure: what stands there decides.
            if standing(dir)? == before { Err(failed(source)) } else { Ok(()) }
        })?;
        let not_synced = |source| Error::SyncDump { path: dir.to_owned(), source };
        match claim.sync().map_err(not_synced)? {
            None => old.iter().for_each(|file| discard(dir, file)),
            // A power cut may bring the earlier session back: its files stay.
            Some(source) => (claim.warn)(not_synced(source)),
        }
        Ok(())
    }

    /// Reads the session that stands in the folder `dir`, whoever has claimed it.
    ///
    /// # Errors
    /// If a file is missing, damaged, foreign or of another version.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let manifest = read_manifest(dir)?;
        match read_parts(dir, &manifest) {
            // Another process has dumped in the meantime, and removed what was about to be read.
            Err(_) if read_manifest(dir)? != manifest => Self::read(dir),
            read => read,
        }
    }

    /// Writes and syncs all files of a dump, under names that do not count yet.
    fn write(&self, claim: &Claim, generation: u64, [accounts, transactions]: [String; 2]) -> io::Result<()> {
        let dir = &claim.path;
        let sha256 = write_new(dir, &accounts, |out| accounts::write_csv(&self.accounts, out))?;
        let accounts = Part { file: accounts, rows: self.accounts.len() as u64, sha256 };
        let sha256 = write_new(dir, &transactions, |out| self.write_transactions(out))?;
        let transactions = Part { file: transactions, rows: self.transactions.len() as u64, sha256 };
        let manifest = Manifest { format: FORMAT.to_owned(), version: VERSION, generation, accounts, transactions };
        let text = serde_json::to_string_pretty(&manifest)?;
        write_new(dir, DRAFT, |out| writeln!(out, "{text}"))?;
        // What the manifest names must outlast a power cut that the manifest outlasts.
        claim.sync().map(drop)
    }

    fn write_transactions(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "tx,client,amount,state")?;
        for (id, tx) in &self.transactions {
            writeln!(out, "{id},{},{},{}", tx.client, tx.signed(), tx.state)?;
        }
        Ok(())
    }
}

/// The manifest of the session that stands in the folder `dir`.
fn standing(dir: &Path) -> Result<Option<Manifest>, Error> {
    match read_manifest(dir) {
        Err(Error::ReadDump { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// Removes a file that no manifest names; if that fails it only takes up space.
fn discard(dir: &Path, file: &str) {
    let _ = fs::remove_file(dir.join(file));
}

/// Writes and syncs the file `name` in `dir`, in place of one that no manifest names; its SHA-256.
fn write_new(dir: &Path, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<String> {
    discard(dir, name);
    let mut file = File::options().read(true).write(true).create_new(true).open(dir.join(name))?;
    let mut out = BufWriter::new(&mut file);
    content(&mut out)?;
    out.flush()?;
    drop(out);
    file.sync_all()?;
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut written = BufReader::new(file);
    while let read @ [_, ..] = written.fill_buf()? {
        hash.update(read);
        let length = read.len();
        written.consume(length);
    }
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

fn read_parts(dir: &Path, manifest: &Manifest) -> Result<Session, Error> {
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
