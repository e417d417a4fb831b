//! What a client sends: rows that an engine accepts, as long as nobody else uses the client's number.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::amount::Amount;
use crate::generate::{AMOUNT_UNITS, write_row};
use crate::row::Kind;

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
    #[must_use]
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

    /// Writes the next row to `line`, with its line break.
    pub fn next(&mut self, line: &mut Vec<u8>) {
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
        // Writing to a vector cannot fail.
        let _ = write_row(line, kind, self.client, tx, amount.map(Amount::from_units));
    }

    fn take_tx(&mut self) -> u32 {
        let tx = self.tx;
        self.tx = self.tx.wrapping_add(self.step);
        tx
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;

    #[test]
    fn an_engine_accepts_every_row_of_every_client() {
        let mut input = b"type,client,tx,amount\n".to_vec();
        let clients = 30;
        let mut scripts: Vec<_> = (0..clients).map(|client| Script::new(7, client, clients, 1)).collect();
        for _ in 0..400 {
            for script in &mut scripts {
                script.next(&mut input);
            }
        }
        let answer = oracle::process(&input).expect("there is a header");
        assert_eq!(answer.accepted, 12_000);
        for kind in ["dispute", "resolve", "withdrawal"] {
            let rows = String::from_utf8_lossy(&input).lines().filter(|line| line.starts_with(kind)).count();
            assert!(rows >= 100, "{kind} {rows}");
        }
    }
}
