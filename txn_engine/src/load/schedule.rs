//! When each row is due, and on which connection: settled before the first is sent.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::settings::{Arrivals, Load};

/// The rows of a load, one after the other.
pub(super) struct Schedule {
    rng: ChaCha8Rng,
    arrivals: Arrivals,
    start: Instant,
    /// From the start to the next row, in seconds.
    at_s: f64,
    gap_s: f64,
    end_s: f64,
    clients: usize,
}

impl Schedule {
    pub(super) fn new(load: &Load, start: Instant) -> Self {
        let mut schedule = Schedule {
            rng: ChaCha8Rng::seed_from_u64(load.seed),
            arrivals: load.arrivals,
            start,
            at_s: 0.0,
            gap_s: 1.0 / load.rate.max(f64::MIN_POSITIVE),
            end_s: (load.warm_up + load.duration).as_secs_f64(),
            clients: load.clients,
        };
        schedule.step();
        schedule
    }

    fn step(&mut self) {
        self.at_s += match self.arrivals {
            Arrivals::Constant => self.gap_s,
            // The inverse of the exponential distribution; the draw is below one.
            Arrivals::Poisson => -(1.0 - self.rng.random::<f64>()).ln() * self.gap_s,
        };
    }
}

impl Iterator for Schedule {
    /// When, and the number of the connection.
    type Item = (Instant, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.at_s >= self.end_s || self.clients == 0 {
            return None;
        }
        let due = self.start + Duration::from_secs_f64(self.at_s);
        let client = self.rng.random_range(0..self.clients);
        self.step();
        Some((due, client))
    }
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
        let times: Vec<f64> = Schedule::new(&load, start).map(|(due, _)| (due - start).as_secs_f64()).collect();
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
}
