//! Mirrors: is the effect of ours that of the authors' own code, measured in the same blocks?

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::evidence::{Evidence, Yield, ratio_estimate};
use crate::claims::{Asked, Claims, Form, Part, Quantity};
use crate::figures::times;
use crate::judged::{Judged, JudgedStudy, Mirror, MirrorState, Verdict};
use crate::rules;
use crate::stats::CONFIDENCE;

/// How far the two effects may be apart, as a ratio less one.
pub const MARGIN: f64 = 0.10;

/// The mirrors of the tests of a form that ran in `evidence` beside what they mirror.
pub(super) fn of(evidence: Evidence<'_>, asked: &Asked) -> Vec<Mirror> {
    asked.parts().iter().flat_map(|part| of_part(evidence, part)).collect()
}

fn of_part(evidence: Evidence<'_>, part: &Part) -> Vec<Mirror> {
    let Some(mirrors) = part.mirrors.as_ref().filter(|mirrors| mirrors.theirs.is_measured(evidence.profile)) else {
        return Vec::new();
    };
    let compare = |but: &str, theirs: &Quantity, scenario: &str| {
        let (theirs, ours) = (effects(evidence, theirs, scenario), effects(evidence, &mirrors.ours, scenario));
        let apart = ratio_estimate(&quotients(&theirs, &ours), CONFIDENCE)?;
        let state = match rules::equal(&apart, MARGIN) {
            Verdict::Holds => MirrorState::Agrees,
            Verdict::Differs => MirrorState::Disagrees,
            _ => MirrorState::CouldNotTell,
        };
        let (theirs, ours) = (ratio_estimate(&theirs, CONFIDENCE)?, ratio_estimate(&ours, CONFIDENCE)?);
        let (part, scenario) = (part.text.clone(), scenario.to_owned());
        Some(Mirror { part, scenario, theirs, ours, but: but.to_owned(), apart, state, at: None })
    };
    let both = |scenario: &String| {
        let but = mirrors.but.as_ref().and_then(|(but, theirs)| compare(but, theirs, scenario));
        compare("", &mirrors.theirs, scenario).into_iter().chain(but)
    };
    mirrors.theirs.scenarios(evidence.profile).iter().flat_map(both).collect()
}

/// What `quantity` came to in logarithms: a value is its own ratio to one.
fn effects(evidence: Evidence<'_>, quantity: &Quantity, scenario: &str) -> Yield {
    let mut found = evidence.gather(quantity, scenario);
    if !quantity.is_ratio() {
        found.pairs.values_mut().for_each(|value| *value = value.ln());
    }
    found
}

/// Theirs less ours, block by block.
fn quotients(theirs: &Yield, ours: &Yield) -> Yield {
    let both = theirs.pairs.iter().filter_map(|(block, theirs)| Some((*block, theirs - ours.pairs.get(block)?)));
    Yield { pairs: both.collect(), ..Yield::default() }
}

/// Adds what a round of the authors' own code on `host` says of the tests of `claims`, unless a newer one of this host did, and drops what it
/// contradicts.
pub fn mirrors(study: &mut JudgedStudy, claims: &Claims, originals: Evidence<'_>, folder: &str, host: usize) {
    let there = |id: &str, form: Form| -> Vec<Mirror> {
        let asked = originals.claims.asked(id, form).filter(|_| originals.claims.mirror_as(claims, id, form));
        let there = |mirror| Mirror { at: Some((folder.to_owned(), host)), ..mirror };
        asked.into_iter().flat_map(|asked| of(originals, asked)).map(there).collect()
    };
    let is_new =
        |found: &Judged| found.mirrors.iter().all(|mirror| mirror.at.as_ref().is_none_or(|(_, of)| *of != host));
    for judged in &mut study.claims {
        for test in &mut judged.further {
            if let Some(found) = test.form.judged_mut().filter(|found| is_new(found)) {
                found.mirrors.extend(there(&test.id, Form::Fair));
            }
        }
        let id = judged.id.clone();
        for (form, found) in judged.forms_mut().filter(|(_, found)| is_new(found)) {
            found.mirrors.extend(there(&id, form));
            if form == Form::Published {
                believe(found);
            }
        }
    }
}

/// A form as published whose mirror does something else than the authors' code judges another program than theirs. Of several hosts the
/// first that can tell decides, and the one of the round itself comes first.
pub(super) fn believe(found: &mut Judged) {
    let can_tell = |mirror: &&Mirror| mirror.but.is_empty() && mirror.state != MirrorState::CouldNotTell;
    let mut told = BTreeSet::new();
    let mut firsts =
        found.mirrors.iter().filter(can_tell).filter(|mirror| told.insert((&mirror.part, &mirror.scenario)));
    let Some(mirror) = firsts.find(|mirror| mirror.state == MirrorState::Disagrees) else { return };
    let (theirs, ours) = (times(&mirror.theirs), times(&mirror.ours));
    let mut reason = format!("in {} the authors' code shows {theirs} and its mirror {ours}", mirror.scenario);
    let shows = |other: &&Mirror| {
        let is_there = (&other.scenario, &other.at) == (&mirror.scenario, &mirror.at);
        !other.but.is_empty() && is_there && other.state == MirrorState::Agrees
    };
    if let Some(other) = found.mirrors.iter().find(shows) {
        let _ = write!(reason, "; {} theirs shows {}, too", other.but, times(&other.theirs));
    }
    found.reason = reason;
    found.verdict = Verdict::Invalid;
}
