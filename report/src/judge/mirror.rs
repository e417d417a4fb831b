//! Mirrors: is the effect of ours that of the authors' own code, measured in the same blocks?

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
        let estimate = |found: &Yield| ratio_estimate(&found.pairs, CONFIDENCE);
        let (theirs, ours) = (estimate(&theirs)?, estimate(&ours)?);
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
        for pair in &mut found.pairs {
            *pair = pair.ln();
        }
    }
    found
}

/// Theirs less ours, block by block.
fn quotients(theirs: &Yield, ours: &Yield) -> Vec<f64> {
    let same = |block: &u64| Some(ours.pairs[ours.blocks.iter().position(|other| other == block)?]);
    let both = theirs.blocks.iter().zip(&theirs.pairs).filter_map(|(block, pair)| Some((pair, same(block)?)));
    both.map(|(a, b)| a - b).collect()
}

/// Adds what a round of the authors' own code on `host` says of tests whose own round, by `claims`, did not run it, and drops what it
/// contradicts.
pub fn mirrors(study: &mut JudgedStudy, claims: &Claims, originals: Evidence<'_>, folder: &str, host: usize) {
    let there = |id: &str, form: Form| -> Vec<Mirror> {
        let asked = originals.claims.asked(id, form).filter(|_| originals.claims.mirror_as(claims, id, form));
        let there = |mirror| Mirror { at: Some((folder.to_owned(), host)), ..mirror };
        asked.into_iter().flat_map(|asked| of(originals, asked)).map(there).collect()
    };
    for judged in &mut study.claims {
        for test in &mut judged.further {
            if let Some(found) = test.form.judged_mut().filter(|found| found.mirrors.is_empty()) {
                found.mirrors = there(&test.id, Form::Fair);
            }
        }
        let id = judged.id.clone();
        for (form, found) in judged.forms_mut().filter(|(_, found)| found.mirrors.is_empty()) {
            found.mirrors = there(&id, form);
            if form == Form::Published {
                believe(found);
            }
        }
    }
}

/// A form as published whose mirror does something else than the authors' code judges another program than theirs.
pub(super) fn believe(found: &mut Judged) {
    let disagrees = |mirror: &&Mirror| mirror.but.is_empty() && mirror.state == MirrorState::Disagrees;
    let Some(mirror) = found.mirrors.iter().find(disagrees) else { return };
    let (theirs, ours) = (times(&mirror.theirs), times(&mirror.ours));
    let mut reason = format!("in {} the authors' code shows {theirs} and its mirror {ours}", mirror.scenario);
    let shows = |other: &&Mirror| {
        !other.but.is_empty() && other.scenario == mirror.scenario && other.state == MirrorState::Agrees
    };
    if let Some(other) = found.mirrors.iter().find(shows) {
        let _ = write!(reason, "; {} theirs shows {}, too", other.but, times(&other.theirs));
    }
    found.reason = reason;
    found.verdict = Verdict::Invalid;
}
