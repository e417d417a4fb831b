//! Mirrors: is the effect of ours that of the authors' own code, measured in the same blocks?

use std::fmt::Write as _;

use super::pairs::Pairs;
use super::round::ratio_estimate;
use super::{Round, newest};
use crate::claims::{Form, Part, Quantity, rules};
use crate::judge::figures::times;
use crate::judge::judged::{Judged, Mirror, Verdict};
use crate::stats::CONFIDENCE;

/// How far the two effects may be apart, as a ratio less one.
pub const MARGIN: f64 = 0.10;

/// Compares what the claim `id` mirrors in `form`, or the further test of this id: of every host by the newest round of each profile that asked it.
pub(super) fn compare(rounds: &[&Round], id: &str, form: Form) -> Vec<Mirror> {
    let in_round = |round: &Round| {
        let parts = round.claims.asked(id, form)?.parts();
        let found: Vec<Mirror> = parts.iter().flat_map(|part| of_part(round, part)).collect();
        (!found.is_empty()).then_some(found)
    };
    newest(rounds, |round| (round.at.host, &round.profile), in_round).concat()
}

fn of_part(round: &Round, part: &Part) -> Vec<Mirror> {
    let Some(mirrors) = &part.mirrors else { return Vec::new() };
    let compare = |but: &str, theirs: &Quantity, scenario: &str| {
        let (theirs, ours) = (effects(round, theirs, scenario), effects(round, &mirrors.ours, scenario));
        let apart = ratio_estimate(&Pairs::joined(&[&theirs, &ours], |both| Some(both[0] - both[1])), CONFIDENCE)?;
        let agrees = rules::equal(&apart, MARGIN);
        let (theirs, ours) = (ratio_estimate(&theirs, CONFIDENCE)?, ratio_estimate(&ours, CONFIDENCE)?);
        let (part, scenario, at) = (part.text.clone(), scenario.to_owned(), round.at.clone());
        Some(Mirror { part, scenario, theirs, ours, but: but.to_owned(), apart, agrees, at })
    };
    let both = |scenario: &String| {
        let but = mirrors.but.as_ref().and_then(|(but, theirs)| compare(but, theirs, scenario));
        compare("", &mirrors.theirs, scenario).into_iter().chain(but)
    };
    round.asked(&mirrors.theirs).iter().flat_map(both).collect()
}

/// What `quantity` came to in logarithms: a value is its own ratio to one.
fn effects(round: &Round, quantity: &Quantity, scenario: &str) -> Pairs {
    let found = round.gather(quantity, scenario);
    if quantity.is_ratio() { found } else { Pairs::joined(&[&found], |value| Some(value[0].ln())) }
}

/// A form as published whose mirror does something else than the authors' code is unclear on `host`: by the newest comparison there that can tell, else
/// by that of another host, of which one that agrees is enough.
pub(super) fn believe(found: &mut Judged, host: usize) {
    if found.verdict == Verdict::NotTested {
        return;
    }
    let can_tell = |mirror: &&Mirror| mirror.but.is_empty() && mirror.agrees.is_decided();
    let agrees = |mirror: &&Mirror| mirror.agrees == Verdict::Holds;
    let decides = |mirror: &Mirror| {
        let same = || found.mirrors.iter().filter(can_tell).filter(|other| other.is_same(mirror));
        same().find(|other| other.at.host == host).or_else(|| same().find(agrees)).or_else(|| same().next())
    };
    let mut deciding = found.mirrors.iter().filter_map(decides);
    let Some(mirror) = deciding.find(|mirror| mirror.agrees == Verdict::DoesNotHold) else { return };
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
