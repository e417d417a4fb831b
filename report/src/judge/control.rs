//! Controls: copies of one arm that must not be told apart, and planted effects that must be found.

use super::evidence::{ALL, Evidence, Yield, paired_estimate, ratio_estimate};
use crate::claims::{ControlCase, Quantity};
use crate::judged::{ControlState, Estimate, JudgedControl, Row, Verdict};
use crate::rules::{self, Copies, Planted};
use crate::stats::{CONFIDENCE, PLANTED_CONFIDENCE, Pair, duet, layout};

/// Judges a control.
pub(super) fn judge(evidence: Evidence<'_>, control: &ControlCase) -> JudgedControl {
    let quantity = &control.quantity;
    let found = evidence.pooled(quantity);
    let scenarios = quantity.scenarios(evidence.profile);
    let first = scenarios.first().map_or("", String::as_str);
    let row = evidence.row(quantity, first, &found);
    let floor = noise_of(evidence, control, &found);
    let (mut state, mut reason) = match (&row.estimate, control.planted) {
        _ if !quantity.is_measured(evidence.profile) => {
            (ControlState::NotMeasured, format!("not measured ({})", evidence.profile))
        }
        (None, _) => (ControlState::CouldNotTell, "no samples".to_owned()),
        (Some(estimate), None) => aa(estimate, control.margin),
        (Some(estimate), Some(size)) => planted(estimate, &found.pairs, (control.margin, floor), size),
    };
    if let Some(fault) = order_fault(evidence, quantity, control.margin).filter(|_| state != ControlState::Failed) {
        (state, reason) = (ControlState::Failed, fault);
    }
    JudgedControl {
        id: control.id.clone(),
        row: Row {
            scenario: if scenarios.len() == 1 { first } else { ALL }.to_owned(),
            floor: Some(floor),
            margin: Some(control.margin),
            verdict: match state {
                ControlState::Passed => Verdict::Holds,
                ControlState::CouldNotTell => Verdict::Undecided,
                ControlState::Failed => Verdict::Invalid,
                ControlState::NotMeasured => Verdict::NotMeasured,
            },
            ..row
        },
        planted: control.planted,
        layout_sd: layout_sd(evidence, control, &found),
        state,
        reason,
    }
}

/// What layouts alone do to the arm of an A/A control of processes, whose copies have different ones; those of a duet share theirs.
fn layout_sd(evidence: Evidence<'_>, control: &ControlCase, found: &Yield) -> Option<f64> {
    let tells = control.planted.is_none() && !control.quantity.is_duet();
    tells.then(|| layout::sd(&evidence.by_layout(found))).flatten()
}

fn aa(estimate: &Estimate, margin: f64) -> (ControlState, String) {
    match rules::aa(estimate, margin) {
        Copies::Alike => (ControlState::Passed, String::new()),
        Copies::ToldApart => {
            (ControlState::Failed, format!("two copies of one arm differ by more than {:.0} %", margin * 100.0))
        }
        Copies::CouldNotTell if estimate.level < 1.0 => {
            (ControlState::CouldNotTell, format!("they may differ by more than {:.0} %, or not", margin * 100.0))
        }
        Copies::CouldNotTell => (ControlState::CouldNotTell, "too few blocks for an interval".to_owned()),
    }
}

fn planted(estimate: &Estimate, pairs: &[Pair], (margin, floor): (f64, f64), size: f64) -> (ControlState, String) {
    let Some(wide) = ratio_estimate(pairs, PLANTED_CONFIDENCE) else {
        return (ControlState::CouldNotTell, "no samples".to_owned());
    };
    let found = format!("99 % interval [{:.3}, {:.3}], floor {:.1} %", wide.lo, wide.hi, floor * 100.0);
    match rules::planted(estimate, &wide, margin, floor, size) {
        Planted::Found => (ControlState::Passed, String::new()),
        Planted::Missed => (ControlState::Failed, format!("the planted {size} lies outside of the {found}")),
        // An interval that noise has widened over both the size and the margin contradicts nothing: effects as small come out undecided by
        // the same noise, and larger ones are not touched by it.
        Planted::CouldNotTell => (ControlState::CouldNotTell, format!("too noisy for effects of this size ({found})")),
    }
}

/// The floor that guards a control: by its own pairs for A/A, by the A/A control of the same samples for a planted one.
fn noise_of(evidence: Evidence<'_>, control: &ControlCase, own: &Yield) -> f64 {
    let quantity = &control.quantity;
    let is_twin = |other: &&ControlCase| {
        other.planted.is_none()
            && other.quantity.metric == quantity.metric
            && other.quantity.replicate == quantity.replicate
            && other.quantity.scenarios(evidence.profile) == quantity.scenarios(evidence.profile)
    };
    let twin = || evidence.claims.controls.iter().find(is_twin).map(|twin| evidence.pooled(&twin.quantity));
    match control.planted {
        None => evidence.noise_floor(quantity, own, own, control.margin),
        Some(_) => evidence.noise_floor(quantity, &twin().unwrap_or_default(), own, control.margin),
    }
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
        let first = paired_estimate(&effects, CONFIDENCE)?;
        let percent = first.point.abs().exp_m1() * 100.0;
        rules::order_matters(&first, margin)
            .then(|| format!("in {scenario} the arm that goes first differs by {percent:.1} %"))
    })
}
