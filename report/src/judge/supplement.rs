//! What another measurement adds: figures for claims that the whole one did not measure, and goals judged on it.

use std::collections::BTreeSet;

use super::{Evidence, claim, goal};
use crate::claims::{Claims, Quantity};
use crate::dataset::Dataset;
use crate::judged::{GoalStanding, JudgedStudy, Row, Verdict};

/// What another measurement adds to the newest whole one.
#[derive(Debug, Clone)]
pub struct Addition {
    /// Its profile.
    pub profile: String,
    /// Its samples.
    pub data: Dataset,
    /// The test cases that are shown from it, by scenario and arm.
    pub cases: BTreeSet<(String, String)>,
    /// The scenarios that are judged from it.
    pub scenarios: BTreeSet<String>,
    /// `†`, or `‡` if it is from another kind of machine.
    pub mark: &'static str,
}

/// What of the additions is about one quantity: all of one profile.
struct Found<'a> {
    profile: &'a str,
    data: Dataset,
    mark: &'static str,
}

/// Adds to `study`, judged by `claims`, what `additions` say of what it did not measure; the newest comes first.
///
/// Claims get figures without a verdict, because a verdict needs its controls from the same measurement; goals are judged.
pub fn add(study: &mut JudgedStudy, claims: &Claims, additions: &[Addition]) {
    let main_profile = study.profile.clone();
    for judged in study.claims.iter_mut().filter(|judged| judged.verdict == Verdict::NotMeasured) {
        let Some(claim) = claims.claim(&judged.id).filter(|claim| claim.pending.is_none()) else {
            continue;
        };
        let absent = |quantity: &&Quantity| !quantity.is_measured(&main_profile);
        let Some(quantity) = claim.quantity.as_ref().filter(absent) else {
            continue;
        };
        if let Some(found) = find(quantity, additions) {
            let evidence = Evidence { claims, data: &found.data, profile: found.profile };
            let (rows, _) = claim::rows(evidence, claim, quantity);
            judged.rows = rows.into_iter().filter(has_figure).map(without_verdict).collect();
            judged.mark = if judged.rows.is_empty() { "" } else { found.mark };
        }
    }
    for judged in study.goals.iter_mut().filter(|judged| judged.standing == GoalStanding::NotMeasured) {
        let named = claims.goals.iter().find(|goal| goal.id == judged.id);
        let Some(goal) = named.filter(|goal| !goal.quantity.is_measured(&main_profile)) else {
            continue;
        };
        if let Some(found) = find(&goal.quantity, additions) {
            let evidence = Evidence { claims, data: &found.data, profile: found.profile };
            *judged = goal::judge(evidence, goal);
            // A scenario that was not run has counted as not measured by now, and has no row.
            judged.rows.retain(has_figure);
            judged.mark = if judged.rows.is_empty() { "" } else { found.mark };
        }
    }
}

/// The additions of the newest profile that has a scenario of the quantity.
fn find<'a>(quantity: &Quantity, additions: &'a [Addition]) -> Option<Found<'a>> {
    let speaks = |addition: &&Addition, profile: &str| {
        let scenarios = quantity.scenarios(profile);
        addition.profile == profile && scenarios.iter().any(|scenario| addition.scenarios.contains(scenario))
    };
    let first = additions
        .iter()
        .find(|addition| quantity.is_measured(&addition.profile) && speaks(addition, &addition.profile))?;
    let mut found = Found { profile: &first.profile, data: Dataset::default(), mark: "" };
    for addition in additions.iter().filter(|addition| speaks(addition, &first.profile)) {
        let scenarios = quantity.scenarios(found.profile);
        let is_wanted =
            |scenario: &str| addition.scenarios.contains(scenario) && scenarios.iter().any(|name| name == scenario);
        found.data.extend(&addition.data, |scenario, _| is_wanted(scenario));
        // The mark of another machine is the stronger reservation.
        found.mark = found.mark.max(addition.mark);
    }
    Some(found)
}

fn has_figure(row: &Row) -> bool {
    row.estimate.is_some() || !row.sides.is_empty()
}

/// The row as a mere figure: nothing is tested with it.
fn without_verdict(row: Row) -> Row {
    Row { verdict: Verdict::NotMeasured, floor: None, p_value: None, ..row }
}
