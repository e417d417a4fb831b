//! What a client sends, rows that an engine accepts as long as nobody else uses the client's number; and when, settled before the first is sent.

use std::iter;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Arrivals, Load};
use crate::amount::Amount;
use crate::generate::AMOUNT_UNITS;
use crate::row::{Kind, Row};

/// The rows of one client, one after the other: 70 % deposits, 27 % withdrawals, 3 % disputes of the last deposit and their ends.
#[derive(Debug, Clone)]
pub struct Script {
    rng: ChaCha8Rng,
    client: u16,
    /// The next transaction id, and how far the one after it is.
    tx: u32,
    step: u32,
    available: i64,
    /// The last deposit, and whether it is under dispute.
    last: Option<(u32, i64, bool)>,
}

impl Script {
    /// Of client number `client` of so many, with ids from `first_tx` on that no other of them uses.
    pub fn new(seed: u64, client: usize, clients: usize, first_tx: u32) -> Self {
        let wrapping = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(client as u64 + 1);
        Script {
            rng,
            // Numbers of clients end with 16 bits; beyond them clients share their accounts.
            client: u16::try_from(client % usize::from(u16::MAX)).unwrap_or(0) + 1,
            tx: first_tx.wrapping_add(wrapping(client)),
            step: wrapping(clients.max(1)),
            available: 0,
            last: None,
        }
    }

    pub fn next_row(&mut self) -> Row {
        let draw = self.rng.random_range(0..100);
        let (kind, tx, amount) = match self.last {
            Some((tx, units, true)) => {
                self.last = None;
                self.available += units;
                (Kind::Resolve, tx, None)
            }
            Some((tx, units, false)) if draw >= 97 && units <= self.available => {
                self.last = Some((tx, units, true));
                self.available -= units;
                (Kind::Dispute, tx, None)
            }
            _ if (70..97).contains(&draw) && self.available > 0 => {
                let units = self.rng.random_range(1..=self.available);
                self.available -= units;
                (Kind::Withdrawal, self.take_tx(), Some(units))
            }
            _ => {
                let units = self.rng.random_range(1..AMOUNT_UNITS);
                self.available += units;
                let tx = self.take_tx();
                self.last = Some((tx, units, false));
                (Kind::Deposit, tx, Some(units))
            }
        };
        Row { amount: amount.map(Amount), tx, client: self.client, kind }
    }

    fn take_tx(&mut self) -> u32 {
        let tx = self.tx;
        self.tx = self.tx.wrapping_add(self.step);
        tx
    }
}

/// When each row of the load is due, one after the other, and the number of its connection.
pub(super) fn schedule(load: &Load, start: Instant) -> impl Iterator<Item = (Instant, usize)> {
    let mut rng = ChaCha8Rng::seed_from_u64(load.seed);
    let gap_s = 1.0 / load.rate.max(f64::MIN_POSITIVE);
    let end_s = (load.warm_up + load.duration).as_secs_f64();
    let mut at_s = 0.0;
    iter::from_fn(move || {
        at_s += match load.arrivals {
            Arrivals::Constant => gap_s,
            // The inverse of the exponential distribution; the draw is below one.
            Arrivals::Poisson => -(1.0 - rng.random::<f64>()).ln() * gap_s,
        };
        let is_due = at_s < end_s && load.clients > 0;
        is_due.then(|| (start + Duration::from_secs_f64(at_s), rng.random_range(0..load.clients)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(arrivals: Arrivals) -> Vec<f64> {
        let load = Load {
            address: "127.0.0.1:1".to_owned(),
            clients: 10,
            rate: 1000.0,
            duration: Duration::from_secs(20),
            warm_up: Duration::ZERO,
            arrivals,
            seed: 3,
            first_tx: 1,
            patience: Duration::ZERO,
        };
        let start = Instant::now();
        let times: Vec<f64> = schedule(&load, start).map(|(due, _)| (due - start).as_secs_f64()).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn arrivals_have_the_rate_and_the_spread_of_their_kind() {
        for (arrivals, spread) in [(Arrivals::Poisson, 1.0), (Arrivals::Constant, 0.0)] {
            let gaps = gaps(arrivals);
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean - 1e-3).abs() < 5e-5, "{mean}");
            // The standard deviation of an exponential distribution is its mean.
            assert!((variance.sqrt() / mean - spread).abs() < 0.05, "{variance}");
        }
    }

    #[test]
    fn a_client_makes_use_of_every_kind_but_chargebacks() {
        let mut script = Script::new(7, 0, 30, 1);
        let rows: Vec<Row> = (0..10_000).map(|_| script.next_row()).collect();
        let count = |kind| rows.iter().filter(|row| row.kind == kind).count();
        for (kind, most) in [(Kind::Withdrawal, 3000), (Kind::Dispute, 400), (Kind::Resolve, 400)] {
            assert!((100..most).contains(&count(kind)), "{kind:?}: {}", count(kind));
        }
    }
}
