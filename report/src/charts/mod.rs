//! Charts as SVG: pure functions of what was judged and sampled, the same bytes every time.
//!
//! - [`effects`]: every claim with its interval;
//! - [`lines`]: a metric against x over scenarios;
//! - [`percentiles`]: histograms by percentile;
//! - [`strip`]: every sample of the arms of one scenario;
//! - [`canvas`], [`scale`] and [`frame`]: the card they are drawn on, its axes, and what stands around lines.

pub mod canvas;
pub mod effects;
pub mod frame;
pub mod lines;
pub mod percentiles;
pub mod scale;
pub mod strip;

use std::collections::BTreeMap;

use strum::VariantArray as _;

use self::frame::Series;
use crate::claims::Form;
use crate::page::{Chart, ChartKind};
use crate::view::StudyView;

/// Every chart by file name: `effects.svg`, `claims.svg` with the fair forms alone, and `STUDY-ID.svg` for each `[[chart]]` of a page.
pub fn all(studies: &[StudyView]) -> BTreeMap<String, String> {
    let mut charts = BTreeMap::from([
        ("effects.svg".to_owned(), effects::draw(studies, Form::VARIANTS)),
        ("claims.svg".to_owned(), effects::draw(studies, &[Form::Fair])),
    ]);
    for view in studies {
        for chart in &view.page.chart {
            charts.insert(chart.file_name(&view.judged.study), draw(view, chart));
        }
    }
    charts
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
    let metric = chart.metric.as_deref().unwrap_or_default();
    let of_arm = |arm: &String| Series {
        arm: arm.clone(),
        groups: chart.scenarios.iter().map(|scenario| view.points(scenario, arm, x, metric)).collect(),
        failed: chart.scenarios.iter().map(|scenario| view.data.failed(scenario, arm)).sum(),
    };
    chart.arms.iter().map(of_arm).collect()
}

/// Titles are Markdown in the page and plain text in a picture.
fn plain_text(title: &str) -> String {
    title.replace('`', "")
}
