//! Charts as SVG: pure functions of what was judged and sampled, the same bytes every time.
//!
//! - [`effects`]: every claim with its interval;
//! - [`lines`]: a metric against x over scenarios;
//! - [`percentiles`]: histograms by percentile;
//! - [`strip`]: every sample of the arms of one scenario;
//! - [`canvas`] and [`scale`]: the card they are drawn on and its axes.

pub mod canvas;
pub mod effects;
pub mod lines;
pub mod percentiles;
pub mod scale;
pub mod strip;

use std::collections::BTreeMap;

use self::canvas::{Anchor, Canvas, GRID, MUTED, Style};
use self::scale::Axis;
use crate::fmt;
use crate::page::{Chart, ChartKind};
use crate::stats;
use crate::view::StudyView;

/// The samples of one arm as points `(x, y)`, with the runs that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the arm.
    pub arm: String,
    /// All samples, scenario after scenario; x is 0 where a chart has none.
    pub points: Vec<(f64, f64)>,
    /// How many points belong to each scenario, in order.
    pub lengths: Vec<usize>,
    /// Failed runs, which have no point.
    pub failed: usize,
}

impl Series {
    /// The points of each scenario in turn.
    pub fn groups(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        let mut from = 0;
        self.lengths.iter().map(move |length| {
            let group = self.points.get(from..from + length).unwrap_or_default();
            from += length;
            group
        })
    }
}

/// Every chart by file name: `effects.svg`, `claims.svg` without what stands beside a claim, and `STUDY-ID.svg` for each `[[chart]]` of a
/// page.
pub fn all(studies: &[StudyView]) -> BTreeMap<String, String> {
    let mut charts = BTreeMap::from([
        ("effects.svg".to_owned(), effects::draw(studies, |_| true)),
        ("claims.svg".to_owned(), effects::draw(studies, |claim| claim.beside.is_none())),
    ]);
    for view in studies {
        for chart in &view.page.chart {
            charts.insert(file_name(&view.judged.study, &chart.id), draw(view, chart));
        }
    }
    charts
}

/// File name of a study's chart, made of letters, digits, dashes and underscores.
pub fn file_name(study: &str, chart: &str) -> String {
    format!("{}.svg", crate::anchor::anchor(study, chart))
}

fn draw(view: &StudyView, chart: &Chart) -> String {
    let title = plain_text(&chart.title);
    let note = view.supplement_note(&chart.scenarios, &chart.arms);
    let metric = chart.metric.as_deref().unwrap_or_default();
    match chart.kind {
        ChartKind::Lines => {
            let x = chart.x.as_deref().unwrap_or_default();
            lines::draw(&title, (x, metric), chart.log, &series(view, chart, Some(x)), note.as_deref())
        }
        ChartKind::Strip => {
            let scenario = chart.scenarios.first().map(String::as_str).unwrap_or_default();
            strip::draw(&title, metric, scenario, &series(view, chart, None), note.as_deref())
        }
        ChartKind::Percentiles => {
            let name = chart.histogram.as_deref().unwrap_or_default();
            percentiles::draw(&title, name, &percentiles::curves(view, chart), note.as_deref())
        }
    }
}

fn series(view: &StudyView, chart: &Chart, x: Option<&str>) -> Vec<Series> {
    let of_arm = |arm: &String| {
        let mut out = Series { arm: arm.clone(), points: Vec::new(), lengths: Vec::new(), failed: 0 };
        for scenario in &chart.scenarios {
            let points = view.points(scenario, arm, x, chart.metric.as_deref().unwrap_or_default());
            out.lengths.push(points.len());
            out.points.extend(points);
            out.failed += view.data.failed(scenario, arm);
        }
        out
    };
    chart.arms.iter().map(of_arm).collect()
}

/// Titles are Markdown in the page and plain text in a picture.
fn plain_text(title: &str) -> String {
    title.replace('`', "")
}

/// The median of the finite values, or `None` without any.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::median(values.filter(|value| value.is_finite()).collect())
}

/// The largest finite value, or 0.
fn finite_max(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// "n = 12 runs per arm", or the range where arms differ.
fn counted(series: &[Series]) -> String {
    let counts = || series.iter().flat_map(|arm| arm.lengths.iter().copied()).filter(|count| *count > 0);
    match (counts().min(), counts().max()) {
        (Some(1), Some(1)) => "One run per case.".to_owned(),
        (Some(least), Some(most)) if least == most => format!("n = {most} runs per case."),
        (Some(least), Some(most)) => format!("n = {least} to {most} runs per case."),
        _ => "No runs.".to_owned(),
    }
}

/// Draws the upright grid lines of a horizontal axis with their labels and the axis title below.
fn x_grid(canvas: &mut Canvas, axis: &Axis, (top, bottom): (f64, f64), (left, right): (f64, f64), metric: &str) {
    let (ticks, symbol) = axis.labelled(7, fmt::unit_of(metric));
    for (tick, label) in &ticks {
        let x = axis.at(*tick);
        canvas.line((x, top), (x, bottom), GRID, 1.0);
        canvas.text(x, bottom + 18.0, label, Style::NOTE.anchored(Anchor::Middle));
    }
    let style = Style::PLAIN.filled(MUTED).anchored(Anchor::Middle);
    canvas.text(f64::midpoint(left, right), bottom + 40.0, &axis_title(metric, &symbol), style);
}

/// The title of an axis with its unit: "work time (ms)".
fn axis_title(metric: &str, symbol: &str) -> String {
    let words = fmt::metric_in_words(metric);
    match symbol {
        // The words say "per second" and "percent" already.
        "" | "/s" | "%" => words,
        symbol => format!("{words} ({symbol})"),
    }
}
