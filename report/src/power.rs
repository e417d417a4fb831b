//! What a plan can be expected to find: how often it would see the published size, by the noise of the newest round.

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::claims::{Claims, Form, Part, Size};
use crate::fmt;
use crate::judged::{JudgedStudy, Row, Scale};
use crate::stats::signed_rank::FEWEST;
use crate::stats::{CONFIDENCE, Interval, estimate};

/// Simulated rounds per number of blocks.
const ROUNDS: usize = 400;
/// Below this share of them a plan is too small.
const ENOUGH: f64 = 0.8;
/// Numbers of blocks that are tried where the planned one is too small.
const MORE: [usize; 6] = [8, 12, 18, 24, 36, 60];

/// For each ratio of published size: the blocks that `profile` has for it, the noise in `before`, and how often that finds it, one per line.
///
/// Nothing is said of what has no interval in `before`, nor of scenarios that it did not run.
pub fn table(claims: &Claims, profile: &str, before: &JudgedStudy) -> String {
    let mut text = String::new();
    for claim in &before.claims {
        for (form, judged) in claim.forms() {
            for row in &judged.rows {
                if let Some(expected) = expected(claims, profile, (&claim.id, form), row) {
                    let name = format!("{} {}", claim.id, form.in_words());
                    let _ = writeln!(text, "{name:<18} {:<26} {expected}", row.scenario);
                }
            }
        }
    }
    text
}

/// What can be expected of one row, in words: the planned blocks, the standard deviation of one log ratio, and how often the size is found;
/// where that is too rarely, also the least blocks that are tried and would do.
fn expected(claims: &Claims, profile: &str, (id, form): (&str, Form), row: &Row) -> Option<String> {
    let (Scale::Ratio { .. }, Some(size), Some(margin), Some(estimated)) =
        (&row.scale, row.claimed, row.margin, row.estimate)
    else {
        return None;
    };
    let is_of = |part: &&Part| part.text == row.part && part.quantity.scenarios(profile).contains(&row.scenario);
    let part = claims.asked(id, form)?.parts().iter().find(is_of)?;
    let blocks = *part.quantity.blocks.get(profile)?;
    let half = (estimated.hi.ln() - estimated.lo.ln()) / 2.0;
    if estimated.n < FEWEST || !half.is_finite() || blocks < FEWEST {
        return None;
    }
    // How wide an interval of so many blocks is at a noise of one.
    let halves = rounds(estimated.n, 0.0, 1.0).map(|found| (found.hi - found.lo) / 2.0);
    let noise = half * ROUNDS as f64 / halves.sum::<f64>();
    let effect = match size {
        Size::Ratio(ratio) => ratio,
        Size::Range(band) => band.lo,
    };
    // Without a known floor the margin has to do.
    let floor = row.floor.filter(|floor| floor.is_finite()).unwrap_or(margin).max(margin);
    let power = |blocks: usize| power(blocks, effect.ln(), noise, [margin, floor]);
    let planned = power(blocks);
    let is_enough = |more: &usize| *more > blocks && power(*more) >= ENOUGH;
    let more = || match MORE.into_iter().find(is_enough) {
        Some(blocks) => format!(": below 80 %, {blocks} blocks would do"),
        None => format!(": below 80 %, {} blocks would not do either", MORE[MORE.len() - 1]),
    };
    let more = if planned < ENOUGH { more() } else { String::new() };
    Some(format!("{blocks:>3} blocks, noise {}, power {:.0} %{more}", fmt::percent(noise), planned * 100.0))
}

/// How often so many blocks find an `effect`, as a log ratio, beyond the margin and the floor.
fn power(blocks: usize, effect: f64, noise: f64, [margin, floor]: [f64; 2]) -> f64 {
    let is_found = |found: &Interval| found.lo > margin.ln_1p() && found.point > floor.ln_1p();
    rounds(blocks, effect, noise).filter(is_found).count() as f64 / ROUNDS as f64
}

/// What simulated rounds of so many blocks estimate of an `effect`, where one log ratio has the standard deviation `noise`.
fn rounds(blocks: usize, effect: f64, noise: f64) -> impl Iterator<Item = Interval> {
    let mut rng = ChaCha8Rng::seed_from_u64(blocks as u64);
    (0..ROUNDS).filter_map(move |_| {
        let pairs: Vec<f64> = (0..blocks).map(|_| effect + noise * normal(&mut rng)).collect();
        estimate(&pairs, CONFIDENCE)
    })
}

/// A draw from the standard normal distribution (Box and Muller).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As METHODOLOGY's table has it, at a margin of 5 %.
    #[test]
    fn power_is_that_of_the_simulated_rules() {
        for (blocks, effect, noise, expected) in
            [(8, 0.22, 0.10, 0.91), (12, 0.15, 0.10, 0.77), (18, 0.10, 0.05, 0.96), (6, 0.10, 0.16, 0.03)]
        {
            let found = power(blocks, f64::ln_1p(effect), noise, [0.05, 0.05]);
            assert!((found - expected).abs() < 0.08, "{blocks} blocks, {effect}, noise {noise}: {found}");
        }
    }
}
