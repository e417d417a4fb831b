//! Every claim about a ratio on one picture: a row per claim, as published above and fair below, on one logarithmic axis.

use super::canvas::{
    Anchor, Canvas, GRID, INK, MUTED, Mark, PADDING, SMALL, Style, WIDTH, heading, shorten, width_of, wrap,
};
use super::scale::Axis;
use crate::claims::{Form, Size};
use crate::figures;
use crate::fmt;
use crate::judged::{Count, Estimate, Judged, JudgedClaim, Row, Scale, Verdict};
use crate::rules::Band;
use crate::view::StudyView;

const ROW: f64 = 36.0;
const GROUP: f64 = 26.0;
/// How far the marks of the two forms lie above and below the middle of a row.
const APART: f64 = 8.0;
/// Where the axis begins and ends.
const LEFT: f64 = 278.0;
const RIGHT: f64 = WIDTH - 210.0;

const AS_CLAIMED: &str = "var(--yes)";
const NOT_AS_CLAIMED: &str = "var(--no)";
const CLAIMED_BAND: &str = "var(--claimed)";

/// A claim with the ratio that decided it, in either form.
struct Line<'a> {
    study: &'a str,
    claim: &'a JudgedClaim,
    forms: [Option<Found<'a>>; 2],
}

#[derive(Clone, Copy)]
struct Found<'a> {
    row: &'a Row,
    estimate: &'a Estimate,
    verdict: Verdict,
}

impl Line<'_> {
    fn found(&self) -> impl Iterator<Item = &Found<'_>> {
        self.forms.iter().flatten()
    }

    fn size(&self) -> Option<Size> {
        self.found().find_map(|found| found.row.claimed)
    }
}

/// Draws the chart of a study, or over several. What has no ratio is named at its foot, and who was measured on another host than most.
pub fn draw(studies: &[StudyView]) -> String {
    let mut canvas = Canvas::default();
    let title = "Claims about ratios, as published and fair";
    let (lines, without): (Vec<Line>, Vec<Line>) =
        studies.iter().flat_map(lines_of).partition(|line| line.found().count() > 0);
    if lines.is_empty() {
        let y = heading(&mut canvas, title, None) + 8.0;
        canvas.text(PADDING, y, "No claim has been measured yet.", Style::QUIET);
        return canvas.finish(y + PADDING, title, "No claim has been measured yet.");
    }
    let note = "Of each claim the upper mark is as published, the lower one fair, each with its interval. Right of 1 is as claimed; a claim of equality is at 1.";
    let y = heading(&mut canvas, title, Some(note.to_owned())) + 8.0;
    let mut y = legend(&mut canvas, y);
    let axis = axis(&lines);
    let studies_shown = lines.chunk_by(|a, b| a.study == b.study).count();
    let (top, bottom) = (y + 8.0, y + 8.0 + ROW * lines.len() as f64 + GROUP * studies_shown as f64);
    grid(&mut canvas, &axis, (top, bottom));
    y = top;
    for rows in lines.chunk_by(|a, b| a.study == b.study) {
        canvas.text(PADDING, y + GROUP - 7.0, rows[0].study, Style { bold: true, ..Style::QUIET });
        y += GROUP;
        for line in rows {
            draw_line(&mut canvas, line, y + ROW / 2.0, &axis);
            y += ROW;
        }
    }
    canvas.line((axis.at(1.0), top), (axis.at(1.0), bottom), INK, 1.2);
    y = remarks(&mut canvas, bottom + 30.0, &without, studies);
    let description = lines.iter().map(described).collect::<Vec<_>>().join("; ");
    canvas.finish(y + PADDING, title, &description)
}

fn lines_of(view: &StudyView) -> impl Iterator<Item = Line<'_>> {
    view.judged.claims.iter().map(|claim| {
        let forms = [Form::Published, Form::Fair].map(|form| found(claim.form(form).judged()?));
        Line { study: &view.judged.study, claim, forms }
    })
}

/// The ratio that decided a form. Figures of a partial measurement carry no verdict and stand in the tables only.
fn found(judged: &Judged) -> Option<Found<'_>> {
    let row = judged.deciding_row().filter(|row| judged.mark.is_empty() && matches!(row.scale, Scale::Ratio { .. }))?;
    let estimate = row.estimate.as_ref().filter(|it| it.point.is_finite() && it.point > 0.0)?;
    Some(Found { row, estimate, verdict: judged.verdict })
}

/// An axis that holds 1, every estimate, every interval that ends and every published figure.
fn axis(lines: &[Line]) -> Axis {
    let ends = lines.iter().flat_map(|line| {
        let published = line.size().map_or([1.0; 2], |size| match size {
            Size::Ratio(size) => [size; 2],
            Size::Range(Band { lo, hi }) => [lo, hi],
        });
        line.found().flat_map(|found| [found.estimate.point, found.estimate.lo, found.estimate.hi]).chain(published)
    });
    let ends: Vec<f64> = ends.filter(|end| end.is_finite() && *end > 0.0).collect();
    let (least, most) = (ends.iter().copied().fold(1.0, f64::min), ends.iter().copied().fold(1.0, f64::max));
    Axis::log(least, most, LEFT, RIGHT)
}

/// Grid lines with their labels at both ends, because the chart is tall.
fn grid(canvas: &mut Canvas, axis: &Axis, (top, bottom): (f64, f64)) {
    for tick in axis.ticks() {
        let x = axis.at(tick);
        canvas.line((x, top), (x, bottom), GRID, 1.0);
        for y in [top - 4.0, bottom + 16.0] {
            canvas.text(x, y, &fmt::plain(tick), Style::NOTE.anchored(Anchor::Middle));
        }
    }
}

fn legend(canvas: &mut Canvas, y: f64) -> f64 {
    let mut x = PADDING + 7.0;
    for (text, verdict) in [
        ("as claimed", Some(Verdict::Holds)),
        ("not as claimed", Some(Verdict::Opposite)),
        ("undecided", Some(Verdict::Undecided)),
        ("published figure", None),
    ] {
        match verdict {
            Some(verdict) => {
                let (mark, colour) = look(verdict);
                canvas.estimate((x, y - 4.0), mark, colour);
            }
            None => canvas.published((x, y - 4.0)),
        }
        canvas.text(x + 13.0, y, text, Style::NOTE);
        x += 13.0 + width_of(text, SMALL) + 18.0;
    }
    y + 20.0
}

fn look(verdict: Verdict) -> (Mark, &'static str) {
    match verdict.count() {
        Count::Holds => (Mark::Disc, AS_CLAIMED),
        Count::DoesNotHold => (Mark::Square, NOT_AS_CLAIMED),
        Count::Undecided | Count::NotJudged => (Mark::Ring, MUTED),
    }
}

fn draw_line(canvas: &mut Canvas, line: &Line, y: f64, axis: &Axis) {
    let room = LEFT - PADDING - 14.0;
    let text = format!("{}: {}", line.claim.id, line.claim.text);
    let mut words = wrap(&text, SMALL, room);
    if words.len() > 2 {
        words.truncate(2);
        words[1] = shorten(&format!("{} …", words[1]), SMALL, room);
    }
    let first = y + 4.0 - 7.5 * (words.len() as f64 - 1.0);
    for (at, words) in words.iter().enumerate() {
        canvas.text(PADDING, first + 15.0 * at as f64, words, Style { size: SMALL, ..Style::PLAIN });
    }
    match line.size() {
        Some(Size::Range(Band { lo, hi })) => {
            canvas.band((axis.at(lo), y - ROW / 2.0 + 2.0), (axis.at(hi), y + ROW / 2.0 - 2.0), CLAIMED_BAND);
        }
        Some(Size::Ratio(size)) if axis.holds(size) => canvas.published((axis.at(size), y)),
        _ => {}
    }
    for (found, y) in line.forms.iter().zip([y - APART, y + APART]) {
        let Some(found) = found else {
            canvas.text(RIGHT + 14.0, y + 4.0, "-", Style::NOTE);
            continue;
        };
        whisker(canvas, found, y, axis);
        let (mark, colour) = look(found.verdict);
        canvas.estimate((axis.at(found.estimate.point), y), mark, colour);
        let verdict = found.verdict.to_string().replace(", but not the published size", ", not the size");
        let said = format!("{}: {verdict}", fmt::number(found.estimate.point, 3));
        let said = shorten(&said, SMALL, WIDTH - PADDING - RIGHT - 14.0);
        canvas.text(RIGHT + 14.0, y + 4.0, &said, Style { fill: colour, ..Style::NOTE });
    }
}

/// The interval as a line; an open end gets an arrow at the edge of the axis.
fn whisker(canvas: &mut Canvas, found: &Found, y: f64, axis: &Axis) {
    if !figures::has_interval(found.estimate) {
        return;
    }
    let (_, colour) = look(found.verdict);
    let (lo, hi) = (axis.at(found.estimate.lo), axis.at(found.estimate.hi));
    canvas.line((lo, y), (hi, y), colour, 2.5);
    for (x, end, inward) in [(lo, found.estimate.lo, 1.0), (hi, found.estimate.hi, -1.0)] {
        if !axis.holds(end) {
            canvas.path(&[(x + 7.0 * inward, y - 5.0), (x, y), (x + 7.0 * inward, y + 5.0)], colour, "");
        }
    }
}

/// Names the claims that have no ratio, and the studies that were measured elsewhere, at the foot of the card.
fn remarks(canvas: &mut Canvas, mut y: f64, without: &[Line], studies: &[StudyView]) -> f64 {
    let ids: Vec<&str> = without.iter().map(|line| line.claim.id.as_str()).collect();
    let missing = format!("Without a ratio, and in the tables only: {}.", ids.join(", "));
    let elsewhere = studies.iter().filter(|view| studies.len() > 1 && !view.origin.is_first_host());
    let elsewhere = elsewhere.map(|view| format!("Measured on another host than the rest: {}.", view.judged.study));
    let sentences = Some(missing).filter(|_| !ids.is_empty()).into_iter().chain(elsewhere);
    for line in sentences.flat_map(|sentence| wrap(&sentence, SMALL, WIDTH - 2.0 * PADDING)) {
        y += 16.0;
        canvas.text(PADDING, y, &line, Style::NOTE);
    }
    y
}

fn described(line: &Line) -> String {
    let forms = line.forms.iter().zip([Form::Published, Form::Fair]);
    let said = forms.filter_map(|(found, form)| {
        let found = found.as_ref()?;
        Some(format!("{} {}, {}", form.in_words(), figures::estimate(found.row), found.verdict))
    });
    format!("{} {}: {}", line.study, line.claim.id, said.collect::<Vec<_>>().join(", "))
}
