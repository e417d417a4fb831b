//! All verdicts as one document of JSON, for other programs, and one claim in words.

use serde_json::{Value, json};
use strum::VariantArray as _;

use super::markdown::{around, some};
use crate::claims::rules::Over;
use crate::claims::{Form, Test};
use crate::files::Schema;
use crate::judge::figures::{self, NOTHING};
use crate::judge::judged::{Judged, JudgedClaim, JudgedForm, Row};
use crate::page::view::StudyView;

/// All claims with forms, verdicts and figures. Members stand in the order written here; a number that is not finite is null.
pub fn verdicts_json(studies: &[StudyView]) -> String {
    let study = |view: &StudyView| {
        let judged = &view.judged;
        json!({
            "study": judged.study,
            "folder": judged.folder,
            "profile": judged.profile,
            "plan_seed": judged.plan_seed,
            "plan_hash": judged.plan_hash,
            "claims": judged.claims.iter().map(|of| claim(view, of)).collect::<Vec<_>>(),
        })
    };
    format!("{:#}\n", json!({ "schema": Schema, "studies": studies.iter().map(study).collect::<Vec<_>>() }))
}

fn claim(view: &StudyView, claim: &JudgedClaim) -> Value {
    let further =
        |test: &Test<JudgedForm>| json!({ "id": test.id, "text": test.text, "fair": form(view, &test.id, Form::Fair) });
    json!({
        "id": claim.id,
        "text": claim.text,
        "original": claim.original,
        "published": form(view, &claim.id, Form::Published),
        "fair": form(view, &claim.id, Form::Fair),
        "further": claim.further().iter().map(further).collect::<Vec<_>>(),
    })
}

fn form(view: &StudyView, id: &str, form: Form) -> Value {
    if let Some(Err(reason)) = view.judged.asked(id, form) {
        return json!({ "absent": reason });
    }
    let Over { verdict, decided, unclear } = view.over(id, form);
    let cause = |(short, over): (&str, Over)| json!({ "short": short, "verdict": over.verdict.into_str() });
    let on_host = |(host, found): (usize, &Judged)| {
        json!({
            "host": view.host_name(host),
            "verdict": found.verdict.into_str(),
            "reason": found.reason,
            "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        })
    };
    json!({
        "verdict": verdict.into_str(),
        "decided": decided,
        "unclear": unclear,
        "causes": view.causes(id, form).into_iter().map(cause).collect::<Vec<_>>(),
        "hosts": view.found(id, form).into_iter().map(on_host).collect::<Vec<_>>(),
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
        "round": row.at.round,
    })
}

/// What the hosts say of one claim: here, over the hosts, and what was published; `None` if there is no such claim.
pub fn in_words(view: &StudyView, id: &str) -> Option<String> {
    let claim = view.judged.claims.iter().find(|claim| claim.id == id)?;
    let each = |of: &dyn Fn(Form) -> Option<String>| {
        let said = Form::VARIANTS.iter().filter_map(|form| Some(format!("{} {}", form.in_words(), of(*form)?)));
        some(said.collect::<Vec<_>>().join("; "))
    };
    let here = each(&|form| {
        let found = claim.form(form).as_ref().ok()?;
        let figure = found.deciding_row().and_then(figures::short);
        Some(format!("{}, {}", figure.unwrap_or_else(|| NOTHING.to_owned()), found.verdict))
    });
    let range = each(&|form| {
        let range = figures::ranges(&view.deciding_settings(id, form))?;
        Some(format!("{range}, {}", figures::over_in_words(view.over(id, form))))
    });
    let what = claim.forms().find_map(|(_, found)| found.deciding_row()).map(|row| figures::what(&row.scale));
    let row = claim.forms().find_map(|(_, found)| found.deciding_row().filter(|row| row.figure.is_some()));
    let published = row.and_then(figures::published).unwrap_or_else(|| claim.original.clone());
    let what = around(" (", what.unwrap_or_default(), ")");
    Some(format!("{id}: {}{what}\nhere:      {here}\nrange:     {range}\npublished: {published}\n", claim.text))
}
