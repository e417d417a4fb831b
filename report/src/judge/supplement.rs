//! What another measurement adds: figures for claims that the whole one did not measure, and goals judged on it.

use std::num::NonZeroU64;

use super::evidence::Evidence;
use super::{claim, goal};
use crate::claims::{Claims, Quantity};
use crate::dataset::Dataset;
use crate::judged::{JudgedStudy, Kept, Row, Verdict};
use crate::supplement::{MARK, Supplement};

/// Adds to `study`, judged by `claims`, what `supplements` say of what it did not measure; the newest comes first.
///
/// Claims get figures without a verdict, because a verdict needs its controls from the same measurement; goals are judged.
pub fn add(study: &mut JudgedStudy, claims: &Claims, supplements: &[Supplement]) {
    let main_profile = study.profile.clone();
    let find = |quantity| find(quantity, &main_profile, supplements);
    for judged in &mut study.claims {
        let Some(claim) = claims.claim(&judged.id) else {
            continue;
        };
        for (form, found_in) in judged.forms_mut().filter(|(_, judged)| judged.verdict == Verdict::NotMeasured) {
            for part in claim.form(form).parts() {
                if let Some((profile, data)) = find(&part.quantity) {
                    let (rows, _) = claim::rows(evidence(claims, profile, &data), part);
                    // A mere figure: nothing is tested with it.
                    let figure = |row| Row { verdict: Verdict::NotMeasured, floor: None, ..row };
                    found_in.rows.extend(rows.into_iter().filter(Row::has_figure).map(figure));
                    found_in.mark = if found_in.rows.is_empty() { "" } else { MARK };
                }
            }
        }
    }
    for judged in study.goals.iter_mut().filter(|judged| judged.standing == Kept::NotMeasured) {
        if let Some(goal) = claims.goals.iter().find(|goal| goal.id == judged.id)
            && let Some((profile, data)) = find(&goal.quantity)
        {
            *judged = goal::judge(evidence(claims, profile, &data), goal);
            // A scenario that was not run has counted as not measured by now, and has no row.
            judged.rows.retain(Row::has_figure);
            judged.mark = if judged.rows.is_empty() { "" } else { MARK };
        }
    }
}

/// What the supplements of the newest profile that has a scenario of the quantity say of it; `None` if the main profile measures it.
fn find<'a>(quantity: &Quantity, main_profile: &str, supplements: &'a [Supplement]) -> Option<(&'a str, Dataset)> {
    let is_asked = |supplement: &Supplement, profile: &str, scenario: &str| {
        supplement.judged.contains(scenario) && quantity.scenarios(profile).iter().any(|name| name == scenario)
    };
    let speaks = |supplement: &&Supplement, profile: &str| {
        let mut scenarios = supplement.judged.iter();
        supplement.profile == profile && scenarios.any(|scenario| is_asked(supplement, profile, scenario))
    };
    let first = supplements
        .iter()
        .filter(|_| !quantity.is_measured(main_profile))
        .find(|supplement| quantity.is_measured(&supplement.profile) && speaks(supplement, &supplement.profile))?;
    let mut data = Dataset::default();
    for supplement in supplements.iter().filter(|supplement| speaks(supplement, &first.profile)) {
        data.extend(&supplement.data, |scenario, _| is_asked(supplement, &first.profile, scenario));
    }
    Some((&first.profile, data))
}

/// What it is judged by; figures and goals have no floor, for which layouts count.
fn evidence<'a>(claims: &'a Claims, profile: &'a str, data: &'a Dataset) -> Evidence<'a> {
    Evidence { claims, data, profile, layouts: NonZeroU64::MIN }
}
