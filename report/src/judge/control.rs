//! Controls: copies of one arm that must not be told apart, and planted effects that must be found.

use super::Round;
use super::pairs::Pairs;
use super::round::{ALL, no_floor, ratio_estimate};
use crate::claims::rules::{self, CONTRADICTS};
use crate::claims::{ControlCase, Of, Quantity};
use crate::judge::judged::{ControlState, Estimate, JudgedControl, Row};
use crate::stats::{CONFIDENCE, PLANTED_CONFIDENCE, duet, estimate, holm, layout, signed_rank::p_value_beyond};

pub(super) fn judge(round: &Round, control: &ControlCase) -> JudgedControl {
    let quantity = &control.quantity;
    let found = round.pooled(quantity);
    let scenarios = round.scenarios(quantity);
    let first = scenarios.first().map_or("", String::as_str);
    let row = round.row_of(quantity, first, &found);
    let copies = copies(round, control, &found);
    let floor = round.noise_floor(quantity, &copies, &found, control.margin);
    let wide = ratio_estimate(&found, PLANTED_CONFIDENCE);
    let state = match (&row.estimate, &wide, control.planted) {
        _ if !quantity.is_measured(&round.profile) => ControlState::NotMeasured,
        (Some(estimate), _, None) => rules::aa(estimate, control.margin),
        (Some(estimate), Some(wide), Some(size)) => rules::planted(estimate, wide, control.margin, floor, size),
        _ => ControlState::CouldNotTell,
    };
    let reason = match (state, &row.estimate, wide.zip(control.planted)) {
        (ControlState::Passed, ..) => String::new(),
        (ControlState::NotMeasured, ..) => format!("not measured ({})", round.profile),
        (ControlState::Failed, _, None) => differ(control.margin),
        (ControlState::Failed, _, Some((wide, size))) => {
            format!("the planted {size} is off the {} by more than half the margin", in_words(&wide))
        }
        (_, None, _) => "no samples".to_owned(),
        (_, Some(estimate), None) if estimate.level < 1.0 => {
            format!("they may differ by more than {:.0} %, or not", control.margin * 100.0)
        }
        (_, Some(_), None) => "too few blocks for an interval".to_owned(),
        // An interval that noise has widened over both the size and the margin contradicts nothing: effects as small come out unclear by
        // the same noise, and larger ones are not touched by it.
        (_, Some(_), Some((wide, _))) => no_floor(copies.len()).unwrap_or_else(|| {
            format!("noise hides effects of this size ({}, floor {:.1} %)", in_words(&wide), floor * 100.0)
        }),
    };
    let fault = || order_fault(round, quantity, control.margin).or_else(|| told_apart_in_one(round, control));
    let fault = if matches!(state, ControlState::Failed | ControlState::NotMeasured) { None } else { fault() };
    let (state, reason) = fault.map_or((state, reason), |fault| (ControlState::Failed, fault));
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
        layout_sd: tells_layouts.then(|| layout::sd(&round.by_layout(&found))).flatten(),
        state,
        reason,
    }
}

/// The scenario in which alone copies are told apart, which the mean over several may hide. Holm keeps the chance of a false alarm that one has.
fn told_apart_in_one(round: &Round, control: &ControlCase) -> Option<String> {
    let quantity = &control.quantity;
    let scenarios = round.scenarios(quantity);
    if control.planted.is_some() || scenarios.len() < 2 {
        return None;
    }
    let margin = control.margin.ln_1p();
    let p_values = scenarios.iter().map(|scenario| p_value_beyond(&round.gather(quantity, scenario).values(), margin));
    let adjusted = holm::adjust(&p_values.collect::<Vec<_>>());
    let told_apart = scenarios.iter().zip(adjusted).filter(|(_, p_value)| *p_value < CONTRADICTS);
    let (worst, _) = told_apart.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    Some(format!("in {worst} {}", differ(control.margin)))
}

fn differ(margin: f64) -> String {
    format!("two copies of one arm differ by more than {:.0} %", margin * 100.0)
}

fn in_words(wide: &Estimate) -> String {
    format!("99 % interval [{:.3}, {:.3}]", wide.lo, wide.hi)
}

/// The A/A pairs that show the noise of a control: of a planted one those of the same arm in its scenarios, whichever A/A control they were run for.
fn copies(round: &Round, control: &ControlCase, own: &Pairs) -> Vec<(u64, f64)> {
    let quantity = &control.quantity;
    let Of::Ratio { denominator, .. } = &quantity.of else { return Vec::new() };
    if control.planted.is_none() {
        return round.by_layout(own);
    }
    let of = Of::copies(denominator, quantity.replicate);
    round.by_layout(&round.pooled(&Quantity { of, ..quantity.clone() }))
}

/// What is wrong with the order of the arms in duets. Its effect is half of the difference between the two orders, per process; one in which one arm
/// always goes first shows none, and does not show that there is none either.
pub(super) fn order_fault(round: &Round, quantity: &Quantity, margin: f64) -> Option<String> {
    if !quantity.is_duet() {
        return None;
    }
    let arm = &quantity.arms()[0];
    round.scenarios(quantity).iter().find_map(|scenario| {
        let samples = round.samples(quantity, scenario, arm);
        let ran: Vec<_> = samples.iter().filter(|sample| !sample.pairs.is_empty()).collect();
        let effects = ran.iter().filter_map(|sample| duet::order_effect(&sample.pairs));
        let effects: Vec<f64> = effects.map(|effect| effect / 2.0).collect();
        let unknown = ran.len() - effects.len();
        if unknown > 0 {
            return Some(format!("in {scenario} one arm goes first in all pairs of {unknown} of {} duets", ran.len()));
        }
        let first = estimate(&effects, CONFIDENCE)?;
        let effect = estimate(&round.gather(quantity, scenario).values(), CONFIDENCE).map_or(0.0, |found| found.point);
        let percent = first.point.abs().exp_m1() * 100.0;
        rules::order_matters(&first, effect, margin)
            .then(|| format!("in {scenario} the arm that goes first differs by {percent:.1} %"))
    })
}
