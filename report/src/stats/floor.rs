//! The noise floor: how large an effect the A/A pairs show by chance.

use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::order::reached_by;
use super::signed_rank::hodges_lehmann;

/// Random signs that are tried.
const FLIPS: usize = 2_000;
/// The floor is exceeded by chance this rarely.
const QUANTILE: f64 = 0.95;
/// Fixed, so that the same samples always give the same floor.
const SEED: u64 = 0x000F_1004;

/// The floor as a ratio less one: the `margin`, or the 95th percentile of the effect that `n` of the A/A log ratios show under
/// random signs, whichever is larger.
///
/// An A/A pair may as well have come the other way round, so every choice of signs is as likely as the one that was seen. With
/// fewer pairs than `n` they are drawn again; with more, without repetition. Neither the order of the pairs nor their signs matter.
/// A failed run (an infinite or missing ratio) is infinite noise: enough of them make the floor infinite, and nothing exceeds it.
pub fn floor(aa_log_ratios: &[f64], n: usize, margin: f64) -> f64 {
    if aa_log_ratios.is_empty() || n == 0 {
        return margin;
    }
    // By size only: the signs are chosen below, so that what came out does not steer them.
    let size = |ratio: &f64| if ratio.is_nan() { f64::INFINITY } else { ratio.abs() };
    let mut pairs: Vec<f64> = aa_log_ratios.iter().map(size).collect();
    pairs.sort_by(f64::total_cmp);
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let effects: Vec<f64> = (0..FLIPS)
        .map(|_| {
            let chosen: Vec<f64> = if n <= pairs.len() {
                sample(&mut rng, pairs.len(), n).into_iter().map(|index| pairs[index]).collect()
            } else {
                (0..n).map(|_| pairs[rng.random_range(0..pairs.len())]).collect()
            };
            let signed: Vec<f64> = chosen.into_iter().map(|ratio| if rng.random() { ratio } else { -ratio }).collect();
            // Without a middle the pairs were failures on both sides: nothing is known, so nothing is ruled out.
            hodges_lehmann(&signed).map_or(f64::INFINITY, f64::abs)
        })
        .collect();
    margin.max(reached_by(QUANTILE, effects).exp_m1())
}
