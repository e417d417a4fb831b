//! Test data: the published shape and others, the same bytes for the same seed.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::amount::Amount;
use crate::row::{Kind, Row};

/// What the rows look like.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Shape {
    /// As the published generator: types uniform over five, ids uniform in 1..=10,000,000, clients a saturating cast of
    /// uniform 0..1,000,000 to 16 bits, so that 93 % of the rows hit client 65,535.
    Original,
    /// 65,535 clients, 70 % deposits, 27 % withdrawals, 3 % disputes of open deposits, ids in order: nearly every row is accepted.
    Accepted,
    /// `Accepted` with 93 % of the rows on one client.
    Hot,
    /// `Original` with clients uniform over all 65,536.
    Uniform,
    /// `Original` with these clients and ids from `tx_base` up: one file of the published concurrency test.
    #[cfg_attr(feature = "cli", value(skip))]
    Regression {
        /// Clients to draw from.
        clients: RangeInclusive<u16>,
        /// Smallest id less one.
        tx_base: u32,
    },
}

/// Largest id of the published generator.
const ORIGINAL_IDS: u32 = 10_000_000;
/// Amounts are drawn below 100,000, in ten-thousandths.
pub(crate) const AMOUNT_UNITS: i64 = 1_000_000_000;

/// Writes a header and `rows` rows. Fewer rows of the same seed are a prefix of more.
///
/// # Errors
/// Those of `out`.
pub fn write(shape: &Shape, rows: u64, seed: u64, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "type,client,tx,amount")?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut write_rows =
        |next: &mut dyn FnMut(&mut ChaCha8Rng) -> Row| (0..rows).try_for_each(|_| next(&mut rng).write(&mut out));
    match shape {
        Shape::Accepted | Shape::Hot => {
            let hot = if *shape == Shape::Hot { 0.93 } else { 0.0 };
            let available = vec![0; usize::from(u16::MAX) + 1];
            let mut accepted = Accepted { hot, available, open: Vec::new(), next_tx: 1 };
            write_rows(&mut |rng| accepted.next(rng))?;
        }
        // The cast saturates: that is the published behaviour, and the point.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as published")]
        Shape::Original => write_rows(&mut |rng| uniform(rng, 0, |rng| rng.random_range(0.0..1e6) as u16))?,
        Shape::Uniform => write_rows(&mut |rng| uniform(rng, 0, |rng| rng.random_range(0..=u16::MAX)))?,
        Shape::Regression { clients, tx_base } => {
            write_rows(&mut |rng| uniform(rng, *tx_base, |rng| rng.random_range(clients.clone())))?;
        }
    }
    out.flush()
}

/// A row with type, client, id and amount drawn independently.
fn uniform(rng: &mut ChaCha8Rng, tx_base: u32, client: impl Fn(&mut ChaCha8Rng) -> u16) -> Row {
    let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
    let client = client(rng);
    let tx = tx_base + rng.random_range(1..=ORIGINAL_IDS);
    let amount = Amount(rng.random_range(0..AMOUNT_UNITS));
    Row { amount: kind.needs_amount().then_some(amount), tx, client, kind }
}

/// The generator of rows that an engine accepts: it keeps the books itself.
struct Accepted {
    /// Share of the rows on client 1.
    hot: f64,
    /// Available units by client.
    available: Vec<i64>,
    /// Deposits that can still be disputed, in no order.
    open: Vec<(u16, u32, i64)>,
    next_tx: u32,
}

impl Accepted {
    /// More open deposits than this are not remembered: enough to draw from, and bounded for any number of rows.
    const MOST_OPEN: usize = 100_000;

    fn next(&mut self, rng: &mut ChaCha8Rng) -> Row {
        let draw = rng.random_range(0..100);
        if draw >= 97 && !self.open.is_empty() {
            let place = rng.random_range(0..self.open.len());
            let (client, tx, units) = self.open.swap_remove(place);
            self.available[usize::from(client)] -= units;
            return Row { amount: None, tx, client, kind: Kind::Dispute };
        }
        let is_hot = self.hot > 0.0 && rng.random_bool(self.hot);
        let client = if is_hot { 1 } else { rng.random_range(1..=u16::MAX) };
        let available = &mut self.available[usize::from(client)];
        let tx = self.next_tx;
        // Ids end with 32 bits; beyond them the rows repeat ids and are rejected.
        self.next_tx = tx.wrapping_add(1);
        let (kind, units) = if (70..97).contains(&draw) && *available > 0 {
            let units = rng.random_range(1..=*available);
            *available -= units;
            (Kind::Withdrawal, units)
        } else {
            let units = rng.random_range(1..AMOUNT_UNITS);
            *available += units;
            if self.open.len() < Self::MOST_OPEN {
                self.open.push((client, tx, units));
            }
            (Kind::Deposit, units)
        };
        Row { amount: Some(Amount(units)), tx, client, kind }
    }
}
