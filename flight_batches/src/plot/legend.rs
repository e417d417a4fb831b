//! What the lines mean, in a margin of its own.

use super::chart::{Chart, Ideal, row_count};
use super::paint::{SMALL, STROKE, TEXT};
use super::shape::{
    Anchor, Colour, FAINT, INK, MUTED, Point, Shape, colour, cross, dashes, mark, path, shorten, width_of, wrap,
};

/// Room for a sample of a line.
const SAMPLE: f64 = 44.0;
/// From a sample's beginning to that of its name.
const INDENT: f64 = SAMPLE + 10.0;
/// The widest that a legend becomes; longer names are cut.
const WIDEST: f64 = 250.0;
/// The narrowest, so that notes have few lines.
const NARROWEST: f64 = 180.0;

/// A line of the legend.
enum Entry {
    /// Name of a type.
    Kind(String),
    /// A size of batches.
    Line { name: String, kind: usize, colour: Colour, boldness: f64 },
    /// The line of the delay alone.
    Ideal,
    /// The cross of failures, and how many there are.
    Cross(String),
    /// Text that explains.
    Note(String),
    /// Free space.
    Space,
}

impl Entry {
    fn height(&self) -> f64 {
        match self {
            Self::Kind(_) | Self::Line { .. } | Self::Ideal | Self::Cross(_) => 22.0,
            Self::Note(_) => 17.0,
            Self::Space => 14.0,
        }
    }
}

/// A legend with the room that it takes.
pub struct Plan {
    entries: Vec<Entry>,
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
}

/// The legend of a chart, in which some ideals are out of range.
pub fn plan(chart: &Chart, is_out_of_range: impl Fn(&Ideal) -> bool) -> Plan {
    let widest_kind = chart.kinds.iter().map(|kind| width_of(kind, TEXT)).fold(0.0, f64::max);
    let names: Vec<String> = chart.sizes.iter().map(|size| format!("{} per batch", row_count(*size))).collect();
    let widest_name = names.iter().map(|name| width_of(name, TEXT)).fold(0.0, f64::max);
    let width = widest_kind.max(INDENT + widest_name).ceil().clamp(NARROWEST, WIDEST);
    let mut entries = Vec::new();
    for (kind, kind_name) in chart.kinds.iter().enumerate() {
        let of_kind = chart.series.iter().filter(|series| series.kind == kind);
        let lines: Vec<Entry> = of_kind
            .filter_map(|series| {
                let name = shorten(names.get(series.size)?, TEXT, width - INDENT);
                let (colour, boldness) = (colour(series.size), chart.boldness(series.size));
                Some(Entry::Line { name, kind, colour, boldness })
            })
            .collect();
        if !lines.is_empty() {
            entries.push(Entry::Kind(shorten(kind_name, TEXT, width)));
            entries.extend(lines);
            entries.push(Entry::Space);
        }
    }
    add_ideals(&mut entries, chart, width, is_out_of_range);
    add_failures(&mut entries, chart, width);
    let height = entries.iter().map(Entry::height).sum();
    Plan { entries, width, height }
}

fn notes(text: &str, width: f64) -> impl Iterator<Item = Entry> {
    wrap(text, SMALL, width).into_iter().map(Entry::Note)
}

fn add_ideals(entries: &mut Vec<Entry>, chart: &Chart, width: f64, is_out_of_range: impl Fn(&Ideal) -> bool) {
    let out: Vec<&str> =
        chart.ideals.iter().filter(|ideal| is_out_of_range(ideal)).map(|ideal| ideal.whose.as_str()).collect();
    if out.len() < chart.ideals.len() {
        entries.push(Entry::Ideal);
    }
    let text = match out.as_slice() {
        _ if chart.ideals.is_empty() => return,
        [] => "what the delay alone allows".to_owned(),
        out if out.len() == chart.ideals.len() => {
            "The ideal, what the delay alone allows, is above this plot.".to_owned()
        }
        [first @ .., last] if !first.is_empty() => {
            format!("what the delay alone allows; above this plot for {} and {last}", first.join(", "))
        }
        one => format!("what the delay alone allows; above this plot for {}", one.concat()),
    };
    entries.extend(notes(&text, width));
    entries.push(Entry::Space);
}

fn add_failures(entries: &mut Vec<Entry>, chart: &Chart, width: f64) {
    let failed = chart.cells().filter(|cell| cell.failed).count();
    if failed > 0 {
        let cells = if failed == 1 { "cell" } else { "cells" };
        entries.push(Entry::Cross(format!("failures in {failed} {cells}")));
        entries.push(Entry::Space);
    }
    let cells = match chart.left_out {
        0 => return,
        1 => "1 cell has".to_owned(),
        several => format!("{several} cells have"),
    };
    entries.extend(notes(&format!("{cells} no value that can be drawn."), width));
}

/// The legend with its upper left corner at a point.
pub fn shapes(plan: &Plan, (left, top): Point) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut y = top;
    for entry in &plan.entries {
        let middle = y + entry.height() / 2.0;
        let name = |text: &str, x: f64| Shape::text((x, middle + TEXT * 0.36), text, TEXT, INK, Anchor::Start);
        let sample = [(left, middle), (left + SAMPLE, middle)];
        let centre = (left + SAMPLE / 2.0, middle);
        match entry {
            Entry::Kind(text) => shapes.push(name(text, left)),
            Entry::Line { name: text, kind, colour, boldness } => {
                shapes.extend(path(&sample, *colour, STROKE * boldness, dashes(*kind)));
                shapes.extend(mark(*kind, centre, *colour, *boldness));
                shapes.push(name(text, left + INDENT));
            }
            Entry::Ideal => {
                shapes.extend(path(&sample, FAINT, 1.2, &[]));
                shapes.push(name("ideal", left + INDENT));
            }
            Entry::Cross(text) => {
                shapes.extend(cross(centre));
                shapes.push(name(text, left + INDENT));
            }
            Entry::Note(text) => {
                shapes.push(Shape::text((left, middle + SMALL * 0.36), text, SMALL, MUTED, Anchor::Start));
            }
            Entry::Space => {}
        }
        y += entry.height();
    }
    shapes
}
