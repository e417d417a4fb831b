//! One measured study as the renderer sees it.

use std::collections::BTreeMap;

use crate::dataset::{Dataset, Sample};
use crate::judged::{Calibrated, JudgedClaim, JudgedStudy, Row, Scale};
use crate::machine::Machine;
use crate::page::{Chart, ChartKind, Page};
use crate::rounds::Origin;
use crate::supplement::{self, Supplement};

/// A study with everything that is printed about it.
#[derive(Debug, Default, Clone)]
pub struct StudyView {
    pub judged: JudgedStudy,
    pub page: Page,
    /// The samples behind tables and charts.
    pub data: Dataset,
    pub machine: Machine,
    /// Other measurements that stand in for what the whole one did not run, the newest first.
    pub supplements: Vec<Supplement>,
    /// What repeating A/A controls showed.
    pub calibration: Vec<Calibrated>,
    /// The rounds and the host that all this comes from.
    pub origin: Origin,
}

impl StudyView {
    /// The judged ratio of two arms in a scenario, if there is one: what is printed twice is computed once.
    pub fn judged_ratio(&self, scenario: &str, [numerator, denominator]: [&str; 2], metric: &str) -> Option<f64> {
        let rows = self.judged.claims.iter().flat_map(JudgedClaim::evidence).filter(|found| found.mark.is_empty());
        rows.flat_map(|found| &found.rows).filter(|row| row.scenario == scenario).find_map(|row: &Row| {
            let Scale::Ratio { numerator: above, denominator: below, metric: of } = &row.scale else {
                return None;
            };
            let point = row.estimate.filter(|_| of == metric)?.point;
            match (above.as_str(), below.as_str()) {
                arms if arms == (numerator, denominator) => Some(point),
                arms if arms == (denominator, numerator) => Some(1.0 / point),
                _ => None,
            }
        })
    }

    /// The measurement that a test case is shown from, by its place among the supplements; `None` for the whole one.
    pub fn source(&self, scenario: &str, arm: &str) -> Option<usize> {
        self.supplements.iter().position(|supplement| supplement.has(scenario, arm))
    }

    /// The mark of what is shown of these arms: empty unless one of them is taken from another measurement.
    pub fn mark(&self, scenario: &str, arms: &[&str]) -> &'static str {
        if arms.iter().any(|arm| self.source(scenario, arm).is_some()) { supplement::MARK } else { "" }
    }

    /// Which of `scenarios` and `arms` are taken from other measurements, in a sentence for a chart; `None` if none is.
    pub fn supplement_note(&self, scenarios: &[String], arms: &[String]) -> Option<String> {
        let parts = self.supplements.iter().filter_map(|supplement| {
            let is_taken = |scenario: &&String| arms.iter().any(|arm| supplement.has(scenario, arm));
            let taken: Vec<&str> = scenarios.iter().filter(is_taken).map(String::as_str).collect();
            (!taken.is_empty())
                .then(|| format!("{} {}: from results/{}.", supplement::MARK, taken.join(", "), supplement.folder))
        });
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Whether enough of what a chart shows was run: of lines, two scenarios.
    pub fn can_draw(&self, chart: &Chart) -> bool {
        let ran = |scenario: &&String| chart.arms.iter().any(|arm| !self.data.samples(scenario, arm).is_empty());
        let needed = if chart.kind == ChartKind::Lines { 2 } else { 1 };
        chart.scenarios.iter().filter(ran).count() >= needed
    }

    /// Values of a metric of a case by block, in the metric's own unit; `None` for a failed run. A run that lacks the metric is left out.
    pub fn by_block(&self, scenario: &str, arm: &str, metric: &str) -> BTreeMap<u64, Option<f64>> {
        let of_sample = |sample: &Sample| match &sample.error {
            Some(_) => Some((sample.block, None)),
            None => Some((sample.block, Some(sample.metrics.get(metric).copied()?))),
        };
        self.data.samples(scenario, arm).iter().filter_map(of_sample).collect()
    }

    /// Samples of a case as points; without a metric for x, x is 0.
    pub fn points(&self, scenario: &str, arm: &str, x: Option<&str>, y: &str) -> Vec<(f64, f64)> {
        let xs = x.map(|x| self.by_block(scenario, arm, x));
        let point = |(block, y): (u64, Option<f64>)| {
            let x = xs.as_ref().map_or(Some(0.0), |xs| *xs.get(&block)?)?;
            Some((x, y?)).filter(|(x, y)| x.is_finite() && y.is_finite())
        };
        self.by_block(scenario, arm, y).into_iter().filter_map(point).collect()
    }
}
