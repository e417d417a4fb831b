//! Controls: copies of one arm that must not be told apart, and planted effects that must be found.

use super::evidence::{ALL, Evidence, Yield, no_floor, ratio_estimate};
use crate::claims::rules::{self, CONTRADICTS};
use crate::claims::{ControlCase, Of, Quantity};
use crate::judge::judged::{ControlState, Estimate, JudgedControl, Row};
use crate::stats::signed_rank::p_value_beyond;
use crate::stats::{CONFIDENCE, PLANTED_CONFIDENCE, duet, estimate, holm, layout};

/// Judges a control.
pub(super) fn judge(evidence: Evidence<'_>, control: &ControlCase) -> JudgedControl {
    let quantity = &control.quantity;
    let found = evidence.pooled(quantity);
    let scenarios = quantity.scenarios(evidence.profile);
    let first = scenarios.first().map_or("", String::as_str);
    let row = evidence.row(quantity, first, &found);
    let copies = copies(evidence, control, &found);
    let floor = evidence.noise_floor(quantity, &copies, &found, control.margin);
    let wide = ratio_estimate(&found, PLANTED_CONFIDENCE);
    let (mut state, mut reason) = match (&row.estimate, wide, control.planted) {
        _ if !quantity.is_measured(evidence.profile) => {
            (ControlState::NotMeasured, format!("not measured ({})", evidence.profile))
        }
        (Some(estimate), _, None) => aa(estimate, control.margin),
        (Some(estimate), Some(wide), Some(size)) => {
            planted(estimate, &wide, (control.margin, floor), size, copies.len())
        }
        _ => (ControlState::CouldNotTell, "no samples".to_owned()),
    };
    if !matches!(state, ControlState::Failed | ControlState::NotMeasured)
        && let Some(fault) =
            order_fault(evidence, quantity, control.margin).or_else(|| told_apart_in_one(evidence, control))
    {
        (state, reason) = (ControlState::Failed, fault);
    }
    // The copies of processes have different layouts, those of a duet share theirs.
    let tells_layouts = control.planted.is_none() && !quantity.is_duet();
    JudgedControl {
        id: control.id.clone(),
        row: Row {
            scenario: if scenarios.len() == 1 { first } else { ALL }.to_owned(),
            floor: (state != ControlState::NotMeasured).then_some(floor),
            ..row
        },
        planted: control.planted,
        layout_sd: tells_layouts.then(|| layout::sd(&evidence.by_layout(&found))).flatten(),
        state,
        reason,
    }
}

/// The scenario in which alone the copies of an A/A control are told apart, which the mean over several may hide. Holm over the scenarios
/// keeps the chance of a false alarm that one of them has.
fn told_apart_in_one(evidence: Evidence<'_>, control: &ControlCase) -> Option<String> {
    let quantity = &control.quantity;
    let scenarios = quantity.scenarios(evidence.profile);
    if control.planted.is_some() || scenarios.len() < 2 {
        return None;
    }
    let margin = control.margin.ln_1p();
    let p_values =
        scenarios.iter().map(|scenario| p_value_beyond(&evidence.gather(quantity, scenario).values(), margin));
    let adjusted = holm::adjust(&p_values.collect::<Vec<_>>());
    let told_apart = scenarios.iter().zip(adjusted).filter(|(_, p_value)| *p_value < CONTRADICTS);
    let (worst, _) = told_apart.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(format!("in {worst} {}", differ(control.margin)))
}

fn differ(margin: f64) -> String {
    format!("two copies of one arm differ by more than {:.0} %", margin * 100.0)
}

fn aa(estimate: &Estimate, margin: f64) -> (ControlState, String) {
    let state = rules::aa(estimate, margin);
    let reason = match state {
        ControlState::Failed => differ(margin),
        ControlState::CouldNotTell if estimate.level < 1.0 => {
            format!("they may differ by more than {:.0} %, or not", margin * 100.0)
        }
        ControlState::CouldNotTell => "too few blocks for an interval".to_owned(),
        ControlState::Passed | ControlState::NotMeasured => String::new(),
    };
    (state, reason)
}

fn planted(
    estimate: &Estimate,
    wide: &Estimate,
    (margin, floor): (f64, f64),
    size: f64,
    copies: usize,
) -> (ControlState, String) {
    let found = format!("99 % interval [{:.3}, {:.3}]", wide.lo, wide.hi);
    let state = rules::planted(estimate, wide, margin, floor, size);
    let reason = match state {
        ControlState::Failed => format!("the planted {size} is off the {found} by more than half the margin"),
        // An interval that noise has widened over both the size and the margin contradicts nothing: effects as small come out unclear by
        // the same noise, and larger ones are not touched by it.
        ControlState::CouldNotTell => {
            let noisy = || format!("noise hides effects of this size ({found}, floor {:.1} %)", floor * 100.0);
            no_floor(copies).unwrap_or_else(noisy)
        }
        ControlState::Passed | ControlState::NotMeasured => String::new(),
    };
    (state, reason)
}

/// The A/A pairs that show the noise of a control: for A/A its own, for a planted one those of the same arm in its scenarios, whichever A/A
/// control they were run for.
fn copies(evidence: Evidence<'_>, control: &ControlCase, own: &Yield) -> Vec<(u64, f64)> {
    let quantity = &control.quantity;
    match (control.planted, &quantity.of) {
        (Some(_), Of::Ratio { denominator, .. }) => {
            let of = Of::copies(denominator, quantity.replicate);
            evidence.by_layout(&evidence.pooled(&Quantity { of, ..quantity.clone() }))
        }
        _ => evidence.by_layout(own),
    }
}

/// What is wrong with the order of the arms in duets: who goes first must not matter by more than the margin and a tenth of the effect.
///
/// The effect of order is half of the difference between the two orders, per process; it counts if its interval lies wholly beyond
/// both, on either side. A process in which one arm always goes first shows none, and does not show that there is none either.
pub(super) fn order_fault(evidence: Evidence<'_>, quantity: &Quantity, margin: f64) -> Option<String> {
    if !quantity.is_duet() {
        return None;
    }
    let arm = quantity.arms().into_iter().next()?;
    quantity.scenarios(evidence.profile).iter().find_map(|scenario| {
        let samples = evidence.samples(quantity, scenario, &arm);
        // A failed run has no pairs.
        let ran: Vec<_> = samples.iter().filter(|sample| !sample.pairs.is_empty()).collect();
        let effects = ran.iter().filter_map(|sample| duet::order_effect(&sample.pairs));
        let effects: Vec<f64> = effects.map(|effect| effect / 2.0).collect();
        let unknown = ran.len() - effects.len();
        if unknown > 0 {
            return Some(format!("in {scenario} one arm goes first in all pairs of {unknown} of {} duets", ran.len()));
        }
        let first = estimate(&effects, CONFIDENCE)?;
        let effect =
            estimate(&evidence.gather(quantity, scenario).values(), CONFIDENCE).map_or(0.0, |found| found.point);
        let percent = first.point.abs().exp_m1() * 100.0;
        rules::order_matters(&first, effect, margin)
            .then(|| format!("in {scenario} the arm that goes first differs by {percent:.1} %"))
    })
}
