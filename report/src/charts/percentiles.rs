//! A histogram by percentile on the usual scale of `HdrHistogram`, which gives every further nine of the percentile the same room.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::canvas::{Canvas, colour, dash, mark};
use super::frame::{End, Frame, Plot, finite_max};
use super::scale::Axis;
use crate::page::Chart;
use crate::view::StudyView;
use crate::{fmt, histogram};

/// Distance of two points of a line, in decades.
const STEP: f64 = 0.02;

/// The runs of one arm in one scenario, added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curve {
    /// The arm, and the scenario where a chart shows several.
    pub name: String,
    /// Position of the arm among the arms, which gives colour and mark.
    pub arm: usize,
    pub pattern: usize,
    /// Decades beyond (2 is the 99th percentile) and the value there.
    pub line: Vec<(f64, f64)>,
    /// Decades beyond, and the lowest and highest value of a single run there; empty of one run.
    pub range: Vec<(f64, f64, f64)>,
    pub runs: usize,
    /// Failed runs, which are left out.
    pub failed: usize,
}

/// The curves of a chart, arm after arm.
pub fn curves(view: &StudyView, chart: &Chart) -> Vec<Curve> {
    let name = chart.histogram.as_deref().unwrap_or_default();
    let mut out = Vec::new();
    for (arm_position, arm) in chart.arms.iter().enumerate() {
        for (position, scenario) in chart.scenarios.iter().enumerate() {
            let several = chart.scenarios.len() > 1;
            let samples = view.data.samples(scenario, arm).iter().filter(|sample| sample.error.is_none());
            let texts = samples.filter_map(|sample| sample.histograms.get(name));
            let parts: Vec<_> = texts.filter_map(|text| histogram::decode(text).ok()).collect();
            let whole = histogram::sum(&parts).filter(|whole| !whole.is_empty());
            out.push(Curve {
                name: if several { format!("{arm}, {scenario}") } else { arm.clone() },
                arm: arm_position,
                pattern: if several { position } else { arm_position },
                line: whole.map(|whole| histogram::quantiles(&whole, &grid(whole.len()))).unwrap_or_default(),
                range: range(&parts),
                runs: parts.len(),
                failed: view.data.failed(scenario, arm),
            });
        }
    }
    out
}

/// Positions at which a line through `total` values is drawn, the last where one of them lies beyond.
fn grid(total: u64) -> Vec<f64> {
    let last = (total.max(1) as f64).log10();
    // No u64 has twenty decades.
    let steps = (0..1_000_u32).map(|step| f64::from(step) * STEP);
    let mut grid: Vec<f64> = steps.take_while(|at| *at < last).collect();
    grid.push(last);
    grid
}

/// The lowest and highest value of single runs, as far as all of them have values.
fn range(parts: &[hdrhistogram::Histogram<u64>]) -> Vec<(f64, f64, f64)> {
    let shortest = parts.iter().map(hdrhistogram::Histogram::len).min().unwrap_or(0);
    if parts.len() < 2 || shortest == 0 {
        return Vec::new();
    }
    let grid = grid(shortest);
    let lines: Vec<Vec<(f64, f64)>> = parts.iter().map(|part| histogram::quantiles(part, &grid)).collect();
    let at = |place: usize| lines.iter().filter_map(move |line| line.get(place)).map(|point| point.1);
    let ends = |(place, decades): (usize, &f64)| {
        (*decades, at(place).fold(f64::INFINITY, f64::min), at(place).fold(0.0, f64::max))
    };
    grid.iter().enumerate().map(ends).collect()
}

/// Draws the chart of the histogram called `name`.
pub fn draw(title: &str, name: &str, curves: &[Curve], note: Option<&str>) -> String {
    let plot = Plot {
        title,
        notes: std::iter::once(said(curves)).chain(note.map(str::to_owned)).collect(),
        description: described(name, curves),
        height: 380.0,
        names: curves.iter().map(|curve| curve.name.as_str()).collect(),
        gap: 34.0,
        y: (name, " (logarithmic)"),
    };
    let values = || {
        let ranges = curves.iter().flat_map(|curve| curve.range.iter().flat_map(|(_, lo, hi)| [*lo, *hi]));
        curves.iter().flat_map(|curve| curve.line.iter().map(|point| point.1)).chain(ranges).map(|value| value.max(1.0))
    };
    let most = finite_max(curves.iter().filter_map(|curve| curve.line.last()).map(|point| point.0));
    let most = if most > 0.0 { most } else { 2.0 };
    let x_grid = |canvas: &mut Canvas, frame: &Frame| {
        let axis = Axis::up_to(most, frame.columns.0, frame.columns.1);
        frame.x_grid(canvas, &axis, &ticks(most), "percentile (each further nine takes the same room)");
        axis
    };
    plot.draw(
        |bottom, top| Axis::log(values().fold(f64::INFINITY, f64::min), finite_max(values()), bottom, top),
        x_grid,
        |canvas, x_axis, y_axis| draw_curves(canvas, curves, x_axis, y_axis),
    )
}

/// Shades first, so that no line hides behind the shade of another.
fn draw_curves<'a>(canvas: &mut Canvas, curves: &'a [Curve], x_axis: &Axis, y_axis: &Axis) -> Vec<End<'a>> {
    let at = |decades: f64, value: f64| (x_axis.at(decades), y_axis.at(value.max(1.0)));
    for curve in curves {
        let above = curve.range.iter().map(|(decades, _, hi)| at(*decades, *hi));
        let below = curve.range.iter().rev().map(|(decades, lo, _)| at(*decades, *lo));
        canvas.shade(&above.chain(below).collect::<Vec<_>>(), colour(&curve.name));
    }
    let mut ends = Vec::new();
    for curve in curves {
        let line: Vec<(f64, f64)> = curve.line.iter().map(|(decades, value)| at(*decades, *value)).collect();
        canvas.dashed(&line, colour(&curve.name), 2.0, dash(curve.pattern));
        let last = curve.line.last().map_or(0.0, |point| point.0);
        for (decades, _) in ticks(last) {
            let place = curve.line.partition_point(|point| point.0 < decades - 1e-9);
            if let Some((x, y)) = line.get(place) {
                canvas.estimate((*x, *y), mark(curve.arm), colour(&curve.name));
            }
        }
        ends.extend(line.last().map(|at| End { name: &curve.name, position: curve.arm, at: *at }));
    }
    ends
}

/// The percentiles that have a tick, up to `most` decades: position and label.
fn ticks(most: f64) -> Vec<(f64, String)> {
    let nines = (1..=12_u32).map(f64::from).take_while(|nines| *nines <= most + 1e-9).map(|nines| {
        // 90, 99, 99.9: the second nine needs no decimal yet.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from one to twelve")]
        let decimals = (nines as usize).saturating_sub(2);
        (nines, format!("{:.decimals$} %", 100.0 - 100.0 * 10_f64.powf(-nines)))
    });
    [(0.0, "0 %".to_owned()), (2_f64.log10(), "50 %".to_owned())].into_iter().chain(nines).collect()
}

/// What stands under the title: how many runs, what the shade is, and what is left out.
fn said(curves: &[Curve]) -> String {
    let runs = || curves.iter().map(|curve| curve.runs).filter(|runs| *runs > 0);
    let counted = match (runs().min(), runs().max()) {
        (Some(1), Some(1)) => "One run per line.".to_owned(),
        (Some(least), Some(most)) => {
            let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
            format!("The values of all runs of a case are added up, n = {count}; the shade spans the single runs.")
        }
        _ => "No runs.".to_owned(),
    };
    let failed = curves.iter().filter(|curve| curve.failed > 0);
    let failed: Vec<String> = failed.map(|curve| format!("{} of {}", curve.failed, curve.name)).collect();
    let absent = curves.iter().filter(|curve| curve.line.is_empty() && curve.failed == 0);
    let absent: Vec<&str> = absent.map(|curve| curve.name.as_str()).collect();
    let mut out = format!("{counted} A line ends where fewer than one value lies beyond.");
    if !failed.is_empty() {
        let _ = write!(out, " Failed runs are left out: {}.", failed.join(", "));
    }
    if !absent.is_empty() {
        let _ = write!(out, " Not run: {}.", absent.join(", "));
    }
    out
}

/// The curves for readers who cannot see them: the median, the 99th percentile and the end of each.
fn described(name: &str, curves: &[Curve]) -> String {
    let unit = fmt::unit_of(name);
    let of_curve = |curve: &Curve| {
        let at = |decades: f64| curve.line.iter().find(|point| point.0 >= decades - 1e-9).map(|point| point.1);
        let points = [("50 %", at(2_f64.log10())), ("99 %", at(2.0)), ("end", curve.line.last().map(|point| point.1))];
        let known: Vec<String> = points
            .into_iter()
            .filter_map(|(percentile, value)| Some(format!("{percentile} {}", fmt::value(value?, unit))))
            .collect();
        format!("{}: {}", curve.name, if known.is_empty() { "no values".to_owned() } else { known.join(", ") })
    };
    let curves: Vec<String> = curves.iter().map(of_curve).collect();
    format!("{} by percentile; {}", fmt::metric_in_words(name), curves.join("; "))
}
