//! All verdicts as one document of JSON, for other programs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::claims::{Form, Size};
use crate::figures;
use crate::files::Schema;
use crate::judged::{Count, Counts, Estimate, Judged, JudgedClaim, JudgedForm, Mirror, Row, Standing};
use crate::view::StudyView;

/// What of machine.json tells a host.
const HOST: [&str; 8] =
    ["cpu_model", "cpu_family", "cpu_model_number", "cpu_stepping", "core_count", "cpu_count", "kernel", "hypervisor"];

#[derive(Serialize)]
struct Document<'a> {
    schema: Schema,
    studies: Vec<Study<'a>>,
}

#[derive(Serialize)]
struct Study<'a> {
    #[serde(rename = "study")]
    name: &'a str,
    folder: &'a str,
    profile: &'a str,
    plan_seed: u64,
    plan_hash: &'a str,
    /// What is known of the host; a value that could not be read is null.
    host: BTreeMap<&'a str, Option<&'a Value>>,
    counts: BTreeMap<Form, Counts>,
    claims: Vec<Claim<'a>>,
}

#[derive(Serialize)]
struct Claim<'a> {
    id: &'a str,
    text: &'a str,
    original: &'a str,
    published: Found<'a>,
    fair: Found<'a>,
    further: Vec<Further<'a>>,
}

#[derive(Serialize)]
struct Further<'a> {
    id: &'a str,
    text: &'a str,
    #[serde(flatten)]
    found: Found<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found<'a> {
    Absent {
        absent: &'a str,
    },
    Judged {
        verdict: &'static str,
        count: Count,
        kind: &'static str,
        reason: &'a str,
        /// `†` or `‡` for figures of another measurement, which are not judged.
        mark: &'static str,
        causes: Vec<Cause<'a>>,
        mirrors: Vec<MirrorOf<'a>>,
        rows: Vec<Test<'a>>,
    },
}

/// The effect of the authors' own code, and that of its mirror in the same blocks.
#[derive(Serialize)]
struct MirrorOf<'a> {
    part: &'a str,
    scenario: &'a str,
    theirs: [Option<f64>; 3],
    but: &'a str,
    ours: [Option<f64>; 3],
    apart: [Option<f64>; 3],
    n: usize,
    state: &'static str,
    /// Null for the round itself.
    folder: Option<&'a str>,
}

#[derive(Serialize)]
struct Cause<'a> {
    short: &'a str,
    standing: &'static str,
    evidence: Vec<Test<'a>>,
}

/// A row; an end that is open, or a number that there is not, is null.
#[derive(Serialize)]
struct Test<'a> {
    part: &'a str,
    scenario: &'a str,
    what: String,
    estimate: Option<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
    n: usize,
    level: Option<f64>,
    floor: Option<f64>,
    margin: Option<f64>,
    claimed: Option<[f64; 2]>,
    failed: usize,
    verdict: &'static str,
}

/// All claims of the studies with forms, verdicts and figures, and a line break at the end.
pub fn verdicts_json(studies: &[StudyView]) -> String {
    let document = Document { schema: Schema, studies: studies.iter().map(study).collect() };
    // Keys are text and numbers that JSON lacks are null, so that nothing can fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn study(view: &StudyView) -> Study<'_> {
    let judged = &view.judged;
    let host = HOST.iter().filter_map(|name| Some((*name, view.machine.values.get(*name)?.as_ref())));
    Study {
        name: &judged.study,
        folder: &judged.folder,
        profile: &judged.profile,
        plan_seed: judged.plan_seed,
        plan_hash: &judged.plan_hash,
        host: host.collect(),
        counts: [Form::Published, Form::Fair]
            .into_iter()
            .map(|form| (form, Counts::of(&judged.claims, form)))
            .collect(),
        claims: judged.claims.iter().map(claim).collect(),
    }
}

fn claim(claim: &JudgedClaim) -> Claim<'_> {
    let further = claim.further.iter();
    Claim {
        id: &claim.id,
        text: &claim.text,
        original: &claim.original,
        published: found(&claim.published),
        fair: found(&claim.fair),
        further: further.map(|test| Further { id: &test.id, text: &test.text, found: found(&test.form) }).collect(),
    }
}

fn found(form: &JudgedForm) -> Found<'_> {
    match form {
        JudgedForm::Absent(reason) => Found::Absent { absent: reason },
        JudgedForm::Judged(found) => Found::Judged {
            verdict: found.verdict.into_str(),
            count: found.verdict.count(),
            kind: found.kind,
            reason: &found.reason,
            mark: found.mark,
            causes: causes(found),
            mirrors: found.mirrors.iter().map(mirror).collect(),
            rows: found.rows.iter().map(row).collect(),
        },
    }
}

/// The causes that were tested; of an effect that is undecided, all are.
fn causes(found: &Judged) -> Vec<Cause<'_>> {
    let standing = |standing: Standing| if found.is_decided() { standing.in_words() } else { "undecided" };
    let cause = found.causes.iter();
    cause
        .map(|cause| Cause {
            short: &cause.short,
            standing: standing(cause.standing),
            evidence: cause.evidence.iter().map(row).collect(),
        })
        .collect()
}

fn mirror(mirror: &Mirror) -> MirrorOf<'_> {
    let finite =
        |estimate: &Estimate| [estimate.point, estimate.lo, estimate.hi].map(|x| Some(x).filter(|x| x.is_finite()));
    MirrorOf {
        part: &mirror.part,
        scenario: &mirror.scenario,
        theirs: finite(&mirror.theirs),
        ours: finite(&mirror.ours),
        but: &mirror.but,
        apart: finite(&mirror.apart),
        n: mirror.apart.n,
        state: mirror.state.into_str(),
        folder: mirror.at.as_ref().map(|(folder, _)| folder.as_str()),
    }
}

fn row(row: &Row) -> Test<'_> {
    let estimate = row.estimate.as_ref();
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let interval = estimate.filter(|estimate| figures::has_interval(estimate));
    Test {
        part: &row.part,
        scenario: &row.scenario,
        what: figures::what(&row.scale),
        estimate: estimate.and_then(|estimate| finite(estimate.point)),
        lo: interval.and_then(|interval| finite(interval.lo)),
        hi: interval.and_then(|interval| finite(interval.hi)),
        n: estimate.map_or(0, |estimate| estimate.n),
        level: interval.map(|interval| interval.level),
        floor: row.floor.and_then(finite),
        margin: row.margin,
        claimed: row.claimed.map(Size::band).map(|band| [band.lo, band.hi]),
        failed: row.failed,
        verdict: row.verdict.into_str(),
    }
}
