//! The noise floor: how large an effect the A/A pairs show by chance.

use rand::seq::index::sample;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::layout::by_layout;
use super::order::reached_by;
use super::signed_rank::hodges_lehmann;

/// Random signs that are tried.
const FLIPS: usize = 2_000;
/// The floor is exceeded by chance this rarely.
const QUANTILE: f64 = 0.95;
/// Fixed, so that the same samples always give the same floor.
const SEED: u64 = 0x000F_1004;

/// The floor of samples of a single layout, as [`over_layouts`] takes it.
pub fn floor(aa_log_ratios: &[f64], n: usize, margin: f64) -> f64 {
    let noise: Vec<(u64, f64)> = aa_log_ratios.iter().map(|&ratio| (0, ratio)).collect();
    over_layouts(&noise, n, margin)
}

/// The floor as a ratio less one: the `margin`, or the 95th percentile of the effect that `n` blocks show when the signs of the noise are
/// chosen at random, whichever is larger. `noise` are layouts and log ratios of A/A pairs, or what [`of_duets`] makes of them.
///
/// An A/A pair may as well have come the other way round, so every choice of signs is as likely as the one that was seen. What a layout
/// does comes back in all of its blocks: its pairs turn together. The `n` blocks use the layouts in turn; where a layout has fewer pairs
/// than its blocks ask for they are drawn again, where it has more, without repetition. The order of the pairs does not matter. A failed
/// run (an infinite or missing ratio) is infinite noise: enough of them make the floor infinite, and nothing exceeds it.
pub fn over_layouts(noise: &[(u64, f64)], n: usize, margin: f64) -> f64 {
    if noise.is_empty() || n == 0 {
        return margin;
    }
    let mut layouts: Vec<Vec<f64>> = by_layout(noise).into_values().collect();
    // One layout shows nothing of what layouts do: its pairs turn one by one, and their own signs must not steer that.
    let one_by_one = layouts.len() == 1;
    for pairs in &mut layouts {
        for ratio in pairs.iter_mut().filter(|ratio| one_by_one || ratio.is_nan()) {
            *ratio = if ratio.is_nan() { f64::INFINITY } else { ratio.abs() };
        }
        pairs.sort_by(f64::total_cmp);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut turned = Vec::with_capacity(n);
    let effects: Vec<f64> = (0..FLIPS)
        .map(|_| {
            turned.clear();
            for (place, pairs) in layouts.iter().enumerate() {
                let blocks = n / layouts.len() + usize::from(place < n % layouts.len());
                let drawn = draw(&mut rng, pairs, blocks);
                let mut turns: bool = rng.random();
                for ratio in drawn {
                    turned.push(if turns { -ratio } else { ratio });
                    if one_by_one {
                        turns = rng.random();
                    }
                }
            }
            // Without a middle the pairs were failures on both sides: nothing is known, so nothing is ruled out.
            hodges_lehmann(&turned).map_or(f64::INFINITY, f64::abs)
        })
        .collect();
    margin.max(reached_by(QUANTILE, effects).exp_m1())
}

fn draw(rng: &mut impl Rng, pairs: &[f64], blocks: usize) -> Vec<f64> {
    if blocks <= pairs.len() {
        sample(rng, pairs.len(), blocks).into_iter().map(|index| pairs[index]).collect()
    } else {
        (0..blocks).map(|_| pairs[rng.random_range(0..pairs.len())]).collect()
    }
}

/// The noise of duets, from the layouts and log ratios of their A/A pairs and of the claim itself.
///
/// A duet of two copies runs both from one binary, where they share the layout and show none of it. The claim's own blocks do: how far its
/// estimate in one layout lies from that over all is added to each A/A pair of this layout. A layout also pulls the common estimate towards
/// itself, which is made up for as the variance of a sample is.
pub fn of_duets(aa: &[(u64, f64)], claim: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let layouts = by_layout(claim);
    let all: Vec<f64> = claim.iter().map(|(_, ratio)| *ratio).collect();
    let (Some(middle), 2..) = (hodges_lehmann(&all), layouts.len()) else {
        return aa.to_vec();
    };
    let scale = (layouts.len() as f64 / (layouts.len() - 1) as f64).sqrt();
    // Without an estimate every run of the layout failed on both sides, or on either in turn.
    let residual = |ratios: &Vec<f64>| hodges_lehmann(ratios).map_or(f64::INFINITY, |own| (own - middle) * scale);
    aa.iter().map(|&(layout, ratio)| (layout, ratio + layouts.get(&layout).map_or(0.0, residual))).collect()
}
