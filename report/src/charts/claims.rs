//! Claims about ratios: a row per claim, as published above and fair below, with a mark per host and setting on one logarithmic axis.

use strum::VariantArray as _;

use super::canvas::{
    BOLD, CLAIMED, Canvas, DISC, GRID, INK, MUTED, NO, PADDING, ROOM, SMALL, SQUARE, Style, WIDTH, YES, heading,
    width_of, wrap,
};
use super::scale::Axis;
use crate::claims::Form;
use crate::claims::rules::Band;
use crate::fmt;
use crate::judge::figures;
use crate::judge::judged::{JudgedClaim, Row, Scale, Verdict};
use crate::page::view::StudyView;

/// Height of a line of text, and free height above and below those of a form or of a label.
const LINE: f64 = 15.0;
const SPACE: f64 = 4.0;
const GROUP: f64 = 26.0;
/// Where the axis begins and ends.
const LEFT: f64 = 278.0;
const RIGHT: f64 = WIDTH - 235.0;

/// A claim with the ratios that decided it, in either form.
struct Line<'a> {
    study: &'a str,
    id: &'a str,
    label: Vec<String>,
    forms: Vec<Found<'a>>,
    published: Option<Band>,
    height: f64,
}

/// A row per host and setting, and what is said of them in lines.
struct Found<'a> {
    rows: Vec<&'a Row>,
    said: Vec<String>,
}

fn height(lines: &[String]) -> f64 {
    LINE * lines.len() as f64 + 2.0 * SPACE
}

/// Draws the claims of several studies that are `shown`; those without a ratio are named at the foot.
pub fn draw(studies: &[StudyView], shown: impl Fn(&StudyView, &str) -> bool) -> String {
    let (mut lines, mut without) = (Vec::new(), Vec::new());
    for view in studies {
        for claim in view.judged.claims.iter().filter(|claim| shown(view, &claim.id)) {
            let forms: Vec<Found> = Form::VARIANTS.iter().filter_map(|form| found(view, claim, *form)).collect();
            if forms.is_empty() {
                without.push(claim.id.as_str());
            } else {
                let label = wrap(&format!("{}: {}", claim.id, claim.text), SMALL, LEFT - PADDING - 14.0);
                let published = forms.iter().find_map(|found| figures::published_on_scale(found.rows[0]));
                let height = height(&label).max(forms.iter().map(|found| height(&found.said)).sum());
                lines.push(Line { study: &view.judged.study, id: &claim.id, label, forms, published, height });
            }
        }
    }
    let (mut canvas, title) = (Canvas::default(), "Claims about ratios, as published and fair");
    if lines.is_empty() {
        let (y, nothing) = (heading(&mut canvas, title, None) + 8.0, "No claim has been measured yet.");
        canvas.text(PADDING, y, nothing, Style::QUIET);
        return canvas.finish(y + PADDING, title, nothing);
    }
    let note = "Each dot, square or ring is a host, in one setting. Right of 1 an effect goes the way that was claimed; the axis is logarithmic.";
    let y = heading(&mut canvas, title, Some(note.to_owned())) + 8.0;
    let top = legend(&mut canvas, y) + 8.0;
    // It holds 1, every estimate and every published figure.
    let published = lines.iter().filter_map(|line| line.published).flat_map(|Band { lo, hi }| [lo, hi]);
    let rows = lines.iter().flat_map(|line| &line.forms).flat_map(|found| &found.rows);
    let points = rows.filter_map(|row| Some(row.estimate?.point));
    let ends = points.chain(published).chain([1.0]).filter(|end| end.is_finite() && *end > 0.0);
    let axis = Axis::new(ends, LEFT, RIGHT);
    let of_studies = || lines.chunk_by(|a, b| a.study == b.study);
    let bottom = top + lines.iter().map(|line| line.height).sum::<f64>() + GROUP * of_studies().count() as f64;
    // Labels at both ends, because the chart is tall.
    for tick in axis.ticks() {
        let x = axis.at(tick);
        canvas.line((x, top), (x, bottom), GRID, 1.0);
        for y in [top - 4.0, bottom + 16.0] {
            canvas.text(x, y, &fmt::plain(tick), Style { anchor: "middle", ..Style::NOTE });
        }
    }
    canvas.line((axis.at(1.0), top), (axis.at(1.0), bottom), INK, 1.2);
    let mut y = top;
    for of_study in of_studies() {
        canvas.text(PADDING, y + GROUP - 7.0, of_study[0].study, Style { more: BOLD, ..Style::QUIET });
        y += GROUP;
        for line in of_study {
            draw_line(&mut canvas, line, y, &axis);
            y += line.height;
        }
    }
    y = bottom + 30.0;
    if !without.is_empty() {
        let missing = format!("Without a ratio, and in the tables only: {}.", without.join(", "));
        y = canvas.lines((PADDING, y + 16.0), &wrap(&missing, SMALL, ROOM), 16.0, Style::NOTE) - 16.0;
    }
    let described = |Line { study, id, forms, .. }: &Line| {
        let said: Vec<String> = forms.iter().map(|found| found.said.join(" ")).collect();
        format!("{study} {id}: {}", said.join(", "))
    };
    canvas.finish(y + PADDING, title, &lines.iter().map(described).collect::<Vec<_>>().join("; "))
}

/// The settings that decide a form, if they are ratios: those in the unit of the one with the verdict of here.
fn found<'a>(view: &'a StudyView, claim: &JudgedClaim, form: Form) -> Option<Found<'a>> {
    let has_point = |row: &Row| row.estimate.is_some_and(|of| of.point.is_finite() && of.point > 0.0);
    let is_drawn = |row: &&Row| matches!(row.scale, Scale::Ratio { .. }) && has_point(row);
    let mut settings = view.deciding_settings(&claim.id, form);
    for rows in &mut settings {
        rows.retain(is_drawn);
    }
    settings.retain(|rows| !rows.is_empty());
    let decides = claim.form(form).as_ref().ok()?.deciding_row();
    settings.sort_by_key(|rows| !decides.is_some_and(|row| rows[0].is_same(row)));
    let unit = settings.first()?[0].scale.clone();
    settings.retain(|rows| figures::are_alike(&rows[0].scale, &unit));
    let ranges = figures::ranges(&settings)?;
    let comma = if ranges.contains(": ") { "," } else { "" };
    // No line begins with a unit.
    let said = format!("{}{comma} {ranges}", form.in_words()).replace(" %", "\u{a0}%").replace(" times", "\u{a0}times");
    Some(Found { said: wrap(&said, SMALL, WIDTH - PADDING - RIGHT - 14.0), rows: settings.concat() })
}

fn legend(canvas: &mut Canvas, y: f64) -> f64 {
    let mut x = PADDING + 7.0;
    for (text, verdict) in [
        ("holds", Some(Verdict::Holds)),
        ("does not hold, no difference or reversed", Some(Verdict::Reversed)),
        ("unclear", Some(Verdict::Unclear)),
        ("published figure", None),
    ] {
        match verdict {
            Some(verdict) => mark(canvas, (x, y - 4.0), verdict),
            None => canvas.published((x, y - 4.0)),
        }
        canvas.text(x + 13.0, y, text, Style::NOTE);
        x += 13.0 + width_of(text, SMALL) + 18.0;
    }
    y + 20.0
}

fn mark(canvas: &mut Canvas, at: (f64, f64), verdict: Verdict) {
    match verdict {
        verdict if verdict.agrees() => canvas.estimate(at, DISC, YES),
        verdict if verdict.is_decided() => canvas.estimate(at, SQUARE, NO),
        _ => canvas.hollow(at, DISC, MUTED),
    }
}

fn draw_line(canvas: &mut Canvas, line: &Line, mut y: f64, axis: &Axis) {
    // From the top of a form or label to the foot of its first line.
    let foot = SPACE + LINE * 0.75;
    canvas.lines((PADDING, y + foot), &line.label, LINE, Style { size: SMALL, ..Style::PLAIN });
    match line.published {
        Some(Band { lo, hi }) if lo < hi => {
            canvas.band((axis.at(lo), y + 2.0), (axis.at(hi), y + line.height - 2.0), CLAIMED);
        }
        Some(Band { lo, .. }) => canvas.published((axis.at(lo), y + line.height / 2.0)),
        None => {}
    }
    for found in &line.forms {
        for (point, verdict) in found.rows.iter().filter_map(|row| Some((row.estimate?.point, row.verdict))) {
            mark(canvas, (axis.at(point), y + height(&found.said) / 2.0), verdict);
        }
        canvas.lines((RIGHT + 14.0, y + foot), &found.said, LINE, Style::NOTE);
        y += height(&found.said);
    }
}
