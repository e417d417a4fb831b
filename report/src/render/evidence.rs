//! The evidence of a study: its tables, and each claim with both sides, the authors' code and what was tested for a cause.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{
    Table, around, breakable, bullets, cell, code, headed, heading, link, original, prose, round, some, text,
};
use super::{GENERATED, maps, prices, rule, table};
use crate::claims::{Form, Further};
use crate::fmt::{self, anchor};
use crate::judge::figures::{self, NOTHING, or_nothing};
use crate::judge::judged::{Cause, Judged, JudgedClaim, JudgedForm, Row, Scale, Verdict};
use crate::page::view::StudyView;

pub fn page(view: &StudyView) -> String {
    let (name, page) = (&view.judged.study, &view.page);
    let (title, here, trust) = (prose(&page.title), anchor(name, ""), anchor(name, "trust"));
    let (runs, spent) = (fmt::plural(view.judged.runs, "run", "runs"), fmt::duration(view.judged.measured_s));
    let (profile, samples) = (code(&view.judged.profile), code(&format!("results/{}", view.judged.folder)));
    let host = cell(view.origin.name(view.origin.here));
    let mut out = format!(
        "{GENERATED}\n# {title}: the evidence\n\nIts conclusions are in [REPORT.md](../../REPORT.md#{here}), whether it can be trusted in \
         [TRUST.md](TRUST.md#{trust}), what it was measured on in [MACHINES.md](MACHINES.md), and what the words mean in [METHODOLOGY](../METHODOLOGY.md#words).\n\n\
         `here` is {host}. The newest round there: profile {profile}, {runs}, {spent} inside them; samples in {samples}.\n\n"
    );
    out.push_str(&headed("**What we kept**", bullets(&page.kept)));
    out.push_str(&headed("**What we changed**", bullets(&page.changed)));
    let ids: Vec<String> = view.judged.claims.iter().map(|claim| link(name, &claim.id, "")).collect();
    out.push_str(&around("## Claims\n\n", ids.join(" · "), "\n\n"));
    out.extend(view.judged.claims.iter().map(|claim| self::claim(view, claim)));
    out.extend([prices::by_host(view), rule::by_scenario(view), maps::by_host(view)]);
    out.push_str(&headed("## Tables", page.table.iter().map(|of| table::render(view, of)).collect::<String>()));
    out
}

fn claim(view: &StudyView, claim: &JudgedClaim) -> String {
    let (study, id) = (&view.judged.study, &claim.id);
    let title = format!("### {}: {}", prose(id), prose(claim.text.trim_end_matches('.')));
    let mut out = heading(&anchor(study, id), &title);
    let _ = write!(out, "Published: {}.", original(claim).trim_end_matches('.'));
    for form in Form::VARIANTS {
        let _ = write!(out, " {}: {}.", fmt::capitalized(form.in_words()), verdict(view, id, *form));
    }
    let _ = write!(out, " To measure it again: `make claim-{id}`.\n\n");
    let measured = |test: &&Further<JudgedForm>| !view.settings(&test.id, Form::Fair).is_empty();
    let further: Vec<&Further<JudgedForm>> = claim.further.iter().filter(measured).collect();
    let remark = |test: &&Further<JudgedForm>| {
        let (id, text) = (prose(&test.id), prose(test.text.trim_end_matches('.')));
        format!("- Further test {id}, not counted: {text}. {}.\n", verdict(view, &test.id, Form::Fair))
    };
    out.push_str(&around("", further.iter().map(remark).collect::<String>(), "\n"));
    let forms = Form::VARIANTS.iter().map(|form| (form.in_words(), id.as_str(), *form));
    let further = further.iter().map(|test| (test.id.as_str(), test.id.as_str(), Form::Fair));
    let tests: Vec<Test> = forms.chain(further).collect();
    out.push_str(&rows(view, &tests));
    for (label, id, form) in tests {
        let Some(found) = view.judged.found(id, form) else { continue };
        out.extend([mirrors(view, claim, label, found), causes(view, label, (id, form))]);
    }
    out
}

type Test<'a> = (&'a str, &'a str, Form);

/// The published figure, that of the authors' own code here, and that of its mirror.
fn mirrors(view: &StudyView, claim: &JudgedClaim, label: &str, found: &Judged) -> String {
    let mut table =
        Table::new("Scenario | Their code here | Our mirror here | Theirs ÷ ours | >Blocks | Host | Do they agree?");
    for mirror in &found.mirrors {
        let (folder, host) = &mirror.at;
        let agrees = match mirror.agrees {
            Verdict::Holds => "agrees",
            Verdict::DoesNotHold => "disagrees",
            _ => "could not tell",
        };
        let [theirs, ours, apart] = [&mirror.theirs, &mirror.ours, &mirror.apart].map(|of| text(&figures::times(of)));
        table.row([
            around("", cell(&mirror.part), ": ") + &code(&mirror.scenario) + &around(", ", cell(&mirror.but), ""),
            theirs,
            ours,
            apart,
            mirror.apart.n.to_string(),
            format!("[{}](../../results/{folder})", cell(view.origin.name(*host))),
            agrees.to_owned(),
        ]);
    }
    let (label, published) = (prose(label), original(claim));
    let published = published.trim_end_matches('.');
    table.below(&format!("The authors' own code ({label}), by the same measure; published: {published}.\n\n"))
}

/// The verdict over hosts with the whole reason of here; of an absent form the reason alone.
fn verdict(view: &StudyView, id: &str, form: Form) -> String {
    match view.judged.asked(id, form) {
        Some(Ok(found)) => {
            let reason = around(" (here: ", prose(found.reason.trim().trim_end_matches('.')), ")");
            format!("**{}**{reason}", figures::over_in_words(view.over(id, form)))
        }
        Some(Err(reason)) => format!("absent, {}", prose(reason.trim_end_matches('.'))),
        None => NOTHING.to_owned(),
    }
}

/// The figures of every host, and the words of the set-up of each test above them; nothing if none was measured.
fn rows(view: &StudyView, tests: &[Test]) -> String {
    let mut table =
        Table::new("Test | What | Scenario | Host | >Figure (interval) | >Blocks | Medians | >Floor | Verdict | Round");
    let (mut remarks, mut modes) = (String::new(), BTreeSet::new());
    for (label, id, form) in tests {
        let mut last = ("", [const { String::new() }; 3]);
        for (host, row) in view.settings(id, *form).into_iter().flatten() {
            if row.part != last.0 && !row.part.is_empty() {
                let _ = writeln!(remarks, "- {}: {}.", prose(label), prose(&row.part));
            }
            // What a row is of stands once, above those that are of the same.
            let own = [cell(label), breakable(&figures::what(&row.scale)), code(&row.scenario)];
            let first = if own == last.1 { [const { String::new() }; 3] } else { own.clone() };
            last = (&row.part, own);
            let there = format!("(`{}`, {})", row.scenario, view.origin.name(host));
            modes.extend(figures::modes(row).map(|said| format!("{said} {there}.")));
            let rest = [
                cell(view.origin.name(host)),
                text(&figures::estimate(row)),
                blocks(row),
                some(text(&figures::sides(row))),
                figures::floor(row),
                format!("{}{}", row.verdict, if row.beside { " (beside)" } else { "" }),
                round(&row.round),
            ];
            table.row([&first[..], &rest].concat());
        }
    }
    table.below(&around("", remarks, "\n")) + &bullets(&modes)
}

/// "12 (96.1 %)", with the failed runs among them.
fn blocks(row: &Row) -> String {
    let count = or_nothing(row.estimate.as_ref(), |estimate| match figures::coverage(estimate) {
        Some(coverage) => format!("{} ({coverage})", estimate.n),
        None => figures::sample_size(estimate),
    });
    count + &figures::failed(row)
}

fn causes(view: &StudyView, label: &str, (id, form): (&str, Form)) -> String {
    let (found, over) = (view.found(id, form), view.causes(id, form));
    // Of the host of the newest round that has them.
    let tested = found.iter().find(|(_, found)| !found.causes.is_empty());
    let tested = tested.filter(|_| found.iter().any(|(_, found)| found.has_effect()));
    let of = |cause: &Cause| {
        let over = over.iter().find(|(short, _)| *short == cause.short).map(|(_, over)| *over);
        evidence(cause, &figures::over_in_words(over.unwrap_or_default()))
    };
    let said: String = tested.into_iter().flat_map(|(_, tested)| &tested.causes).map(of).collect();
    around(&format!("Causes that were tested, {}:\n\n", prose(label)), said, "\n")
}

/// "- **Explains it on 2 of 2**: second core. A sentence. Evidence (`s`): 93 % (84 to 106), n = 12; (`t`): 91 % .." A sentence that ends with a colon
/// leads to the figures. Nothing without any.
fn evidence(cause: &Cause, verdict: &str) -> String {
    let sentence = prose(cause.text.trim());
    let leads = sentence.ends_with(':');
    let stop = if leads || sentence.is_empty() || sentence.ends_with(['.', '!', '?']) { "" } else { "." };
    let figures: Vec<String> = cause.evidence.iter().filter_map(|row| figure_of(row, leads)).collect();
    let evidence = if leads { "" } else { "Evidence " };
    let before = format!("- **{}**: {}. {sentence}{stop} {evidence}", fmt::capitalized(verdict), prose(&cause.short));
    around(&before, figures.join("; "), ".\n")
}

/// The figure of a row of evidence with what it is of, before it or, where a sentence leads to the figure, behind; `None` without one.
fn figure_of(row: &Row, leads: bool) -> Option<String> {
    let figure = figures::figure(row)?;
    let scenario = code(&row.scenario);
    // The figure of a ratio names its arms already, that of a share its claim.
    let of = match &row.scale {
        Scale::Ratio { metric, .. } => format!("{}, {scenario}", text(&fmt::metric_in_words(metric))),
        Scale::Share { .. } => scenario,
        other => format!("{}, {scenario}", text(&figures::what(other))),
    };
    Some(if leads { format!("{} ({of})", text(&figure)) } else { format!("({of}): {}", text(&figure)) })
}
