//! Controls: copies of one arm that must not be told apart, and planted effects that must be found.

use super::quantity::{gather, p_value, ratio_estimate, samples, scale, sides};
use super::{ALL, Evidence, is_duet};
use crate::claims::ControlCase;
use crate::judged::{Estimate, JudgedControl, Row, Verdict};
use crate::stats::duet;
use crate::stats::{CONFIDENCE, PLANTED_CONFIDENCE, Pair, floor::floor, signed_rank};
use crate::verdict;

/// The log ratios of a control: of several scenarios, the mean of a block's over the scenarios.
pub(super) fn pairs(evidence: Evidence<'_>, control: &ControlCase) -> Vec<Pair> {
    pooled(evidence, &control.quantity).0
}

/// Pairs pooled over the scenarios of a quantity, one per block that all of them have, and the failed runs.
pub(super) fn pooled(evidence: Evidence<'_>, quantity: &crate::claims::Quantity) -> (Vec<Pair>, usize) {
    let scenarios = quantity.scenarios(evidence.profile);
    let yields: Vec<_> = scenarios.iter().map(|scenario| gather(evidence, quantity, scenario)).collect();
    let failed = yields.iter().map(|found| found.failed).sum();
    let Some(first) = yields.first() else {
        return (Vec::new(), failed);
    };
    let mut pairs = Vec::new();
    for block in &first.blocks {
        let of_block: Option<Vec<Pair>> = yields
            .iter()
            .map(|found| found.blocks.iter().position(|other| other == block).map(|place| found.pairs[place]))
            .collect();
        let Some(of_block) = of_block else {
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "numbers of scenarios are small")]
        let n = of_block.len() as f64;
        let mean = |pick: fn(&Pair) -> f64| of_block.iter().map(pick).sum::<f64>() / n;
        let known = |end: f64, otherwise: f64| if end.is_nan() { otherwise } else { end };
        pairs.push(Pair {
            lo: known(mean(|pair| pair.lo), f64::NEG_INFINITY),
            // Without a middle where failures of both sides meet.
            mid: mean(|pair| pair.mid),
            hi: known(mean(|pair| pair.hi), f64::INFINITY),
        });
    }
    (pairs, failed)
}

/// Judges a control.
pub(super) fn judge(evidence: Evidence<'_>, control: &ControlCase) -> JudgedControl {
    let quantity = &control.quantity;
    let (pairs, failed) = pooled(evidence, quantity);
    let estimate = ratio_estimate(&pairs, CONFIDENCE);
    let floor = noise_of(evidence, control, &pairs);
    let scenarios = quantity.scenarios(evidence.profile);
    let measured = quantity.is_measured(evidence.profile);
    let (passed, reason) = match (&estimate, control.planted) {
        _ if !measured => (true, format!("not measured ({})", evidence.profile)),
        (None, _) => (false, "no samples".to_owned()),
        (Some(estimate), None) => aa(estimate, control.margin),
        (Some(estimate), Some(size)) => planted(estimate, &pairs, floor, size),
    };
    let order = order_fault(evidence, quantity, control.margin).filter(|_| passed);
    let verdict = if !measured {
        Verdict::NotMeasured
    } else if passed && order.is_none() {
        Verdict::Reproduced
    } else {
        Verdict::Invalid
    };
    JudgedControl {
        id: control.id.clone(),
        kind: if control.planted.is_some() { "planted" } else { "aa" }.to_owned(),
        row: Row {
            scenario: match scenarios {
                [one] => one.clone(),
                _ => ALL.to_owned(),
            },
            scale: scale(quantity),
            estimate,
            sides: scenarios.first().map(|scenario| sides(evidence, quantity, scenario)).unwrap_or_default(),
            floor: Some(floor),
            verdict,
            p_value: p_value(&pairs),
            failed,
        },
        planted: control.planted,
        passed: passed && order.is_none(),
        reason: order.unwrap_or(reason),
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
fn noise_of(evidence: Evidence<'_>, control: &ControlCase, own: &[Pair]) -> f64 {
    let quantity = &control.quantity;
    let twin = evidence.claims.controls.iter().find(|other| {
        other.planted.is_none()
            && other.quantity.metric == quantity.metric
            && other.quantity.form == quantity.form
            && other.quantity.scenarios(evidence.profile) == quantity.scenarios(evidence.profile)
    });
    let noise = match (control.planted, twin) {
        (None, _) => own.to_vec(),
        (Some(_), Some(twin)) => pairs(evidence, twin),
        (Some(_), None) => Vec::new(),
    };
    floor(&middles(&noise), own.len(), control.margin)
}

/// The middles of pairs.
pub(super) fn middles(pairs: &[Pair]) -> Vec<f64> {
    pairs.iter().map(|pair| pair.mid).collect()
}

/// What is wrong with the order of the arms in duets: who goes first must not matter by more than the margin.
///
/// The effect of order is half of the difference between the two orders, per process; it counts if its interval lies wholly beyond
/// the margin, on either side.
pub(super) fn order_fault(evidence: Evidence<'_>, quantity: &crate::claims::Quantity, margin: f64) -> Option<String> {
    if !is_duet(quantity.form) {
        return None;
    }
    let arm = quantity.arms().into_iter().next()?;
    for scenario in quantity.scenarios(evidence.profile) {
        let samples = samples(evidence, quantity, scenario, &arm);
        let effects: Vec<Pair> = samples
            .iter()
            .filter_map(|sample| duet::order_effect(&sample.pairs))
            .map(|effect| Pair::exact(effect / 2.0))
            .collect();
        if let Some(first) = signed_rank::estimate(&effects, CONFIDENCE)
            && verdict::order_failed(&first, margin)
        {
            let percent = first.point.abs().exp_m1() * 100.0;
            return Some(format!("in {scenario} the arm that goes first differs by {percent:.1} %"));
        }
    }
    None
}
