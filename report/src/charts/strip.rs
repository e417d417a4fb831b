//! One row per arm of a scenario: every sample a point, a tick at the median.

use super::canvas::{Anchor, Canvas, GRID, INK, PADDING, SMALL, Style, TEXT, WIDTH, color, heading, mark, shorten};
use super::frame::{Series, Shown, counted, upright_grid, widest};
use super::scale::Axis;
use crate::page::Chart;
use crate::{fmt, stats};

const ROW: f64 = 38.0;

/// Draws the chart; an arm without samples keeps its row and says so.
pub fn draw(title: &str, chart: &Chart, series: &[Series]) -> String {
    let mut canvas = Canvas::default();
    let (runs, scenario) = (counted(series), chart.scenarios.join(", "));
    let text = format!("Scenario {scenario}. {runs} Every point is one run; the bar is the median.");
    let top = heading(&mut canvas, title, [text]) + 12.0;

    let longest = widest(chart.arms.iter(), TEXT).min(WIDTH * 0.35);
    let left = PADDING + longest + 14.0;
    let side: Vec<String> = series.iter().map(|arm| median_label(arm, fmt::unit_of(&chart.metric))).collect();
    let right = WIDTH - PADDING - widest(side.iter(), SMALL) - 14.0;
    let axis = Axis::from_zero(series.iter().flat_map(values).fold(0.0, f64::max), left, right);
    let bottom = top + ROW * series.len().max(1) as f64;

    upright_grid(&mut canvas, &axis, &Shown::metric(&chart.metric), (top, bottom));
    for (position, (arm, label)) in series.iter().zip(&side).enumerate() {
        let y = top + ROW * (position as f64 + 0.5);
        canvas.line((left, y), (right, y), GRID, 1.0);
        canvas.text(left - 10.0, y + 4.5, &shorten(arm.arm, TEXT, longest + 1.0), Style::PLAIN.anchored(Anchor::End));
        for (index, value) in values(arm).enumerate() {
            canvas.sample((axis.at(value), y + jitter(index)), mark(position), color(arm.arm));
        }
        if let Some(middle) = stats::median(values(arm).collect()) {
            let x = axis.at(middle);
            canvas.line((x, y - 13.0), (x, y + 13.0), INK, 2.5);
        }
        canvas.text(right + 12.0, y + 4.5, label, Style::NOTE);
    }
    let described = series.iter().zip(&side).map(|(arm, label)| format!("{}: {label}", arm.arm));
    canvas.finish(bottom + 40.0 + PADDING, title, &described.collect::<Vec<_>>().join("; "))
}

fn values(arm: &Series) -> impl Iterator<Item = f64> {
    arm.points().map(|point| point.1)
}

fn median_label(arm: &Series, unit: &str) -> String {
    let failed = if arm.failed == 0 { String::new() } else { format!(", {} failed", arm.failed) };
    match stats::median(values(arm).collect()) {
        Some(middle) => format!("{}, n = {}{failed}", fmt::value(middle, unit), values(arm).count()),
        None if arm.failed > 0 => format!("{} failed", arm.failed),
        None => "not run".to_owned(),
    }
}

/// Spreads points over the height of a row in a fixed pattern, so that the picture never changes by itself.
fn jitter(index: usize) -> f64 {
    // Multiples of the golden ratio fill an interval evenly in any count.
    let spread = (index as f64 * 0.618_033_988_75).fract();
    (spread - 0.5) * 20.0
}
