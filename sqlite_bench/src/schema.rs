//! What is in the databases: the published tables, the published query, and blocks to write.

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

/// Blocks in a database at the start.
pub const SEED_BLOCKS: u64 = 100;
/// Transactions of each block at the start.
pub const SEED_TRANSACTIONS: u64 = 5;
/// Transactions of a block that is written later.
pub const WRITE_TRANSACTIONS: u64 = 3;
pub const READ_ROWS: u64 = 50;
pub const DATA_BYTES: usize = 256;
/// Seconds between two blocks.
const BLOCK_TIME_S: i64 = 10;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS blocks (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL, parent_hash TEXT NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS transactions (
    id INTEGER PRIMARY KEY, block_id INTEGER NOT NULL REFERENCES blocks(id), from_address TEXT NOT NULL, to_address TEXT NOT NULL,
    amount INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS blocks_timestamp ON blocks(timestamp);
CREATE INDEX IF NOT EXISTS blocks_hash ON blocks(hash);
CREATE INDEX IF NOT EXISTS transactions_from ON transactions(from_address);
CREATE INDEX IF NOT EXISTS transactions_to ON transactions(to_address);
";
/// The index that the published schema lacks: its query joins on this column.
pub const JOIN_INDEX: &str = "CREATE INDEX IF NOT EXISTS transactions_block ON transactions(block_id);";

/// Newest transactions with their blocks. The order is total, so that every design must return the same rows.
const READ: &str = "
SELECT t.id, b.id, b.hash, t.from_address, t.to_address, t.amount
FROM blocks b JOIN transactions t ON t.block_id = b.id
WHERE b.timestamp > ?1
ORDER BY b.timestamp DESC, t.id DESC
LIMIT ?2";

/// A block and its transactions, all of them derived from its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    pub seed: u64,
    pub transactions: u64,
}

/// A row of a read: numbers of the transaction and of its block, hash of the block, who paid, who was paid, how much.
pub type Row = (i64, i64, String, String, String, i64);

/// Creates the published tables and the blocks of the start.
pub fn create(connection: &Connection, seed: u64) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for number in 0..SEED_BLOCKS {
        insert(connection, Block { number, seed, transactions: SEED_TRANSACTIONS })?;
    }
    connection.execute_batch("COMMIT")
}

/// Inserts a block and its transactions, one statement each; every statement commits if no transaction is open.
pub fn insert(connection: &Connection, block: Block) -> rusqlite::Result<()> {
    let id = block.number.cast_signed();
    let mut statement = connection
        .prepare_cached("INSERT INTO blocks (id, hash, parent_hash, timestamp, data) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    statement.execute(params![id, block.hash(), block.parent_hash(), id * BLOCK_TIME_S, block.data()])?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO transactions (block_id, from_address, to_address, amount) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for index in 0..block.transactions {
        let (from, to, amount) = block.transaction(index);
        statement.execute(params![id, from, to, amount])?;
    }
    Ok(())
}

/// The newest transactions of blocks after the one of number `after`.
pub fn read(connection: &Connection, after: u64) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(READ)?;
    let rows = statement
        .query_map(params![after.cast_signed() * BLOCK_TIME_S, READ_ROWS.cast_signed()], |row| row.try_into())?;
    rows.collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Numbers of the blocks, each with how many transactions it has, in order.
    pub blocks: Vec<(u64, u64)>,
    pub integrity: String,
}

pub fn inspect(connection: &Connection) -> rusqlite::Result<Inspection> {
    let mut statement = connection.prepare(
        "SELECT b.id, COUNT(t.id) FROM blocks b LEFT JOIN transactions t ON t.block_id = b.id GROUP BY b.id ORDER BY b.id",
    )?;
    let count = |number: i64| number.unsigned_abs();
    let blocks =
        statement.query_map([], |row| Ok((count(row.get(0)?), count(row.get(1)?))))?.collect::<Result<_, _>>()?;
    Ok(Inspection { blocks, integrity: integrity(connection)? })
}

/// What SQLite says of the file's integrity: `ok`, or what is wrong.
pub fn integrity(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))
}

/// A fingerprint of rows, the same for the same rows in the same order.
pub fn digest<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut hasher = Sha256::new();
    for (transaction, block, hash, from, to, amount) in rows {
        hasher.update(format!("{transaction} {block} {hash} {from} {to} {amount}\n"));
    }
    let hash = hasher.finalize();
    format!("{:016x}", hash.first_chunk().map_or(0, |head| u64::from_be_bytes(*head)))
}

impl Block {
    pub fn written(number: u64, seed: u64) -> Self {
        Block { number, seed, transactions: WRITE_TRANSACTIONS }
    }

    fn hash(self) -> String {
        format!("{:016x}{:016x}", mix(self.number ^ self.seed), mix(self.number.wrapping_add(self.seed)))
    }

    fn parent_hash(self) -> String {
        Block { number: self.number.wrapping_sub(1), ..self }.hash()
    }

    fn data(self) -> Vec<u8> {
        (0..DATA_BYTES as u64 / 8).flat_map(|word| mix(self.seed ^ (self.number << 8) ^ word).to_le_bytes()).collect()
    }

    fn transaction(self, index: u64) -> (String, String, i64) {
        let random = mix(self.seed ^ (self.number << 16) ^ index);
        let address = |part: u64| format!("account_{:04}", part % 1000);
        (address(random), address(random >> 20), ((random >> 40) % 1_000_000).cast_signed())
    }
}

/// SplitMix64: content must be cheap, deterministic and look random, no more.
fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
