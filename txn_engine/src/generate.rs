//! Test data: the published shape and others, the same bytes for the same seed.

use std::io::{self, Write};
use std::iter;
use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::{ChaCha8Rng, ChaCha12Rng};

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
    /// One file of the published concurrency test: types uniform over five, ids in order, deposits of 0.01 to 10.00, withdrawals of 0.01 to
    /// 0.09; a dispute, resolve or chargeback names an id up to its own.
    #[cfg_attr(feature = "cli", value(skip))]
    Regression { clients: RangeInclusive<u16>, first_tx: u32 },
}

const ORIGINAL_IDS: u32 = 10_000_000;
/// Amounts are drawn below 100,000, in ten-thousandths.
pub(crate) const AMOUNT_UNITS: i64 = 1_000_000_000;
const CENT_UNITS: i64 = 100;

/// Writes a header and `rows` rows. Fewer rows of the same seed are a prefix of more.
pub fn write(shape: &Shape, rows: u64, seed: u64, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "type,client,tx,amount")?;
    (0..rows).zip(self::rows(shape, seed)).try_for_each(|(_, row)| row.write(&mut out))?;
    out.flush()
}

/// Rows of this shape without end, the same for the same seed.
pub fn rows(shape: &Shape, seed: u64) -> Box<dyn Iterator<Item = Row>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    match shape.clone() {
        Shape::Accepted | Shape::Hot => {
            let hot = if *shape == Shape::Hot { 0.93 } else { 0.0 };
            let available = vec![0; usize::from(u16::MAX) + 1];
            let mut accepted = Accepted { hot, available, open: Vec::new(), next_tx: 1 };
            Box::new(iter::repeat_with(move || accepted.next(&mut rng)))
        }
        // The cast saturates: that is the published behaviour, and the point.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as published")]
        Shape::Original => {
            Box::new(iter::repeat_with(move || uniform(&mut rng, |rng| rng.random_range(0.0..1e6) as u16)))
        }
        Shape::Uniform => Box::new(iter::repeat_with(move || uniform(&mut rng, |rng| rng.random_range(0..=u16::MAX)))),
        Shape::Regression { clients, first_tx } => {
            // The stream cipher of the published generator: in debug builds its rounds are a part of what the test takes.
            let mut rng = ChaCha12Rng::seed_from_u64(seed);
            // Ids end with 32 bits; beyond them the rows repeat the last.
            let ids = (0..).map(move |row| first_tx.saturating_add(row));
            Box::new(ids.map(move |tx| in_order(&mut rng, clients.clone(), first_tx..=tx)))
        }
    }
}

/// A row with type, client, id and amount drawn independently.
fn uniform(rng: &mut ChaCha8Rng, client: impl Fn(&mut ChaCha8Rng) -> u16) -> Row {
    let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
    let client = client(rng);
    let tx = rng.random_range(1..=ORIGINAL_IDS);
    let amount = Amount(rng.random_range(0..AMOUNT_UNITS));
    Row { amount: kind.needs_amount().then_some(amount), tx, client, kind }
}

/// The row of the last of `ids`: a payment, or one that contests any of them.
fn in_order(rng: &mut ChaCha12Rng, clients: RangeInclusive<u16>, ids: RangeInclusive<u32>) -> Row {
    let client = rng.random_range(clients);
    let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
    let cents = match kind {
        Kind::Deposit => rng.random_range(1..=1_000),
        Kind::Withdrawal => rng.random_range(1..=9),
        Kind::Dispute | Kind::Resolve | Kind::Chargeback => {
            return Row { amount: None, tx: rng.random_range(ids), client, kind };
        }
    };
    Row { amount: Some(Amount(cents * CENT_UNITS)), tx: *ids.end(), client, kind }
}

/// The generator of rows that an engine accepts: it keeps the books itself.
struct Accepted {
    /// Share of the rows on client 1.
    hot: f64,
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
