//! All verdicts as one document of JSON, for other programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::claims::{Form, Further, Size};
use crate::figures;
use crate::files::Schema;
use crate::host::FACTS;
use crate::judged::{Cause, Counts, Estimate, Judged, JudgedClaim, JudgedForm, Mirror, Row};
use crate::view::StudyView;

/// All claims of the studies with forms, verdicts and figures, and a line break at the end. Members stand in the order written here; a number
/// that is not finite is null.
pub fn verdicts_json(studies: &[StudyView]) -> String {
    let studies: Vec<Value> = studies.iter().map(study).collect();
    format!("{:#}\n", json!({ "schema": Schema, "studies": studies }))
}

fn study(view: &StudyView) -> Value {
    let judged = &view.judged;
    let host = FACTS.iter().filter_map(|name| Some((*name, view.machine.values.get(*name)?.as_ref())));
    let counts = [Form::Published, Form::Fair].map(|form| (form, Counts::of(&judged.claims, form)));
    json!({
        "study": judged.study,
        "folder": judged.folder,
        "profile": judged.profile,
        "plan_seed": judged.plan_seed,
        "plan_hash": judged.plan_hash,
        "host": host.collect::<BTreeMap<_, _>>(),
        "counts": BTreeMap::from(counts),
        "claims": judged.claims.iter().map(claim).collect::<Vec<_>>(),
    })
}

fn claim(claim: &JudgedClaim) -> Value {
    json!({
        "id": claim.id,
        "text": claim.text,
        "original": claim.original,
        "published": found(&claim.published),
        "fair": found(&claim.fair),
        "further": claim.further.iter().map(further).collect::<Vec<_>>(),
    })
}

fn further(test: &Further<JudgedForm>) -> Value {
    let mut value = json!({ "id": test.id, "text": test.text });
    if let (Value::Object(members), Value::Object(found)) = (&mut value, found(&test.form)) {
        members.extend(found);
    }
    value
}

fn found(form: &JudgedForm) -> Value {
    match form {
        JudgedForm::Absent(reason) => json!({ "absent": reason }),
        JudgedForm::Judged(found) => json!({
            "verdict": found.verdict.into_str(),
            "count": found.verdict.count(),
            "kind": found.kind,
            "reason": found.reason,
            "mark": found.mark,
            "causes": found.causes.iter().map(|cause| self::cause(found, cause)).collect::<Vec<_>>(),
            "mirrors": found.mirrors.iter().map(mirror).collect::<Vec<_>>(),
            "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        }),
    }
}

/// A cause that was tested; of an effect that is undecided, all are.
fn cause(found: &Judged, cause: &Cause) -> Value {
    json!({
        "short": cause.short,
        "standing": if found.is_decided() { cause.standing.in_words() } else { "undecided" },
        "evidence": cause.evidence.iter().map(row).collect::<Vec<_>>(),
    })
}

fn mirror(mirror: &Mirror) -> Value {
    let ends = |estimate: &Estimate| [estimate.point, estimate.lo, estimate.hi];
    json!({
        "part": mirror.part,
        "scenario": mirror.scenario,
        "theirs": ends(&mirror.theirs),
        "but": mirror.but,
        "ours": ends(&mirror.ours),
        "apart": ends(&mirror.apart),
        "n": mirror.apart.n,
        "state": mirror.state.into_str(),
        "folder": mirror.at.as_ref().map(|(folder, _)| folder),
    })
}

fn row(row: &Row) -> Value {
    let shown = figures::shown(row);
    let interval = shown.filter(figures::has_interval);
    json!({
        "part": row.part,
        "scenario": row.scenario,
        "what": figures::what(&row.scale),
        "estimate": shown.map(|estimate| estimate.point),
        "lo": interval.map(|interval| interval.lo),
        "hi": interval.map(|interval| interval.hi),
        "n": shown.map_or(0, |estimate| estimate.n),
        "level": interval.map(|interval| interval.level),
        "floor": row.floor,
        "margin": row.margin,
        "claimed": row.claimed.map(Size::band).map(|band| [band.lo, band.hi]),
        "failed": row.failed,
        "verdict": row.verdict.into_str(),
    })
}
