//! Calibration: A/A controls repeated many times, to see how often the method finds what is not there, and what it would find.

use super::Round;
use super::round::ratio_estimate;
use crate::claims::rules;
use crate::folder::plan_file::Calibration;
use crate::judge::judged::{Calibrated, Verdict};
use crate::stats::{CONFIDENCE, reached_by};

/// The share of trials in which an effect has to be found.
const POWER: f64 = 0.9;

/// Judges the trials of a calibration, control by control; one that claims.toml lacks, or without a whole trial, is left out.
pub fn calibrate(round: &Round, calibration: &Calibration) -> Vec<Calibrated> {
    calibration.controls.iter().filter_map(|id| control(round, id, calibration.trials)).collect()
}

/// A trial is judged as a claim would be, with the pairs of the next trial in the part of the A/A control that sets the floor.
fn control(round: &Round, id: &str, trials: usize) -> Option<Calibrated> {
    let control = round.claims.control(id)?;
    let blocks = *control.quantity.blocks.get(&round.profile)?;
    let mut repeated = control.quantity.clone();
    repeated.blocks.insert(round.profile.clone(), blocks * trials);
    let trials = round.pooled(&repeated).groups(blocks);
    let guards = trials.iter().cycle().skip(1);
    let margin = control.margin;
    let mut judged = Calibrated {
        control: control.id.clone(),
        scenarios: round.scenarios(&control.quantity).to_vec(),
        blocks,
        ..Calibrated::default()
    };
    // Of each trial the smallest effect that would have been found had it been there, as a ratio less one.
    let mut least = Vec::new();
    for (own, guard) in trials.iter().zip(guards) {
        let Some(estimate) = ratio_estimate(own, CONFIDENCE) else { continue };
        let floor = round.noise_floor(&control.quantity, &round.by_layout(guard), own, margin);
        let verdict = rules::ratio(&estimate, margin, floor);
        let misses_one = estimate.lo > 1.0 || estimate.hi < 1.0;
        // An effect multiplies every pair, and so the estimate and both ends of the interval: one as large as the margin, towards the
        // other side of 1, would leave all of it within the margin.
        let is_equal = misses_one && rules::equal(&estimate, (1.0 + margin).powi(2) - 1.0) == Verdict::Holds;
        judged.trials += 1;
        judged.misses += usize::from(misses_one);
        judged.level += estimate.level;
        judged.wrong += usize::from(matches!(verdict, Verdict::Holds | Verdict::Reversed));
        judged.equal += usize::from(is_equal);
        least.push(((1.0 + margin) / estimate.lo).max((1.0 + floor) / estimate.point).max(1.0) - 1.0);
    }
    if least.is_empty() {
        return None;
    }
    judged.level /= judged.trials as f64;
    judged.least = reached_by(POWER, least);
    Some(judged)
}
