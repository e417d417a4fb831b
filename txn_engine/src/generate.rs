//! Test data: the published shape and others, the same bytes for the same seed.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::amount::Amount;
use crate::row::Kind;

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
    let rng = ChaCha8Rng::seed_from_u64(seed);
    match shape {
        Shape::Accepted => Accepted::new(rng, 0.0).write(rows, &mut out)?,
        Shape::Hot => Accepted::new(rng, 0.93).write(rows, &mut out)?,
        Shape::Original => {
            // The cast saturates: that is the published behaviour, and the point.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as published")]
            let client = |rng: &mut ChaCha8Rng| rng.random_range(0.0..1e6) as u16;
            write_uniform(rng, rows, 0, client, &mut out)?;
        }
        Shape::Uniform => write_uniform(rng, rows, 0, |rng| rng.random_range(0..=u16::MAX), &mut out)?,
        Shape::Regression { clients, tx_base } => {
            write_uniform(rng, rows, *tx_base, |rng| rng.random_range(clients.clone()), &mut out)?;
        }
    }
    out.flush()
}

/// Rows with types, ids and amounts drawn independently.
fn write_uniform(
    mut rng: ChaCha8Rng,
    rows: u64,
    tx_base: u32,
    client: impl Fn(&mut ChaCha8Rng) -> u16,
    out: &mut impl Write,
) -> io::Result<()> {
    for _ in 0..rows {
        let kind = Kind::ALL[rng.random_range(0..Kind::ALL.len())];
        let client = client(&mut rng);
        let tx = tx_base + rng.random_range(1..=ORIGINAL_IDS);
        let amount = Amount::from_units(rng.random_range(0..AMOUNT_UNITS));
        write_row(out, kind, client, tx, kind.needs_amount().then_some(amount))?;
    }
    Ok(())
}

/// Writes one row, with its line break.
pub(crate) fn write_row(
    out: &mut impl Write,
    kind: Kind,
    client: u16,
    tx: u32,
    amount: Option<Amount>,
) -> io::Result<()> {
    match amount {
        Some(amount) => writeln!(out, "{},{client},{tx},{amount}", kind.name()),
        None => writeln!(out, "{},{client},{tx},", kind.name()),
    }
}

/// The generator of rows that an engine accepts: it keeps the books itself.
struct Accepted {
    rng: ChaCha8Rng,
    /// Share of the rows on client 1.
    hot: f64,
    /// Available units by client.
    available: Vec<i64>,
    /// Deposits that can still be disputed, in no order.
    open: Vec<(u16, u32, i64)>,
}

impl Accepted {
    /// More open deposits than this are not remembered: enough to draw from, and bounded for any number of rows.
    const MOST_OPEN: usize = 100_000;

    fn new(rng: ChaCha8Rng, hot: f64) -> Self {
        Accepted { rng, hot, available: vec![0; usize::from(u16::MAX) + 1], open: Vec::new() }
    }

    fn write(&mut self, rows: u64, out: &mut impl Write) -> io::Result<()> {
        let mut next_tx = 1_u32;
        for _ in 0..rows {
            let draw = self.rng.random_range(0..100);
            if draw >= 97 && !self.open.is_empty() {
                let place = self.rng.random_range(0..self.open.len());
                let (client, tx, units) = self.open.swap_remove(place);
                self.available[usize::from(client)] -= units;
                write_row(out, Kind::Dispute, client, tx, None)?;
                continue;
            }
            let client = self.client();
            let available = &mut self.available[usize::from(client)];
            if (70..97).contains(&draw) && *available > 0 {
                let units = self.rng.random_range(1..=*available);
                *available -= units;
                write_row(out, Kind::Withdrawal, client, next_tx, Some(Amount::from_units(units)))?;
            } else {
                let units = self.rng.random_range(1..AMOUNT_UNITS);
                *available += units;
                if self.open.len() < Self::MOST_OPEN {
                    self.open.push((client, next_tx, units));
                }
                write_row(out, Kind::Deposit, client, next_tx, Some(Amount::from_units(units)))?;
            }
            // Ids end with 32 bits; beyond them the rows repeat ids and are rejected.
            next_tx = next_tx.wrapping_add(1);
        }
        Ok(())
    }

    fn client(&mut self) -> u16 {
        if self.hot > 0.0 && self.rng.random_bool(self.hot) { 1 } else { self.rng.random_range(1..=u16::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(shape: &Shape, rows: u64, seed: u64) -> Vec<u8> {
        let mut out = Vec::new();
        write(shape, rows, seed, &mut out).expect("a vector takes all");
        out
    }

    #[test]
    fn fewer_rows_are_a_prefix_of_more_and_seeds_differ() {
        for shape in [Shape::Original, Shape::Accepted, Shape::Hot, Shape::Uniform] {
            let long = bytes(&shape, 1_000, 7);
            assert!(long.starts_with(&bytes(&shape, 300, 7)), "{shape:?}");
            assert_ne!(long, bytes(&shape, 1_000, 8), "{shape:?}");
        }
    }

    #[test]
    fn the_published_shape_sends_most_rows_to_the_last_client() {
        let text = String::from_utf8(bytes(&Shape::Original, 10_000, 1)).expect("ASCII");
        let hot = text.lines().filter(|line| line.split(',').nth(1) == Some("65535")).count();
        assert!((9_200..9_500).contains(&hot), "{hot}");
    }
}
