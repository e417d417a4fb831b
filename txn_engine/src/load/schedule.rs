//! When each row is due, and on which connection: settled before the first is sent.

use std::iter;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Arrivals, Load};

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
}
