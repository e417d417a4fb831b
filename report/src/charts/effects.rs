//! All claims on one picture: ratios on a shared logarithmic axis, everything else on an axis of its own row.

use super::canvas::{
    Anchor, BAND, Canvas, GRID, INK, MUTED, Mark, PADDING, SMALL, Style, TEXT, WIDTH, heading, shorten, width_of, wrap,
};
use super::frame::widest;
use super::scale::{Axis, tick_labels};
use crate::claims::{Form, Size};
use crate::judged::{Count, Estimate, Judged, JudgedClaim, Row, Scale, Verdict};
use crate::rules::Band;
use crate::view::StudyView;
use crate::{figures, fmt};

const ROW: f64 = 44.0;
const GROUP: f64 = 28.0;

/// A claim in a form that has a figure.
struct Line<'a> {
    study: &'a str,
    claim: &'a JudgedClaim,
    form: Form,
    found: &'a Judged,
    row: &'a Row,
    estimate: &'a Estimate,
}

impl Line<'_> {
    fn is_share(&self) -> bool {
        matches!(self.row.scale, Scale::Share { .. } | Scale::Blocks { .. })
    }

    fn size(&self) -> Option<f64> {
        if let Some(Size::Ratio(size)) = self.row.claimed { Some(size) } else { None }
    }

    fn band(&self) -> Option<Band> {
        if let Some(Size::Range(band)) = self.row.claimed { Some(band) } else { None }
    }
}

/// Where the columns of the picture stand.
struct Columns {
    left: f64,
    right: f64,
}

/// Draws the chart over all studies, of the claims in these forms; those without a figure are named at its foot.
pub fn draw(studies: &[StudyView], forms: &[Form]) -> String {
    let mut canvas = Canvas::new();
    let title = "Every claim: our effect with its interval";
    let lines: Vec<Line> = studies.iter().flat_map(|view| lines_of(view, forms)).collect();
    let (ratios, others): (Vec<&Line>, Vec<&Line>) = lines.iter().partition(|line| is_ratio(line));
    let mut y = heading(&mut canvas, title, &[]) + 2.0;
    if lines.is_empty() {
        canvas.text(PADDING, y + 6.0, "No claim has been measured yet.", Style::PLAIN.filled(MUTED));
        return canvas.finish(y + 6.0 + PADDING, title, "No claim has been measured yet.");
    }
    y = legend(&mut canvas, y + 4.0, &lines);
    let columns = columns(&lines);
    if !ratios.is_empty() {
        y = ratio_panel(&mut canvas, y + 8.0, &columns, &ratios);
    }
    if !others.is_empty() {
        y = value_panel(&mut canvas, y + 14.0, &columns, &others);
    }
    y = absent(&mut canvas, y, studies, forms);
    let said = |line: &Line| {
        format!("{} {}: {}, {}", line.study, name_of(line), figures::estimate(line.row), line.found.verdict)
    };
    let description = lines.iter().map(said).collect::<Vec<_>>().join("; ");
    canvas.finish(y + PADDING, title, &description)
}

fn lines_of<'a>(view: &'a StudyView, forms: &'a [Form]) -> impl Iterator<Item = Line<'a>> {
    let judged =
        view.judged.claims.iter().flat_map(|claim| claim.forms().map(move |(form, found)| (claim, form, found)));
    // Figures of a partial measurement carry no verdict and stand in the tables only.
    let shown =
        judged.filter(|(_, form, found)| forms.contains(form) && found.mark.is_empty() && view.origin.is_first_host());
    shown.filter_map(|(claim, form, found)| {
        let row = found.deciding_row()?;
        let estimate = row.estimate.as_ref().filter(|estimate| estimate.point.is_finite())?;
        Some(Line { study: &view.judged.study, claim, form, found, row, estimate })
    })
}

/// "T2 as published", "T2 fair".
fn name_of(line: &Line) -> String {
    format!("{} {}", line.claim.id, line.form.in_words())
}

fn is_ratio(line: &Line) -> bool {
    matches!(line.row.scale, Scale::Ratio { .. }) && line.estimate.point > 0.0
}

fn columns(lines: &[Line]) -> Columns {
    let labels: Vec<String> = lines.iter().flat_map(|line| label_of(line, f64::INFINITY)).collect();
    let label = widest(labels.iter().map(String::as_str), TEXT);
    let figures: Vec<String> = lines.iter().map(|line| figures::estimate(line.row)).collect();
    let verdicts = widest(lines.iter().map(|line| line.found.verdict.into_str()), TEXT);
    let side = widest(figures.iter().map(String::as_str), SMALL).max(verdicts * 1.05);
    Columns { left: PADDING + label.min(WIDTH * 0.34) + 16.0, right: WIDTH - PADDING - side.min(WIDTH * 0.34) - 16.0 }
}

/// The id with what is compared, and metric and scenario below; in `room` too narrow for the first, the arms have a line of their own.
fn label_of(line: &Line, room: f64) -> Vec<String> {
    let (what, metric, per) = match &line.row.scale {
        Scale::Ratio { metric, .. } => (figures::lead(&line.row.scale), Some(metric), None),
        Scale::Value { metric, of, per, .. } => (of.clone(), Some(metric), per.as_deref()),
        Scale::Blocks { .. } => ("share of blocks".to_owned(), None, None),
        Scale::Slope { .. } | Scale::Share { .. } => (figures::lead(&line.row.scale), None, None),
    };
    let id = format!("{}: ", name_of(line));
    let per = figures::divisor(per);
    let metric = metric.map(|metric| format!("{}{per}, ", fmt::metric_in_words(metric))).unwrap_or_default();
    let below = format!("{metric}{}", line.row.scenario);
    let first = format!("{id}{what}");
    if width_of(&first, TEXT) <= room { vec![first, below] } else { vec![id.trim_end().to_owned(), what, below] }
}

/// A sign that the legend explains.
enum Sign {
    Estimate(Verdict),
    Published,
    Band(&'static str),
}

/// Explains the marks that occur.
fn legend(canvas: &mut Canvas, y: f64, lines: &[Line]) -> f64 {
    let has_size = lines.iter().any(|line| line.size().is_some());
    let has_band = lines.iter().any(|line| line.band().is_some());
    let entries = [
        (true, "as claimed", Sign::Estimate(Verdict::Holds)),
        (true, "not as claimed", Sign::Estimate(Verdict::Opposite)),
        (true, "undecided", Sign::Estimate(Verdict::Undecided)),
        (has_size, "published", Sign::Published),
        (has_band, "published range", Sign::Band(CLAIMED_BAND)),
        (lines.iter().any(is_ratio), "below the floor: too small to count", Sign::Band(BAND)),
    ];
    let mut x = PADDING + 7.0;
    for (_, text, sign) in entries.iter().filter(|(occurs, ..)| *occurs) {
        match sign {
            Sign::Estimate(verdict) => {
                let (mark, colour) = look(*verdict);
                canvas.estimate((x, y - 4.0), mark, colour);
            }
            Sign::Published => canvas.published((x, y - 4.0)),
            Sign::Band(fill) => canvas.band((x - 7.0, y - 10.0), (x + 7.0, y + 2.0), fill),
        }
        canvas.text(x + 13.0, y, text, Style::NOTE);
        x += 13.0 + width_of(text, SMALL) + 18.0;
    }
    y + 14.0
}

const AS_CLAIMED: &str = "#0072b2";
const NOT_AS_CLAIMED: &str = "#c04000";
const UNDECIDED: &str = "#57606a";
const CLAIMED_BAND: &str = "#f6dcc8";

fn look(verdict: Verdict) -> (Mark, &'static str) {
    match verdict.count() {
        Count::Holds => (Mark::Disc, AS_CLAIMED),
        Count::DoesNotHold => (Mark::Square, NOT_AS_CLAIMED),
        Count::Undecided | Count::NotJudged => (Mark::Ring, UNDECIDED),
    }
}

fn ratio_panel(canvas: &mut Canvas, top: f64, columns: &Columns, lines: &[&Line]) -> f64 {
    canvas.text(PADDING, top + 14.0, "Ratios, oriented as claimed", Style::PLAIN.bold());
    let axis = ratio_axis(columns, lines);
    let one = axis.at(1.0);
    let first = top + 38.0;
    let bottom = first + height_of(lines);
    ratio_grid(canvas, &axis, columns, (first, bottom));
    each_row(canvas, lines, first, |canvas, line, y| {
        if let Some(floor) = line.row.floor.filter(|floor| floor.is_finite()) {
            canvas.band((axis.at(1.0 / (1.0 + floor)), y - 15.0), (axis.at(1.0 + floor), y + 15.0), BAND);
        }
        if let Some(Band { lo, hi }) = line.band() {
            canvas.band((axis.at(lo), y - 15.0), (axis.at(hi), y + 15.0), CLAIMED_BAND);
        }
        describe(canvas, line, y, columns);
        draw_estimate(canvas, line, y, &axis);
    });
    canvas.line((one, first), (one, bottom), INK, 1.2);
    let middle = f64::midpoint(columns.left, columns.right);
    let title = "ratio of the two arms (logarithmic; 1 = no difference)";
    canvas.text(middle, bottom + 37.0, title, Style::NOTE.anchored(Anchor::Middle));
    bottom + 37.0
}

/// An axis that holds 1, every estimate, every floor and every published figure.
fn ratio_axis(columns: &Columns, lines: &[&Line]) -> Axis {
    let ends = lines.iter().flat_map(|line| {
        let above = 1.0 + line.row.floor.unwrap_or(0.0);
        let Band { lo, hi } = line.band().unwrap_or(Band { lo: 1.0, hi: 1.0 });
        let Estimate { point, lo: from, hi: to, .. } = *line.estimate;
        [point, from, to, line.size().unwrap_or(1.0), lo, hi, above, 1.0 / above]
    });
    // Open ends have no place on the axis; an arrow stands for them.
    let finite = || ends.clone().filter(|x| x.is_finite() && *x > 0.0);
    Axis::log(finite().fold(1.0, f64::min), finite().fold(1.0, f64::max), columns.left, columns.right)
}

/// Grid lines with their labels, and which side of 1 speaks for the claim.
fn ratio_grid(canvas: &mut Canvas, axis: &Axis, columns: &Columns, (top, bottom): (f64, f64)) {
    let one = axis.at(1.0);
    if one - columns.left > 130.0 {
        canvas.text(one - 10.0, top - 10.0, "← against the claim", Style::NOTE.anchored(Anchor::End));
    }
    if columns.right - one > 100.0 {
        canvas.text(one + 10.0, top - 10.0, "as claimed →", Style::NOTE);
    }
    for tick in axis.ticks(9) {
        let x = axis.at(tick);
        canvas.line((x, top), (x, bottom), GRID, 1.0);
        canvas.text(x, bottom + 17.0, &fmt::plain(tick), Style::NOTE.anchored(Anchor::Middle));
    }
}

/// The interval, the published figure and our estimate, in this order so that ours stays visible.
fn draw_estimate(canvas: &mut Canvas, line: &Line, y: f64, axis: &Axis) {
    whisker(canvas, line, y, axis);
    if let Some(size) = line.size().filter(|size| axis.holds(*size)) {
        canvas.published((axis.at(size), y));
    }
    let (mark, colour) = look(line.found.verdict);
    canvas.estimate((axis.at(line.estimate.point), y), mark, colour);
}

/// Values, slopes and shares have no common unit, so each row is its own little axis from zero.
fn value_panel(canvas: &mut Canvas, top: f64, columns: &Columns, lines: &[&Line]) -> f64 {
    canvas.text(PADDING, top + 14.0, "Values, slopes and shares; every row has its own axis", Style::PLAIN.bold());
    let first = top + 24.0;
    each_row(canvas, lines, first, |canvas, line, y| {
        let axis = own_axis(line, columns);
        if let Some(Band { lo, hi }) = line.band() {
            canvas.band((axis.at(lo), y - 13.0), (axis.at(hi), y + 8.0), CLAIMED_BAND);
        }
        canvas.line((columns.left, y + 8.0), (columns.right, y + 8.0), MUTED, 1.0);
        let ticks = axis.ticks(5);
        let unit = if let Scale::Value { unit, .. } = &line.row.scale { unit } else { "" };
        let (labels, symbol) = tick_labels(&ticks, unit);
        let mut free = columns.left;
        for (tick, label) in ticks.iter().zip(&labels) {
            let x = axis.at(*tick);
            canvas.line((x, y + 5.0), (x, y + 8.0), MUTED, 1.0);
            let text = if line.is_share() { fmt::percent(*tick) } else { fmt::join(label, &symbol) };
            let width = width_of(&text, SMALL);
            let (anchor, left) =
                if x <= columns.left + 1.0 { (Anchor::Start, x) } else { (Anchor::Middle, x - width / 2.0) };
            // A label that would run into the one before is left out; its tick stays.
            if left >= free {
                canvas.text(x, y + 20.0, &text, Style::NOTE.anchored(anchor));
                free = left + width + 4.0;
            }
        }
        describe(canvas, line, y, columns);
        draw_estimate(canvas, line, y - 3.0, &axis);
    });
    first + height_of(lines)
}

fn own_axis(line: &Line, columns: &Columns) -> Axis {
    let Estimate { point, lo, hi, .. } = *line.estimate;
    let published = line.size().into_iter().chain(line.band().map(|band| band.hi));
    let finite = || [point, lo, hi].into_iter().chain(published.clone()).filter(|x| x.is_finite());
    let (least, most) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    let most = if line.is_share() { most.max(1.0) } else { most };
    if least < 0.0 {
        Axis::straight(least * 1.05, most.max(0.0) * 1.05, columns.left, columns.right)
    } else {
        Axis::from_zero(most, columns.left, columns.right)
    }
}

/// The label on the left, figure and verdict on the right.
fn describe(canvas: &mut Canvas, line: &Line, y: f64, columns: &Columns) {
    let room = columns.left - PADDING - 8.0;
    let label = label_of(line, room);
    let (mut baseline, step) = if label.len() == 2 { (y - 2.0, 16.0) } else { (y - 10.0, 14.0) };
    for (at, text) in label.iter().enumerate() {
        let style = match at {
            _ if at + 1 == label.len() => Style::NOTE,
            0 => Style::PLAIN,
            _ => Style { size: SMALL, ..Style::PLAIN },
        };
        canvas.text(PADDING, baseline, &shorten(text, style.size, room), style);
        baseline += step;
    }
    let left = columns.right + 14.0;
    let room = WIDTH - PADDING - left;
    let (_, colour) = look(line.found.verdict);
    let verdict = shorten(line.found.verdict.into_str(), TEXT, room);
    canvas.text(left, y - 2.0, &verdict, Style::PLAIN.filled(colour).bold());
    canvas.text(left, y + 14.0, &shorten(&figures::estimate(line.row), SMALL, room), Style::NOTE);
}

/// The interval as a line; an open end gets an arrow at the edge of the axis.
fn whisker(canvas: &mut Canvas, line: &Line, y: f64, axis: &Axis) {
    if !figures::has_interval(line.estimate) {
        return;
    }
    let (_, colour) = look(line.found.verdict);
    let (lo, hi) = (axis.at(line.estimate.lo), axis.at(line.estimate.hi));
    canvas.line((lo, y), (hi, y), colour, 2.5);
    for (x, end, inward) in [(lo, line.estimate.lo, 1.0), (hi, line.estimate.hi, -1.0)] {
        if axis.holds(end) {
            canvas.line((x, y - 5.0), (x, y + 5.0), colour, 2.0);
        } else {
            canvas.polyline(&[(x + 7.0 * inward, y - 5.0), (x, y), (x + 7.0 * inward, y + 5.0)], colour, 2.0);
        }
    }
}

/// Height of rows with a heading where a new study begins.
fn height_of(lines: &[&Line]) -> f64 {
    let studies = lines.chunk_by(|a, b| a.study == b.study).count();
    ROW * lines.len() as f64 + GROUP * studies as f64
}

/// Calls `draw` with the middle of each row, and names a study above its first.
fn each_row(canvas: &mut Canvas, lines: &[&Line], top: f64, draw: impl Fn(&mut Canvas, &Line, f64)) {
    let mut y = top;
    for rows in lines.chunk_by(|a, b| a.study == b.study) {
        canvas.text(PADDING, y + GROUP - 7.0, rows[0].study, Style::PLAIN.filled(MUTED).bold());
        y += GROUP;
        for line in rows {
            draw(canvas, line, y + ROW / 2.0);
            y += ROW;
        }
    }
}

/// Names the claims without a figure at the foot of the card.
fn absent(canvas: &mut Canvas, y: f64, studies: &[StudyView], forms: &[Form]) -> f64 {
    let mut y = y + 12.0;
    for view in studies {
        let drawn: Vec<(&str, Form)> = lines_of(view, forms).map(|line| (line.claim.id.as_str(), line.form)).collect();
        let judged =
            view.judged.claims.iter().flat_map(|claim| claim.forms().map(move |(form, found)| (claim, form, found)));
        let missing =
            judged.filter(|(claim, form, _)| forms.contains(form) && !drawn.contains(&(claim.id.as_str(), *form)));
        let names: Vec<String> = missing
            .map(|(claim, form, found)| format!("{} {} ({})", claim.id, form.in_words(), found.verdict))
            .collect();
        let of = if studies.len() > 1 { format!(" in {}", view.judged.study) } else { String::new() };
        let sentence = if !view.origin.is_first_host() {
            format!("Not drawn, because it was measured on another host: {}.", view.judged.study)
        } else if names.is_empty() {
            continue;
        } else {
            format!("Without a figure{of}: {}.", names.join(", "))
        };
        for line in wrap(&sentence, SMALL, WIDTH - 2.0 * PADDING) {
            y += 16.0;
            canvas.text(PADDING, y, &line, Style::NOTE);
        }
    }
    y
}
