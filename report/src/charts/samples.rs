//! The charts of page.toml, every sample a point: a metric against another over scenarios, or a row per arm of one scenario.

use super::canvas::{Canvas, END, GRID, INK, PADDING, SMALL, Style, TEXT, WIDTH, color, dash, heading, mark, shorten};
use super::plot::{Plot, Shown, widest};
use crate::fmt;
use crate::page::view::StudyView;
use crate::page::{Chart, ChartKind};
use crate::stats::median;

const ROW: f64 = 38.0;

/// The samples of an arm as finite points `(x, y)`, scenario after scenario; x is 0 where a chart has none.
type Groups = Vec<Vec<(f64, f64)>>;

pub fn draw(view: &StudyView, chart: &Chart) -> String {
    // Titles are Markdown in the page and plain text in a picture.
    let (title, x) = (chart.title.replace('`', ""), chart.x.as_deref().filter(|_| chart.kind == ChartKind::Lines));
    let samples = |scenario: &str, arm: &str| view.points(scenario, arm, x, &chart.metric);
    let of_arm = |arm: &String| chart.scenarios.iter().map(|scenario| samples(scenario, arm)).collect();
    let all: Vec<Groups> = chart.arms.iter().map(of_arm).collect();
    match x {
        Some(x) => lines(chart, x, &all, &title),
        None => strip(view, chart, &all, &title),
    }
}

/// A line through the medians per arm.
fn lines(chart: &Chart, x: &str, all: &[Groups], title: &str) -> String {
    let (log, arms) = (chart.log, chart.arms.iter().map(String::as_str).collect::<Vec<_>>());
    let scales = if log { "Both axes are logarithmic." } else { "Both axes start at zero." };
    let note = format!("{} Every point is one run; lines join the medians. {scales}", counted(all));
    let drawable = |point: &&(f64, f64)| !log || (point.0 > 0.0 && point.1 > 0.0);
    let (xs, ys) = all.iter().flatten().flatten().filter(drawable).copied().unzip();
    let (x, y) = (Shown::metric(x, log, xs), Shown::metric(&chart.metric, log, ys));
    let mut plot = Plot::new(title, note, (&arms, 26.0), &x, &y);
    for (position, (arm, groups)) in arms.iter().zip(all).enumerate() {
        for point in groups.iter().flatten().filter(drawable) {
            plot.canvas.sample(plot.at(*point), mark(position), color(arm));
        }
        let middle = |group: &Vec<(f64, f64)>| {
            let (xs, ys) = group.iter().copied().unzip();
            Some((median(xs)?, median(ys)?))
        };
        let mut line: Vec<(f64, f64)> = groups.iter().filter_map(middle).filter(|point| drawable(&point)).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        plot.line(arm, position, (color(arm), dash(position)), &line);
    }
    plot.finish()
}

/// A tick at the median of each row; an arm without samples keeps its row and says so.
fn strip(view: &StudyView, chart: &Chart, all: &[Groups], title: &str) -> String {
    let mut canvas = Canvas::default();
    let (runs, scenario) = (counted(all), chart.scenarios.join(", "));
    let note = format!("Scenario {scenario}. {runs} Every point is one run; the bar is the median.");
    let top = heading(&mut canvas, title, Some(note)) + 12.0;

    let values = |groups: &Groups| groups.iter().flatten().map(|point| point.1).collect::<Vec<f64>>();
    let all: Vec<(&String, Vec<f64>)> = chart.arms.iter().zip(all.iter().map(values)).collect();
    let longest = widest(&chart.arms, TEXT).min(WIDTH * 0.35);
    let left = PADDING + longest + 14.0;
    let said = |(arm, values): &(&String, Vec<f64>)| {
        let failed: usize = chart.scenarios.iter().map(|scenario| view.data.failed(scenario, arm)).sum();
        let failed = (failed > 0).then(|| format!("{failed} failed"));
        let middle = median(values.clone()).map(|middle| fmt::value(middle, fmt::unit_of(&chart.metric)));
        let middle = middle.map(|middle| format!("{middle}, n = {}", values.len()));
        let said: Vec<String> = middle.into_iter().chain(failed).collect();
        if said.is_empty() { "not run".to_owned() } else { said.join(", ") }
    };
    let side: Vec<String> = all.iter().map(said).collect();
    let right = WIDTH - PADDING - widest(&side, SMALL) - 14.0;
    let shown = Shown::metric(&chart.metric, false, all.iter().flat_map(|(_, values)| values.clone()).collect());
    let axis = shown.axis(left, right);
    let bottom = top + ROW * all.len().max(1) as f64;

    shown.upright_grid(&mut canvas, &axis, (top, bottom));
    for (position, ((arm, values), label)) in all.iter().zip(&side).enumerate() {
        let y = top + ROW * (position as f64 + 0.5);
        canvas.line((left, y), (right, y), GRID, 1.0);
        canvas.text(left - 10.0, y + 4.5, &shorten(arm, TEXT, longest + 1.0), Style { anchor: END, ..Style::PLAIN });
        for (index, value) in values.iter().enumerate() {
            // Spread over the height of the row: multiples of the golden ratio fill an interval evenly in any count.
            let spread = ((index as f64 * 0.618_033_988_75).fract() - 0.5) * 20.0;
            canvas.sample((axis.at(*value), y + spread), mark(position), color(arm));
        }
        if let Some(middle) = median(values.clone()) {
            let x = axis.at(middle);
            canvas.line((x, y - 13.0), (x, y + 13.0), INK, 2.5);
        }
        canvas.text(right + 12.0, y + 4.5, label, Style::NOTE);
    }
    let described: Vec<String> = chart.arms.iter().zip(&side).map(|(arm, label)| format!("{arm}: {label}")).collect();
    canvas.finish(bottom + 40.0 + PADDING, title, &described.join("; "))
}

fn counted(all: &[Groups]) -> String {
    let counts = || all.iter().flatten().map(Vec::len).filter(|count| *count > 0);
    match (counts().min(), counts().max()) {
        (Some(1), Some(1)) => "One run per case.".to_owned(),
        (Some(least), Some(most)) if least == most => format!("n = {most} runs per case."),
        (Some(least), Some(most)) => format!("n = {least} to {most} runs per case."),
        _ => "No runs.".to_owned(),
    }
}
