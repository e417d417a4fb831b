//! What other measurements add: figures for claims that the whole one did not measure, and goals judged on them.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use super::evidence::Evidence;
use super::{claim, goal};
use crate::claims::{Claims, Goal, Quantity};
use crate::dataset::Dataset;
use crate::judged::{JudgedStudy, Kept, Row, Verdict};
use crate::supplement::{MARK, Supplement};

/// Adds to `study`, judged by `claims`, what `supplements` say of what it did not measure.
///
/// Claims get figures without a verdict, because a verdict needs its controls from the same measurement; goals are judged.
pub fn add(study: &mut JudgedStudy, claims: &Claims, supplements: &[Supplement]) {
    // There are two profiles that judge: what this one does not measure the other one may.
    let Some(other) = supplements.iter().find(|supplement| supplement.profile != study.profile) else { return };
    let mut data = Dataset::default();
    for supplement in supplements {
        data.extend(&supplement.data, |scenario, _| supplement.judged.contains(scenario));
    }
    // Figures and goals have no floor, for which layouts count.
    let evidence = Evidence { claims, data: &data, profile: &other.profile, layouts: NonZeroU64::MIN };
    let judged: BTreeSet<&String> = supplements.iter().flat_map(|supplement| &supplement.judged).collect();
    let main_profile = study.profile.clone();
    let is_added = |quantity: &Quantity| {
        let mut scenarios = quantity.scenarios(&other.profile).iter();
        let is_measured = quantity.is_measured(&other.profile) && !quantity.is_measured(&main_profile);
        is_measured && scenarios.any(|scenario| judged.contains(scenario))
    };
    for judged in &mut study.claims {
        let Some(claim) = claims.claim(&judged.id) else { continue };
        for (form, found) in judged.forms_mut().filter(|(_, judged)| judged.verdict == Verdict::NotMeasured) {
            for part in claim.form(form).parts().iter().filter(|part| is_added(&part.quantity)) {
                let (rows, _) = claim::rows(evidence, part);
                // A mere figure: nothing is tested with it.
                let figure = |row| Row { verdict: Verdict::NotMeasured, floor: None, ..row };
                found.rows.extend(rows.into_iter().filter(Row::has_figure).map(figure));
                found.mark = if found.rows.is_empty() { "" } else { MARK };
            }
        }
    }
    for judged in study.goals.iter_mut().filter(|judged| judged.standing == Kept::NotMeasured) {
        let is_own = |goal: &&Goal| goal.id == judged.id && is_added(&goal.quantity);
        if let Some(goal) = claims.goals.iter().find(is_own) {
            *judged = goal::judge(evidence, goal);
            // A scenario that was not run has counted as not measured by now, and has no row.
            judged.rows.retain(Row::has_figure);
            judged.mark = if judged.rows.is_empty() { "" } else { MARK };
        }
    }
}
