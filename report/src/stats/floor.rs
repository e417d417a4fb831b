//! The noise floor: how large an effect noise and layouts show by chance.

use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::layout::by_layout;
use super::reached_by;
use super::signed_rank::{FEWEST, hodges_lehmann};

const FLIPS: usize = 2_000;
/// How often chance stays below the floor.
const QUANTILE: f64 = 0.95;
/// And below that of duets, whose margins are smaller than what layouts do: a little more than 99 in 100, for the tails of the estimate are heavy.
const DUET_QUANTILE: f64 = 0.995;
/// Fixed, so that the same samples always give the same floor.
const SEED: u64 = 0x000F_1004;

/// The floor as a ratio less one: the `margin`, or the effect that `n` blocks exceed by chance once in twenty times, whichever is larger,
/// from the layouts and log ratios of A/A pairs whose copies differ by one layout.
///
/// Every choice of signs of A/A pairs is as likely as the one that was seen. Those of a layout turn together, within a single layout one by one. A
/// failed run (an infinite or missing ratio) is infinite noise. Fewer than [`FEWEST`] pairs leave the noise unknown, and the floor infinite.
pub fn over_layouts(aa: &[(u64, f64)], n: usize, margin: f64) -> f64 {
    let Some(effects) = by_chance(aa, n) else { return f64::INFINITY };
    let reached = match by_layout(aa).len() {
        1 => reached_by(QUANTILE, effects),
        // As differences of neighbours in a ring, m pairs tell of their spread what 2m/3 independent ones would.
        layouts => exceeded(&effects, layouts as f64 * 2.0 / 3.0, QUANTILE),
    };
    margin.max(reached.exp_m1())
}

/// The floor of a claim by duets, from the layouts and log ratios of their A/A pairs and of the claim itself.
///
/// A duet of two copies runs both from one binary and so shows no effect of the layout. The claim's own blocks do: the distance of its
/// estimate in a layout from its estimate over all is added to each A/A pair of that layout.
pub fn of_duets(aa: &[(u64, f64)], claim: &[(u64, f64)], margin: f64) -> f64 {
    let layouts = by_layout(claim);
    let all: Vec<f64> = claim.iter().map(|(_, ratio)| *ratio).collect();
    let (Some(middle), 2..) = (hodges_lehmann(&all), layouts.len()) else {
        return over_layouts(aa, claim.len(), margin);
    };
    let free = (layouts.len() - 1) as f64;
    // Each layout pulls the common estimate towards itself, which shortens its distance as it does that of a sample to its mean.
    let scale = (layouts.len() as f64 / free).sqrt();
    // Without an estimate all runs of the layout failed, on either side.
    let residual = |ratios: &Vec<f64>| hodges_lehmann(ratios).map_or(f64::INFINITY, |own| (own - middle) * scale);
    let noise: Vec<(u64, f64)> =
        aa.iter().map(|&(layout, ratio)| (layout, ratio + layouts.get(&layout).map_or(0.0, residual))).collect();
    let exceeded = |effects: Vec<f64>| margin.max(exceeded(&effects, free, DUET_QUANTILE).exp_m1());
    by_chance(&noise, claim.len()).map_or(f64::INFINITY, exceeded)
}

/// What chance exceeds with probability `1 - quantile`: the root mean square of `effects`, itself an estimate, times Student's t with `free` degrees.
fn exceeded(effects: &[f64], free: f64, quantile: f64) -> f64 {
    let square = effects.iter().map(|effect| effect * effect).sum::<f64>() / effects.len() as f64;
    let student = StudentsT::new(0.0, 1.0, free).map(|student| student.inverse_cdf(f64::midpoint(1.0, quantile)));
    student.map_or(f64::INFINITY, |student| student * square.sqrt())
}

/// The absolute estimates of `n` blocks of noise under choices of signs, as logarithms; `None` if too few pairs show the noise, or no block asks.
/// The blocks use the layouts in turn; where one has fewer pairs than blocks they are drawn again, where it has more, without repetition.
fn by_chance(noise: &[(u64, f64)], n: usize) -> Option<Vec<f64>> {
    if noise.len() < FEWEST || n == 0 {
        return None;
    }
    let mut layouts: Vec<Vec<f64>> = by_layout(noise).into_values().collect();
    let one_by_one = layouts.len() == 1;
    for pairs in &mut layouts {
        for ratio in pairs.iter_mut() {
            // By size only: the signs are chosen below, so that what came out does not steer them.
            let size = if one_by_one { ratio.abs() } else { *ratio };
            *ratio = if size.is_nan() { f64::INFINITY } else { size };
        }
        pairs.sort_by(f64::total_cmp);
    }
    let blocks = |place: usize| n / layouts.len() + usize::from(place < n % layouts.len());
    // Where every pair is used once and few layouts turn, all choices of signs can be tried.
    let is_whole = layouts.iter().enumerate().all(|(place, pairs)| blocks(place) == pairs.len());
    let can_try_all = !one_by_one && is_whole && layouts.len() <= FLIPS.ilog2() as usize;
    let choices = if can_try_all { 1 << layouts.len() } else { FLIPS };
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut turned = Vec::with_capacity(n);
    let effect = |choice: usize| {
        turned.clear();
        for (place, pairs) in layouts.iter().enumerate() {
            let drawn: Vec<usize> = match blocks(place) {
                few if few <= pairs.len() => sample(&mut rng, pairs.len(), few).into_vec(),
                many => (0..many).map(|_| rng.random_range(0..pairs.len())).collect(),
            };
            let mut turns = if can_try_all { choice >> place & 1 == 1 } else { rng.random() };
            for at in drawn {
                turned.push(if turns { -pairs[at] } else { pairs[at] });
                if one_by_one {
                    turns = rng.random();
                }
            }
        }
        // Without a middle the pairs were failures on both sides: nothing is known, so nothing is ruled out.
        hodges_lehmann(&turned).map_or(f64::INFINITY, f64::abs)
    };
    Some((0..choices).map(effect).collect())
}
