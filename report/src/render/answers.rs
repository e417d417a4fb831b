//! The answers: per study what is quoted of it, whether that holds, why, and what to do.
//!
//! Sentences come from page.toml, each with the verdicts that it rests on, so that none can say what the tables do not.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use strum::VariantArray as _;

use super::markdown::{Table, cell, code, prose};
use super::parts::{Counted, EVIDENCE, controls, counted, link};
use crate::claims::Form;
use crate::figures;
use crate::fmt::{self, anchor};
use crate::host;
use crate::judged::{Estimate, Judged, JudgedClaim, JudgedForm, Verdict};
use crate::page::{Answer, Document, Role, When};
use crate::rounds::letter;
use crate::sentence::{Piece, Sentence, What};
use crate::view::StudyView;

/// A longer set-up stands in the evidence alone.
const LONGEST_PART: usize = 60;

/// An answer per study that quotes a document; `report` is the document with the studies, empty for this one.
pub fn all(studies: &[StudyView], report: &str) -> String {
    studies.iter().filter_map(|view| answer(view, report)).collect::<Vec<_>>().join("\n")
}

fn answer(view: &StudyView, report: &str) -> Option<String> {
    let (document, claim) = (view.page.document.as_ref()?, claim_of(view)?);
    let study = &view.judged.study;
    let Document { url, year, .. } = document;
    let [heading, quote, author, title] =
        [&view.page.title, &document.quote, &document.author, &document.title].map(|text| prose(text));
    let mut out = format!(
        "### [{heading}]({report}#{})\n\n> \u{201c}{quote}\u{201d} — {author}, [{title}]({url}), {year}\n\n",
        anchor(study, "")
    );
    if let Some(sentence) = said(view, Role::Short) {
        let _ = writeln!(out, "**In short.** {}\n", linked(view, &sentence));
    }
    for (heading, sentence) in verdicts(view, claim) {
        let heading = prose(&heading);
        let _ = writeln!(out, "- **{heading}** ({}). {}", link(study, &claim.id, EVIDENCE), linked(view, &sentence));
    }
    for (role, named) in [(Role::Why, "Why"), (Role::Do, "What to do"), (Role::Flips, "Exceptions")] {
        if let Some(sentence) = said(view, role) {
            let _ = writeln!(out, "- **{named}.** {}", linked(view, &sentence));
        }
    }
    Some(out)
}

/// A sentence as Markdown, with the claims that it names in parentheses as links.
fn linked(view: &StudyView, sentence: &str) -> String {
    view.judged.claims.iter().fold(prose(sentence), |said, JudgedClaim { id, .. }| {
        said.replace(&format!("({id})"), &format!("({})", link(&view.judged.study, id, EVIDENCE)))
    })
}

/// "As published: holds", and what is said of it, for both forms.
pub fn verdicts(view: &StudyView, claim: &JudgedClaim) -> [(String, String); 2] {
    [(Form::Published, Role::Published), (Form::Fair, Role::Fair)].map(|(form, role)| {
        let (part, verdict) = match claim.form(form) {
            JudgedForm::Absent(_) => ("", "does not apply".to_owned()),
            JudgedForm::Judged(found) => (found.part_in_words(LONGEST_PART), in_words(found)),
        };
        let part = if part.is_empty() { String::new() } else { format!(" ({part})") };
        let sentences = said(view, role).into_iter().chain(elsewhere(view, &claim.id, form));
        (format!("{}{part}: {verdict}", fmt::capitalised(form.in_words())), sentences.collect::<Vec<_>>().join(" "))
    })
}

/// What other machines decided otherwise.
fn elsewhere(view: &StudyView, id: &str, form: Form) -> Vec<String> {
    let here = judged(view, id, form).map(|found| found.verdict.count());
    let others = view.origin.elsewhere.iter().filter_map(|(host, study)| {
        let found = study.asked(id, form)?.judged()?;
        let differs = found.is_decided() && here != Some(found.verdict.count());
        let part = match found.deciding_row().map(|row| (row.part_in_words(LONGEST_PART), row.verdict)) {
            Some((part, verdict)) if !part.is_empty() && verdict.into_str() != in_words(found) => {
                format!(" ({part}: {verdict})")
            }
            _ => String::new(),
        };
        differs.then(|| format!("On another machine (host {}): {}{part}.", letter(*host), in_words(found)))
    });
    others.collect()
}

/// The claim that the answer of a study is about.
pub fn claim_of(view: &StudyView) -> Option<&JudgedClaim> {
    view.judged.claim(&view.page.document.as_ref()?.claim)
}

/// The verdict to somebody who has not read how there come to be so many.
fn in_words(found: &Judged) -> String {
    let words = found.in_words();
    match found.verdict {
        verdict if words != verdict.into_str() => words.to_owned(),
        Verdict::Happens | Verdict::TheCause => "holds".to_owned(),
        Verdict::Opposite => "the opposite holds".to_owned(),
        Verdict::DoesNotHappen | Verdict::NotTheCause | Verdict::NotBetter => "does not hold".to_owned(),
        Verdict::HoldsSmaller | Verdict::HoldsLarger => format!("{} than published", found.verdict),
        Verdict::UndecidedNotTheSize => "undecided, but the published size is ruled out".to_owned(),
        other => other.to_string(),
    }
}

/// The first sentence of the role whose conditions hold and whose figures are known.
pub fn said(view: &StudyView, role: Role) -> Option<String> {
    let of_role = view.page.answer.iter().filter(|answer| answer.role == role);
    let mut fitting = of_role.filter(|answer| answer.when.iter().all(|when| holds(view, when)));
    fitting.find_map(|Answer { text, .. }| filled(view, text))
}

/// Whether a claim has one of the verdicts that are asked for.
fn holds(view: &StudyView, when: &When) -> bool {
    judged(view, &when.claim, when.form).is_some_and(|found| when.verdicts.contains(&found.verdict))
}

fn judged<'a>(view: &'a StudyView, id: &str, form: Form) -> Option<&'a Judged> {
    view.judged.asked(id, form)?.judged()
}

/// The advice whose condition holds and whose figures are known, each with the claim that it rests on.
pub fn advice(view: &StudyView) -> impl Iterator<Item = String> {
    let fitting = view.page.advice.iter().filter(|advice| advice.when.as_ref().is_none_or(|when| holds(view, when)));
    fitting.filter_map(|advice| {
        let text = filled(view, &advice.text)?;
        let rests = advice.when.as_ref().map(|when| format!(" ({})", link(&view.judged.study, &when.claim, EVIDENCE)));
        Some(text + &rests.unwrap_or_default())
    })
}

/// A sentence with its figures; `None` if one is not known.
fn filled(view: &StudyView, sentence: &Sentence) -> Option<String> {
    let said = |piece: &Piece| {
        let (claim, form, scenario, what) = match piece {
            Piece::Words(words) => return Some(words.clone()),
            Piece::Figure { claim, form, scenario, what } => (claim, *form, scenario.as_ref(), what),
        };
        let found = judged(view, claim, form)?;
        let row = match scenario {
            Some(scenario) => found.rows.iter().find(|row| row.scenario == *scenario)?,
            None => found.deciding_row()?,
        };
        let mirror =
            || found.mirrors.iter().find(|mirror| scenario.is_none_or(|scenario| mirror.scenario == *scenario));
        let estimate = match what {
            What::Theirs => Some(mirror()?.theirs),
            What::Ours => Some(mirror()?.ours),
            _ => row.estimate,
        };
        let estimate = estimate.filter(|estimate| estimate.point.is_finite())?;
        Some(match what {
            What::Theirs | What::Ours if estimate.point < 2.0 => change(&estimate, ""),
            What::Longer | What::Theirs | What::Ours => longer(&estimate),
            What::Change => change(&estimate, ""),
            What::Time => change(&estimate, " time"),
            What::Against => change(&inverse(&estimate), " time"),
            What::Number => figures::spoken(row)?,
            What::Blocks => figures::met(&estimate),
            What::Verdict => row.verdict.to_string(),
        })
    };
    sentence.pieces.iter().map(said).collect()
}

/// The ratio of the second side to the first.
fn inverse(estimate: &Estimate) -> Estimate {
    Estimate { point: 1.0 / estimate.point, lo: 1.0 / estimate.hi, hi: 1.0 / estimate.lo, ..*estimate }
}

/// "29 % longer (17 to 37)", "16 times as long (14 to 18)": the larger side over the smaller, with the interval.
fn longer(estimate: &Estimate) -> String {
    let Estimate { point, lo, hi, .. } = if estimate.point < 1.0 { inverse(estimate) } else { *estimate };
    let (said, words): (fn(f64) -> String, _) = if point < 2.0 {
        (|x| fmt::number((x - 1.0) * 100.0, 2), " % longer")
    } else {
        (|x| fmt::number(x, 3), " times as long")
    };
    let interval =
        if lo.is_finite() && hi.is_finite() { format!(" ({} to {})", said(lo), said(hi)) } else { String::new() };
    format!("{}{words}{interval}", said(point))
}

/// "0.5 % less time (4.2 less to 5.8 more)", "13 % more (3.4 to 28)": the first side against the second, with the interval.
fn change(estimate: &Estimate, of: &str) -> String {
    let Estimate { point, lo, hi, .. } = *estimate;
    let size = |x: f64| fmt::number((x - 1.0).abs() * 100.0, 2);
    let word = |x: f64| if x < 1.0 { "less" } else { "more" };
    let interval = match (word(lo), word(hi)) {
        ("less", "more") => format!("{} less to {} more", size(lo), size(hi)),
        ("less", _) => format!("{} to {}", size(hi), size(lo)),
        _ => format!("{} to {}", size(lo), size(hi)),
    };
    format!("{} % {}{of} ({interval})", size(point), word(point))
}

/// A row per study: the verdicts on what is quoted of it, how many of its claims hold, do not and are open in both forms, and its controls.
pub fn overview(studies: &[StudyView], report: &str) -> String {
    let mut table = Table::new(
        "Study | This sentence, as published | This sentence, fair | All claims, as published | All claims, fair | Controls",
    );
    for Counted { name, views, claims, counts } in counted(studies) {
        let [published, fair] = counts.map(|count| format!("{} of {claims}", figures::count_in_words(&count)));
        let [passed, failed, open] = controls(views.iter().map(|view| &view.judged));
        let controls = format!("{passed} passed, {failed} failed, {open} too noisy");
        let (name, [quoted_published, quoted_fair]) = match views {
            [view] => {
                let verdict = |form| claim_of(view)?.form(form).judged().map(in_words);
                let name = format!("[{}]({report}#{})", cell(name), anchor(name, ""));
                (name, [Form::Published, Form::Fair].map(|form| verdict(form).unwrap_or_default()))
            }
            _ => (name.to_owned(), Default::default()),
        };
        table.row([name, quoted_published, quoted_fair, published, fair, controls]);
    }
    table.render()
}

/// What the counts mean, and where that was measured.
pub fn tally(studies: &[StudyView]) -> String {
    let (here, apart): (Vec<_>, Vec<_>) = studies.iter().partition(|view| view.origin.is_first_host());
    let runs = here.iter().map(|view| view.judged.runs).sum::<usize>();
    let machine = here.first().map_or_else(String::new, |view| {
        let profiles: BTreeSet<String> = here.iter().map(|view| code(&view.judged.profile)).collect();
        let of = if profiles.len() == 1 { "profile" } else { "profiles" };
        let (profiles, words) = (Vec::from_iter(profiles).join(" and "), cell(&host::in_words(&view.machine)));
        format!(" {} of the {of} {profiles} on {words}.", fmt::plural(runs, "run", "runs"))
    });
    let apart = apart.iter().map(|view| {
        let (study, runs) = (&view.judged.study, fmt::plural(view.judged.runs, "run", "runs"));
        format!(" `{study}`: {runs} on {}.", cell(&host::in_words(&view.machine)))
    });
    let machine = machine + &apart.collect::<String>();
    let others: BTreeSet<usize> =
        studies.iter().flat_map(|view| &view.origin.elsewhere).map(|(host, _)| *host).collect();
    let differ = studies.iter().any(|view| {
        claim_of(view)
            .is_some_and(|claim| Form::VARIANTS.iter().any(|form| !elsewhere(view, &claim.id, *form).is_empty()))
    });
    let says = if differ {
        "where one decides otherwise, the answer says so"
    } else {
        "none decides one of these answers otherwise"
    };
    let others = match others.len() {
        0 => String::new(),
        count => format!(" Measured on {} as well: {says}.", fmt::plural(count, "other machine", "other machines")),
    };
    let [passed, failed, open] = controls(studies.iter().map(|view| &view.judged));
    let all = fmt::plural(passed + failed + open, "control", "controls");
    let controls = format!(
        " Of {all} (an arm against its own copy, plain or slowed), {passed} passed, {failed} failed and {open} were too noisy to tell; \
         a claim that depends on one of these holds only if its effect is larger than that noise."
    );
    format!(
        "In the table \u{201c}open\u{201d} is undecided: the interval allows both answers, a control failed, or our rewrite and the authors' code disagree. \u{201c}Not\u{201d} includes claims whose opposite holds, or that hold in some settings only. \
         The others have no verdict: they make sense in the other form only, were not measured in this profile, or cannot be tested on this machine.{machine}{others}{controls}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_which_way_it_goes() {
        let said = |point, lo, hi, of| change(&Estimate { point, lo, hi, n: 8, level: 0.04 }, of);
        assert_eq!(said(1.13, 0.966, 1.28, ""), "13 % more (3.4 less to 28 more)");
        assert_eq!(said(0.83, 0.71, 0.96, " time"), "17 % less time (4.0 to 29)");
        assert_eq!(said(1.5, 1.25, 1.75, ""), "50 % more (25 to 75)");
        let against = inverse(&Estimate { point: 1.25, lo: 1.217, hi: 1.298, n: 12, level: 0.042 });
        assert_eq!(change(&against, " time"), "20 % less time (18 to 23)");
    }
}
