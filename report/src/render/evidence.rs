//! The evidence of a study: each claim with both sides, the authors' code and what was tested for a cause; and its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{
    Table, around, breakable, bullets, cell, code, heading, link, original, prose, round, some, text,
};
use super::{GENERATED, maps, prices, rule};
use crate::claims::{Form, Test};
use crate::fmt::{self, anchor};
use crate::judge::figures::{self, NOTHING, or_nothing};
use crate::judge::judged::{At, Cause, Judged, JudgedClaim, JudgedForm, Row, Scale, Verdict};
use crate::layout::{self, Cell};
use crate::page::view::StudyView;
use crate::stats;

pub fn page(view: &StudyView) -> String {
    let (name, page) = (&view.judged.study, &view.page);
    let (title, here, trust) = (prose(&page.title), anchor(name, ""), anchor(name, "trust"));
    let (runs, spent) = (fmt::plural(view.judged.runs, "run", "runs"), fmt::duration(view.judged.measured_s));
    let (profile, samples) = (code(&view.judged.profile), code(&format!("results/{}", view.judged.folder)));
    let host = cell(view.host_name(view.here));
    let mut out = format!(
        "{GENERATED}\n# {title}: the evidence\n\nIts conclusions are in [REPORT.md](../../REPORT.md#{here}), whether it can be trusted in \
         [TRUST.md](TRUST.md#{trust}), what it was measured on in [MACHINES.md](MACHINES.md), and what the words mean in [METHODOLOGY](../METHODOLOGY.md#words).\n\n\
         `here` is {host}. The newest round there: profile {profile}, {runs}, {spent} inside them; samples in {samples}.\n\n"
    );
    out += &around("**What we kept**\n\n", bullets(&page.kept), "");
    out += &around("**What we changed**\n\n", bullets(&page.changed), "");
    let ids: Vec<String> = view.judged.claims.iter().map(|claim| link(name, &claim.id, "")).collect();
    out += &around("## Claims\n\n", ids.join(" · "), "\n\n");
    out.extend(view.judged.claims.iter().map(|claim| self::claim(view, claim)));
    out.extend([prices::by_host(view), rule::by_scenario(view), maps::by_host(view)]);
    out + &around("## Tables\n\n", page.table.iter().map(|of| table(view, of)).collect::<String>(), "")
}

fn claim<'a>(view: &StudyView, claim: &'a JudgedClaim) -> String {
    let (study, id) = (&view.judged.study, &claim.id);
    let title = format!("### {}: {}", prose(id), prose(claim.text.trim_end_matches('.')));
    let published = original(claim);
    let mut out = heading(&anchor(study, id), &title) + &format!("Published: {}.", published.trim_end_matches('.'));
    for form in Form::VARIANTS {
        let _ = write!(out, " {}: {}.", fmt::capitalized(form.in_words()), verdict(view, id, *form));
    }
    let _ = write!(out, " To measure it again: `make claim-{id}`.\n\n");
    let is_shown = |at: usize, test: &Test<JudgedForm>| {
        at < Form::VARIANTS.len() || !view.settings(&test.id, test.form).is_empty()
    };
    let tests = claim.tests.iter().enumerate().filter(|(at, test)| is_shown(*at, test)).map(|(_, test)| test);
    let label = |test: &'a Test<JudgedForm>| if test.id == *id { test.form.in_words() } else { &test.id };
    let tests: Vec<(&str, &Test<JudgedForm>)> = tests.map(|test| (label(test), test)).collect();
    let remark = |(_, test): &(&str, &Test<JudgedForm>)| {
        let (id, text) = (prose(&test.id), prose(test.text.trim_end_matches('.')));
        format!("- Further test {id}, not counted: {text}. {}.\n", verdict(view, &test.id, Form::Fair))
    };
    out += &around("", tests[Form::VARIANTS.len()..].iter().map(remark).collect::<String>(), "\n");
    out += &rows(view, &tests);
    for (label, Test { id, form, of, .. }) in tests {
        let Ok(found) = of else { continue };
        out.extend([mirrors(view, &published, label, found), causes(view, label, (id, *form))]);
    }
    out
}

/// The published figure, that of the authors' own code here, and that of its mirror.
fn mirrors(view: &StudyView, published: &str, label: &str, found: &Judged) -> String {
    let mut table =
        Table::new("Scenario | Their code here | Our mirror here | Theirs ÷ ours | >Blocks | Host | Do they agree?");
    for mirror in &found.mirrors {
        let At { round, host, .. } = &mirror.at;
        let agrees = match mirror.agrees {
            Verdict::Holds => "agrees",
            Verdict::DoesNotHold => "disagrees",
            _ => "could not tell",
        };
        let [theirs, ours, apart] = [&mirror.theirs, &mirror.ours, &mirror.apart].map(|of| text(&figures::times(of)));
        let scenario =
            around("", cell(&mirror.part), ": ") + &code(&mirror.scenario) + &around(", ", cell(&mirror.but), "");
        let host = format!("[{}](../../results/{round})", cell(view.host_name(*host)));
        table.row([scenario, theirs, ours, apart, mirror.apart.n.to_string(), host, agrees.to_owned()]);
    }
    let (label, published) = (prose(label), published.trim_end_matches('.'));
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
fn rows(view: &StudyView, tests: &[(&str, &Test<JudgedForm>)]) -> String {
    let mut table =
        Table::new("Test | What | Scenario | Host | >Figure (interval) | >Blocks | Medians | >Floor | Verdict | Round");
    let (mut remarks, mut modes) = (String::new(), BTreeSet::new());
    for (label, Test { id, form, .. }) in tests {
        let mut last = ("", [const { String::new() }; 3]);
        for row in view.settings(id, *form).into_iter().flatten() {
            if row.part != last.0 && !row.part.is_empty() {
                let _ = writeln!(remarks, "- {}: {}.", prose(label), prose(&row.part));
            }
            // What a row is of stands once, above those that are of the same.
            let own = [cell(label), breakable(&figures::what(&row.scale)), code(&row.scenario)];
            let first = if own == last.1 { [const { String::new() }; 3] } else { own.clone() };
            last = (&row.part, own);
            let host = view.host_name(row.at.host);
            let notes = figures::modes(row)
                .chain(figures::aside(row).map(|said| format!("{}: {said}", figures::what(&row.scale))));
            modes.extend(notes.map(|said| format!("{said} (`{}`, {host}).", row.scenario)));
            // "12 (96.1 %)", with the failed runs among them.
            let blocks = or_nothing(row.estimate.as_ref(), |estimate| match figures::coverage(estimate) {
                Some(coverage) => format!("{} ({coverage})", estimate.n),
                None => figures::sample_size(estimate),
            });
            let rest = [
                cell(host),
                text(&figures::estimate(row)),
                blocks + &figures::failed(row),
                some(text(&figures::sides(row))),
                figures::floor(row),
                format!("{}{}", row.verdict, if row.beside { " (beside)" } else { "" }),
                round(&row.at.round),
            ];
            table.row([&first[..], &rest].concat());
        }
    }
    table.below(&around("", remarks, "\n")) + &bullets(&modes)
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
    let figure = |row: &Row| {
        let (figure, scenario) = (text(&figures::figure(row)?), code(&row.scenario));
        // The figure of a ratio names its arms already, that of a share its claim.
        let of = match &row.scale {
            Scale::Ratio { metric, .. } => format!("{}, {scenario}", text(&fmt::metric_in_words(metric))),
            Scale::Share { .. } => scenario,
            other => format!("{}, {scenario}", text(&figures::what(other))),
        };
        let figure = if leads { format!("{figure} ({of})") } else { format!("({of}): {figure}") };
        Some(std::iter::once(figure).chain(figures::aside(row)).collect::<Vec<_>>().join("; "))
    };
    let figures: Vec<String> = cause.evidence.iter().filter_map(figure).collect();
    let stop = if leads || sentence.is_empty() || sentence.ends_with(['.', '!', '?']) { "" } else { "." };
    let evidence = if leads { "" } else { "Evidence " };
    let before = format!("- **{}**: {}. {sentence}{stop} {evidence}", fmt::capitalized(verdict), prose(&cause.short));
    around(&before, figures.join("; "), ".\n")
}

/// A table in the original's shape, medians of ours beside what they printed, without rows and columns of which nothing was measured twice; empty without any.
fn table(view: &StudyView, layout: &layout::Table) -> String {
    let entry = |row: &layout::Row, column: &layout::Column| entry(view, column.in_row(row)?);
    let entries = |row| layout.column.iter().map(|column| entry(row, column)).collect::<Vec<_>>();
    let mut rows: Vec<(usize, Vec<Option<String>>)> = layout.row.iter().map(entries).enumerate().collect();
    rows.retain(|(_, entries)| entries.iter().any(Option::is_some));
    let headings = layout.column.iter().map(|column| format!(" | >{}", cell(&column.header)));
    let mut table = Table::new(&(cell(&layout.row_header) + &headings.collect::<String>()));
    for (row, entries) in &rows {
        let mut cells = vec![cell(&layout.row[*row].label)];
        let mut is_measured = true;
        for (at, (column, entry)) in layout.column.iter().zip(entries).enumerate() {
            let said = if let Some(printed) = &column.values {
                // Printed texts go with the figures of ours that they stand behind.
                printed.get(*row).filter(|_| is_measured).map(|printed| cell(printed))
            } else {
                is_measured = rows.iter().any(|(_, entries)| entries[at].is_some());
                entry.clone()
            };
            cells.push(said.unwrap_or_else(|| NOTHING.to_owned()));
        }
        table.row(cells);
    }
    let note = around("", prose(layout.note.as_deref().unwrap_or_default()), "\n\n");
    around("", table.below(&format!("**{}**\n\n", prose(&layout.title))), &note)
}

/// The text of a cell; `None` where nothing was measured, or a single run, which says too little.
fn entry(view: &StudyView, cell: Cell) -> Option<String> {
    let values = values(view, cell);
    if values.len() < 2 {
        return None;
    }
    let median = stats::median(values)?;
    let value = judged_ratio(view, cell).map_or(median, |ratio| ratio * cell.factor);
    Some(match cell.digits {
        // A failed run counts as infinitely bad.
        _ if !median.is_finite() => "failed".to_owned(),
        Some(digits) => fmt::decimals(value, digits),
        None => fmt::number(value, 3),
    })
}

/// The judged ratio of a cell that is one of two arms and nothing else, if it was judged: what is printed twice is computed once.
fn judged_ratio(view: &StudyView, cell: Cell) -> Option<f64> {
    let Cell { dividend: Some(dividend), minus: None, per: None, .. } = cell else { return None };
    let rows = view.judged.claims.iter().flat_map(JudgedClaim::evidence).flat_map(|found| &found.rows);
    rows.filter(|row| row.scenario == cell.scenario).find_map(|row| {
        let Scale::Ratio { numerator, denominator, metric, .. } = &row.scale else { return None };
        let point = row.estimate.filter(|_| metric == cell.metric)?.point;
        let is_of = |above: &str, below: &str| numerator == above && denominator == below;
        is_of(dividend, cell.arm).then_some(point).or_else(|| is_of(cell.arm, dividend).then_some(1.0 / point))
    })
}

/// One value per block; infinite where a run that it needs has failed, which is as bad as it can be.
fn values(view: &StudyView, Cell { scenario, arm, metric, minus, per, dividend, factor, .. }: Cell) -> Vec<f64> {
    // By block, `None` of a failed run; a run that lacks the metric is left out.
    let by_block = |arm: &str, metric: &str| -> BTreeMap<u64, Option<f64>> {
        let samples = view.data.samples(scenario, arm).iter().filter_map(|sample| {
            Some((sample.block, if sample.error.is_some() { None } else { Some(*sample.metrics.get(metric)?) }))
        });
        samples.collect()
    };
    let minus = minus.map(|other| by_block(other, metric));
    let per = per.map(|other| by_block(arm, other));
    let dividend = dividend.map(|other| by_block(other, metric));
    let of_block = |(block, value): (u64, Option<f64>)| -> Option<f64> {
        let Some(mut out) = value else { return Some(f64::INFINITY) };
        if let Some(minus) = &minus {
            out -= minus.get(&block).copied()?.unwrap_or(f64::NEG_INFINITY);
        }
        if let Some(per) = &per {
            out /= per.get(&block).copied()??;
        }
        if let Some(dividend) = &dividend {
            out = dividend.get(&block).copied()?.unwrap_or(f64::INFINITY) / out;
        }
        Some(out)
    };
    by_block(arm, metric).into_iter().filter_map(of_block).map(|value| value * factor).collect()
}
