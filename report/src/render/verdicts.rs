//! All verdicts as one document of JSON, for other programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::claims::rules::Over;
use crate::claims::{Form, Further};
use crate::files::Schema;
use crate::folder::host::FACTS;
use crate::judge::figures;
use crate::judge::judged::{Cause, Estimate, Judged, JudgedClaim, JudgedForm, Mirror, Row};
use crate::page::view::StudyView;

/// All claims of the studies with forms, verdicts and figures, and a line break at the end. Members stand in the order written here; a number
/// that is not finite is null.
pub fn verdicts_json(studies: &[StudyView]) -> String {
    let studies: Vec<Value> = studies.iter().map(study).collect();
    format!("{:#}\n", json!({ "schema": Schema, "studies": studies }))
}

fn study(view: &StudyView) -> Value {
    let judged = &view.judged;
    let host = FACTS.iter().filter_map(|name| Some((*name, view.machine.values.get(*name)?.as_ref())));
    json!({
        "study": judged.study,
        "folder": judged.folder,
        "profile": judged.profile,
        "plan_seed": judged.plan_seed,
        "plan_hash": judged.plan_hash,
        "host": host.collect::<BTreeMap<_, _>>(),
        "claims": judged.claims.iter().map(|of| claim(view, of)).collect::<Vec<_>>(),
    })
}

fn claim(view: &StudyView, claim: &JudgedClaim) -> Value {
    json!({
        "id": claim.id,
        "text": claim.text,
        "original": claim.original,
        "published": found(view, &claim.id, Form::Published),
        "fair": found(view, &claim.id, Form::Fair),
        "further": claim.further.iter().map(|test| further(view, test)).collect::<Vec<_>>(),
    })
}

fn further(view: &StudyView, test: &Further<JudgedForm>) -> Value {
    let mut value = json!({ "id": test.id, "text": test.text });
    if let (Value::Object(members), Value::Object(found)) = (&mut value, found(view, &test.id, Form::Fair)) {
        members.extend(found);
    }
    value
}

fn found(view: &StudyView, id: &str, form: Form) -> Value {
    let found = match view.judged.asked(id, form) {
        Some(Ok(found)) => found,
        Some(Err(reason)) => return json!({ "absent": reason }),
        None => return Value::Null,
    };
    let Over { verdict, decided, unclear } = view.over(id, form);
    let cause = |(short, over): (&str, Over)| json!({ "short": short, "verdict": over.verdict.into_str() });
    let on_host = |(host, found): (usize, &Judged)| {
        json!({
            "host": view.origin.name(host),
            "verdict": found.verdict.into_str(),
            "reason": found.reason,
            "causes": found.causes.iter().map(self::cause).collect::<Vec<_>>(),
            "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        })
    };
    json!({
        "verdict": verdict.into_str(),
        "decided": decided,
        "unclear": unclear,
        "kind": found.kind,
        "causes": view.causes(id, form).into_iter().map(cause).collect::<Vec<_>>(),
        "mirrors": found.mirrors.iter().map(mirror).collect::<Vec<_>>(),
        "hosts": view.found(id, form).into_iter().map(on_host).collect::<Vec<_>>(),
    })
}

fn cause(cause: &Cause) -> Value {
    json!({
        "short": cause.short,
        "verdict": cause.verdict.into_str(),
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
        "folder": mirror.at.0,
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
        "figure": row.figure.map(|band| [band.lo, band.hi]),
        "failed": row.failed,
        "verdict": row.verdict.into_str(),
        "round": row.round,
    })
}
