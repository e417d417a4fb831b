//! Calibration: A/A controls repeated many times, to see how often the method finds what is not there, and what it would find.

use super::evidence::{Evidence, Yield, ratio_estimate};
use crate::judged::{Calibrated, Verdict};
use crate::plan_file::Calibration;
use crate::rules;
use crate::stats::{CONFIDENCE, reached_by};

/// The share of trials in which an effect has to be found.
const POWER: f64 = 0.9;

/// Judges the trials of a calibration, control by control; one that claims.toml lacks, or without a whole trial, is left out.
pub fn calibrate(evidence: Evidence<'_>, calibration: &Calibration) -> Vec<Calibrated> {
    calibration.controls.iter().filter_map(|id| control(evidence, id, calibration.trials)).collect()
}

/// A trial is judged as a claim would be, with the pairs of the next trial in the part of the A/A control that sets the floor.
fn control(evidence: Evidence<'_>, id: &str, trials: usize) -> Option<Calibrated> {
    let control = evidence.claims.control(id)?;
    let blocks = *control.quantity.blocks.get(evidence.profile)?;
    let mut repeated = control.quantity.clone();
    repeated.blocks.insert(evidence.profile.to_owned(), blocks * trials);
    let found = evidence.pooled(&repeated);
    let pairs: Vec<(u64, f64)> = found.pairs.into_iter().collect();
    let of_trial = |pairs: &[(u64, f64)]| Yield { pairs: pairs.iter().copied().collect(), ..Yield::default() };
    let trials: Vec<Yield> = pairs.chunks_exact(blocks.max(1)).map(of_trial).collect();
    let guards = trials.iter().cycle().skip(1);
    let margin = control.margin;
    let judge = |(own, guard): (&Yield, &Yield)| {
        let estimate = ratio_estimate(own, CONFIDENCE)?;
        let floor = evidence.noise_floor(&control.quantity, &evidence.by_layout(guard), own, margin);
        let verdict = rules::ratio(&estimate, margin, floor, None);
        let misses_one = estimate.lo > 1.0 || estimate.hi < 1.0;
        Some(Trial {
            level: estimate.level,
            misses_one,
            is_wrong: matches!(verdict, Verdict::Holds | Verdict::Opposite),
            // An effect multiplies every pair, and so the estimate and both ends of the interval: one as large as the margin, towards the
            // other side of 1, would leave all of it within the margin.
            is_equal: misses_one && rules::equal(&estimate, (1.0 + margin).powi(2) - 1.0) == Verdict::Holds,
            least: ((1.0 + margin) / estimate.lo).max((1.0 + floor) / estimate.point).max(1.0) - 1.0,
        })
    };
    let judged: Vec<Trial> = trials.iter().zip(guards).filter_map(judge).collect();
    if judged.is_empty() {
        return None;
    }
    let count = |is: fn(&Trial) -> bool| judged.iter().filter(|trial| is(trial)).count();
    Some(Calibrated {
        control: control.id.clone(),
        scenarios: control.quantity.scenarios(evidence.profile).to_vec(),
        blocks,
        trials: judged.len(),
        failed: found.failed,
        misses: count(|trial| trial.misses_one),
        level: judged.iter().map(|trial| trial.level).sum::<f64>() / judged.len() as f64,
        wrong: count(|trial| trial.is_wrong),
        equal: count(|trial| trial.is_equal),
        least: reached_by(POWER, judged.iter().map(|trial| trial.least).collect()),
    })
}

/// What one trial came to.
struct Trial {
    /// Error rate of its interval.
    level: f64,
    /// Whether the interval leaves out that there is no difference.
    misses_one: bool,
    /// Whether a claim would have been said to be there, in either direction.
    is_wrong: bool,
    /// Whether an effect as large as the margin, up or down, would have been said to be none.
    is_equal: bool,
    /// The smallest effect that would have been found had it been there, as a ratio less one.
    least: f64,
}
