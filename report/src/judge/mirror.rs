//! Mirrors: is the effect of ours that of the authors' own code, measured in the same blocks?

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::evidence::{Evidence, Yield, ratio_estimate};
use crate::claims::rules;
use crate::claims::{Asked, Claims, Form, Part, Quantity};
use crate::judge::figures::times;
use crate::judge::judged::{Judged, Mirror, MirrorState, Verdict};
use crate::stats::CONFIDENCE;

/// How far the two effects may be apart, as a ratio less one.
pub const MARGIN: f64 = 0.10;

/// What rounds say of the authors' own code beside its mirrors, by claim or further test and form.
#[derive(Debug, Default)]
pub struct Originals {
    found: Vec<(String, Form, Vec<Mirror>)>,
}

impl Originals {
    /// Compares what `claims` mirror in `rounds`, the newest first, each with its host and folder: of every host the newest round of each
    /// profile that asked it.
    pub fn new(claims: &Claims, rounds: &[(usize, &str, Evidence<'_>)]) -> Self {
        let further = claims.claims.iter().flat_map(|claim| &claim.further).map(|test| (&test.id, Form::Fair));
        let forms = [Form::Published, Form::Fair];
        let tests = claims.claims.iter().flat_map(|claim| forms.map(|form| (&claim.id, form))).chain(further);
        let found = tests.map(|(id, form)| {
            let mut known = BTreeSet::new();
            let mut mirrors = Vec::new();
            for &(host, folder, evidence) in rounds {
                let parts = evidence.claims.asked(id, form).map(Asked::parts).unwrap_or_default();
                if known.contains(&(host, evidence.profile)) {
                    continue;
                }
                let there = |mirror| Mirror { at: (folder.to_owned(), host), ..mirror };
                let there: Vec<Mirror> = parts.iter().flat_map(|part| of_part(evidence, part)).map(there).collect();
                if !there.is_empty() {
                    known.insert((host, evidence.profile));
                    mirrors.extend(there);
                }
            }
            (id.clone(), form, mirrors)
        });
        Originals { found: found.collect() }
    }

    /// What there is for the claim `id` in `form`, or for the further test of this id.
    pub(super) fn of(&self, id: &str, form: Form) -> Vec<Mirror> {
        let own = self.found.iter().find(|(of, in_form, _)| of == id && *in_form == form);
        own.map_or_else(Vec::new, |(.., mirrors)| mirrors.clone())
    }
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
            Verdict::DoesNotHold => MirrorState::Disagrees,
            _ => MirrorState::CouldNotTell,
        };
        let (theirs, ours) = (ratio_estimate(&theirs, CONFIDENCE)?, ratio_estimate(&ours, CONFIDENCE)?);
        let (part, scenario) = (part.text.clone(), scenario.to_owned());
        Some(Mirror { part, scenario, theirs, ours, but: but.to_owned(), apart, state, at: Default::default() })
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

/// A form as published whose mirror does something else than the authors' code judges another program than theirs, and is unclear on `host`. The
/// newest comparison there that can tell decides; where there is none, one host on which they agree is enough.
pub(super) fn believe(found: &mut Judged, host: usize) {
    let can_tell = |mirror: &&Mirror| mirror.but.is_empty() && mirror.state != MirrorState::CouldNotTell;
    let agrees = |mirror: &&Mirror| mirror.state == MirrorState::Agrees;
    let decides = |mirror: &Mirror| {
        let same = || found.mirrors.iter().filter(can_tell).filter(|other| other.is_same(mirror));
        same().find(|other| other.at.1 == host).or_else(|| same().find(agrees)).or_else(|| same().next())
    };
    let mut deciding = found.mirrors.iter().filter_map(decides);
    let Some(mirror) = deciding.find(|mirror| mirror.state == MirrorState::Disagrees) else { return };
    let (theirs, ours) = (times(&mirror.theirs), times(&mirror.ours));
    let mut reason = format!("in {} the authors' code shows {theirs} and its mirror {ours}", mirror.scenario);
    let shows =
        |other: &&Mirror| !other.but.is_empty() && other.is_same(mirror) && other.at == mirror.at && agrees(other);
    if let Some(other) = found.mirrors.iter().find(shows) {
        let _ = write!(reason, "; {} theirs shows {}, too", other.but, times(&other.theirs));
    }
    found.reason = reason;
    found.verdict = Verdict::Unclear;
}
