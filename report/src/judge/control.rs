//! Controls: copies of one arm that must not be told apart, and planted effects that must be found.

use super::evidence::{ALL, Evidence, Yield, ratio_estimate};
use crate::claims::{ControlCase, Quantity};
use crate::judged::{Estimate, JudgedControl, Row, Verdict};
use crate::stats::{CONFIDENCE, PLANTED_CONFIDENCE, Pair, duet, floor::floor, signed_rank};
use crate::verdict;

/// Judges a control.
pub(super) fn judge(evidence: Evidence<'_>, control: &ControlCase) -> JudgedControl {
    let quantity = &control.quantity;
    let found = evidence.pooled(quantity);
    let scenarios = quantity.scenarios(evidence.profile);
    let first = scenarios.first().map_or("", String::as_str);
    let row = evidence.row(quantity, first, &found);
    let floor = noise_of(evidence, control, &found);
    let measured = quantity.is_measured(evidence.profile);
    let (mut passed, mut reason) = match (&row.estimate, control.planted) {
        _ if !measured => (true, format!("not measured ({})", evidence.profile)),
        (None, _) => (false, "no samples".to_owned()),
        (Some(estimate), None) => aa(estimate, control.margin),
        (Some(estimate), Some(size)) => planted(estimate, &found.pairs, floor, size),
    };
    if let Some(fault) = order_fault(evidence, quantity, control.margin).filter(|_| passed) {
        (passed, reason) = (false, fault);
    }
    JudgedControl {
        id: control.id.clone(),
        row: Row {
            scenario: if scenarios.len() == 1 { first } else { ALL }.to_owned(),
            floor: Some(floor),
            verdict: match (measured, passed) {
                (false, _) => Verdict::NotMeasured,
                (true, true) => Verdict::Reproduced,
                (true, false) => Verdict::Invalid,
            },
            ..row
        },
        planted: control.planted,
        passed,
        reason,
    }
}

fn aa(estimate: &Estimate, margin: f64) -> (bool, String) {
    if verdict::aa_failed(estimate, margin) {
        return (false, format!("two copies of one arm differ by more than {:.0} %", margin * 100.0));
    }
    let reason = if estimate.level < 1.0 { "" } else { "too few blocks for an interval" };
    (true, reason.to_owned())
}

fn planted(estimate: &Estimate, pairs: &[Pair], floor: f64, size: f64) -> (bool, String) {
    let Some(wide) = ratio_estimate(pairs, PLANTED_CONFIDENCE) else {
        return (false, "no samples".to_owned());
    };
    if verdict::planted_found(estimate, &wide, floor, size) {
        return (true, String::new());
    }
    let found = format!("99 % interval [{:.3}, {:.3}], floor {:.1} %", wide.lo, wide.hi, floor * 100.0);
    if verdict::planted_missed(&wide, size) {
        return (false, format!("the planted {size} lies outside of the {found}"));
    }
    // An interval that noise has widened over both the size and the floor contradicts nothing: claims of such small effects come out
    // inconclusive by the same noise, and larger ones are not touched by it.
    (true, format!("not resolved, too noisy for effects of this size ({found})"))
}

/// The floor that guards a control: by its own pairs for A/A, by the A/A control of the same samples for a planted one.
fn noise_of(evidence: Evidence<'_>, control: &ControlCase, own: &Yield) -> f64 {
    let quantity = &control.quantity;
    let is_twin = |other: &&ControlCase| {
        other.planted.is_none()
            && other.quantity.metric == quantity.metric
            && other.quantity.form == quantity.form
            && other.quantity.scenarios(evidence.profile) == quantity.scenarios(evidence.profile)
    };
    let noise = if control.planted.is_none() {
        own.middles()
    } else {
        let twin = evidence.claims.controls.iter().find(is_twin);
        twin.map(|twin| evidence.pooled(&twin.quantity).middles()).unwrap_or_default()
    };
    floor(&noise, own.pairs.len(), control.margin)
}

/// What is wrong with the order of the arms in duets: who goes first must not matter by more than the margin.
///
/// The effect of order is half of the difference between the two orders, per process; it counts if its interval lies wholly beyond
/// the margin, on either side.
pub(super) fn order_fault(evidence: Evidence<'_>, quantity: &Quantity, margin: f64) -> Option<String> {
    if !quantity.is_duet() {
        return None;
    }
    let arm = quantity.arms().into_iter().next()?;
    quantity.scenarios(evidence.profile).iter().find_map(|scenario| {
        let samples = evidence.samples(quantity, scenario, &arm);
        let effects = samples.iter().filter_map(|sample| duet::order_effect(&sample.pairs));
        let effects: Vec<Pair> = effects.map(|effect| Pair::exact(effect / 2.0)).collect();
        let first = signed_rank::estimate(&effects, CONFIDENCE)?;
        let percent = first.point.abs().exp_m1() * 100.0;
        verdict::order_failed(&first, margin)
            .then(|| format!("in {scenario} the arm that goes first differs by {percent:.1} %"))
    })
}
