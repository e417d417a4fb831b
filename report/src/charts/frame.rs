//! What charts of samples have in common: their series, and the grid of the axis below them.

use super::canvas::{Anchor, Canvas, GRID, Style, width_of};
use super::scale::Axis;
use crate::fmt;

/// The samples of one arm as finite points `(x, y)`, with the runs that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Series<'a> {
    pub arm: &'a str,
    /// The samples of each scenario in turn; x is 0 where a chart has none.
    pub groups: Vec<Vec<(f64, f64)>>,
    /// Failed runs, which have no point.
    pub failed: usize,
}

impl Series<'_> {
    /// All samples, scenario after scenario.
    pub fn points(&self) -> impl Iterator<Item = &(f64, f64)> + Clone {
        self.groups.iter().flatten()
    }
}

/// Draws the upright grid lines of what an axis shows between two rows of pixels, their labels, and the title of the axis below them.
pub fn upright_grid(canvas: &mut Canvas, axis: &Axis, of: &Shown, (top, bottom): (f64, f64)) {
    let (ticks, symbol) = axis.labelled(of.unit);
    for (tick, label) in ticks {
        let x = axis.at(tick);
        canvas.line((x, top), (x, bottom), GRID, 1.0);
        canvas.text(x, bottom + 18.0, &label, Style::NOTE.anchored(Anchor::Middle));
    }
    let style = Style::QUIET.anchored(Anchor::Middle);
    canvas.text(f64::midpoint(axis.from, axis.to), bottom + 40.0, &of.title(&symbol), style);
}

/// Width of the widest text in pixels.
pub fn widest<T: AsRef<str>>(texts: impl Iterator<Item = T>, size: f64) -> f64 {
    texts.map(|text| width_of(text.as_ref(), size)).fold(0.0, f64::max)
}

/// "n = 12 runs per case", or the range where cases differ.
pub fn counted(series: &[Series]) -> String {
    let counts = || series.iter().flat_map(|arm| arm.groups.iter().map(Vec::len)).filter(|count| *count > 0);
    match (counts().min(), counts().max()) {
        (Some(1), Some(1)) => "One run per case.".to_owned(),
        (Some(least), Some(most)) if least == most => format!("n = {most} runs per case."),
        (Some(least), Some(most)) => format!("n = {least} to {most} runs per case."),
        _ => "No runs.".to_owned(),
    }
}

/// What an axis shows: in words, and in which unit its values are stored.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    pub words: String,
    pub unit: &'a str,
}

impl Shown<'_> {
    /// A metric.
    pub fn metric(metric: &str) -> Shown<'static> {
        Shown { words: fmt::metric_in_words(metric), unit: fmt::unit_of(metric) }
    }

    /// The title of an axis with its printed unit: "work time (ms)".
    pub fn title(&self, symbol: &str) -> String {
        match symbol {
            // The words say "per second" and "percent" already.
            "" | "/s" | "%" => self.words.clone(),
            symbol => format!("{} ({symbol})", self.words),
        }
    }
}
