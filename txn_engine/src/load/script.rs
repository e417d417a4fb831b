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

impl Load {
    /// When each row is due, one after the other, and the number of its connection.
    pub fn schedule(&self, start: Instant) -> impl Iterator<Item = (Instant, usize)> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let gap_s = 1.0 / self.rate.max(f64::MIN_POSITIVE);
        let end_s = (self.warm_up + self.duration).as_secs_f64();
        let mut at_s = 0.0;
        iter::from_fn(move || {
            at_s += match self.arrivals {
                Arrivals::Constant => gap_s,
                // The inverse of the exponential distribution; the draw is below one.
                Arrivals::Poisson => -(1.0 - rng.random::<f64>()).ln() * gap_s,
            };
            let is_due = at_s < end_s && self.clients > 0;
            is_due.then(|| (start + Duration::from_secs_f64(at_s), rng.random_range(0..self.clients)))
        })
    }
}
