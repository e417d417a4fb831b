//! What a study's program does without arguments: every case of the document's tables once, each in a process of its own, and the tables. The rest of
//! page.toml is the report's.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::once;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;

use crate::case::Profile;
use crate::layout::{Cell, Column, Row, Table};
use crate::record::Record;
use crate::study::Study;

/// Runs the verb `run` of this program once for each case that the tables show and that quick lists, and fills them.
pub fn overview<S: Study>() -> Result<String> {
    let tables = tables(S::PAGE)?;
    let shown: BTreeSet<(&str, &str)> = tables.iter().flat_map(cases).collect();
    // With the build that this program is.
    let scenarios = S::SCENARIOS.iter().filter(|scenario| scenario.build == "release");
    let listed = scenarios.flat_map(|scenario| scenario.arms_in(Profile::Quick).map(move |(arm, _)| (scenario, arm)));
    let cases: Vec<_> = listed.filter(|(scenario, arm)| shown.contains(&(scenario.name, arm))).collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {eta} left: {msg}")?;
    let bar = ProgressBar::new(cases.len() as u64).with_style(style);
    let mut samples = HashMap::new();
    for (scenario, arm) in cases {
        bar.set_message(format!("{} {arm}", scenario.name));
        let sample = S::prepare(&scenario.setting, 0).and_then(|()| sample(scenario.name, arm));
        samples.insert((scenario.name, arm), sample.with_context(|| format!("{} {arm} failed", scenario.name))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let tables: String = tables.iter().map(|table| render(table, &samples)).collect();
    Ok(format!("{tables}One run each: no verdicts. `make report-{}` measures in blocks and judges.\n", S::NAME))
}

/// The metrics of one run in a process of its own, with the time of the process, `process_s`.
fn sample(scenario: &str, arm: &str) -> Result<BTreeMap<String, f64>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["run", "--scenario", scenario, "--arm", arm]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let start = Instant::now();
    let output = command.output()?;
    let process_s = start.elapsed().as_secs_f64();
    let mut sample: Record = serde_json::from_slice(&output.stdout).with_context(|| output.status.to_string())?;
    if let Some(error) = sample.error {
        bail!(error);
    }
    sample.metrics.insert("process_s".to_owned(), process_s);
    Ok(sample.metrics)
}

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    table: Vec<Table>,
}

/// The tables of page.toml that the program prints.
fn tables(text: &str) -> Result<Vec<Table>> {
    let Page { mut table } = toml::from_str(text).context("page.toml")?;
    table.retain(|table| table.overview);
    Ok(table)
}

/// Scenario and arm of every run that the cells of `table` show.
fn cases(table: &Table) -> impl Iterator<Item = (&str, &str)> {
    let cells = table.row.iter().flat_map(|row| table.column.iter().filter_map(|column| column.in_row(row)));
    cells.flat_map(|Cell { scenario, arm, minus, dividend, .. }| {
        [Some(arm), minus, dividend].into_iter().flatten().map(move |arm| (scenario, arm))
    })
}

/// The metrics of each scenario and arm.
type Samples<'a> = HashMap<(&'a str, &'a str), BTreeMap<String, f64>>;

fn render(table: &Table, samples: &Samples<'_>) -> String {
    let widest = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let labels: Vec<String> = once(&table.row_header).chain(table.row.iter().map(|row| &row.label)).cloned().collect();
    let width = widest(&labels);
    let mut lines: Vec<String> = labels.iter().map(|label| format!("{label:<width$}")).collect();
    for column in &table.column {
        let figures = table.row.iter().enumerate().map(|(position, row)| text(column, position, row, samples));
        let figures = figures.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        let cells: Vec<String> = once(column.header.clone()).chain(figures).collect();
        let width = widest(&cells);
        for (line, cell) in lines.iter_mut().zip(&cells) {
            *line = format!("{line}  {cell:>width$}");
        }
    }
    let lines: String = lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect();
    format!("{}\n\n{lines}\n", table.title)
}

/// The cell of `column` in `row`, which is the one at `position`.
fn text(column: &Column, position: usize, row: &Row, samples: &Samples<'_>) -> Option<String> {
    if let Some(values) = &column.values {
        return values.get(position).cloned();
    }
    let Cell { scenario, arm, metric, minus, per, dividend, factor, digits } = column.in_row(row)?;
    let of = |arm, metric| samples.get(&(scenario, arm))?.get(metric).copied();
    let mut figure = of(arm, metric)?;
    if let Some(other) = minus {
        figure -= of(other, metric)?;
    }
    if let Some(other) = per {
        figure /= of(arm, other)?;
    }
    if let Some(other) = dividend {
        figure = of(other, metric)? / figure;
    }
    Some(figure * factor).filter(|figure| figure.is_finite()).map(|figure| number(figure, digits))
}

/// A figure with so many decimals, or else with three digits.
fn number(value: f64, digits: Option<usize>) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 6")]
    let three = || (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.*}", digits.unwrap_or_else(three))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: &str = r#"
        [[table]]
        id = "none"
        title = "not printed"
        row_header = ""
        row = []
        column = []
        [[table]]
        id = "sorting"
        title = "Sorting"
        overview = true
        row_header = "numbers"
        row = [{ label = "few", scenario = "n_1" }, { label = "many", scenario = "n_9" }]
        column = [
            { header = "theirs", values = ["1 s", "2 s"] },
            { header = "a (ms)", arm = "a", metric = "work_s", factor = 1000.0, digits = 1 },
            { header = "gain", arm = "b", metric = "work_s", dividend = "a", digits = 2 },
            { header = "beyond", arm = "b", minus = "a", per = "rows_count", metric = "work_s" },
        ]
    "#;

    #[test]
    fn a_table_is_filled_from_one_run_of_each_case() {
        let [table] = &tables(TOY).unwrap()[..] else { panic!("only one is printed") };
        let found = Vec::from_iter(cases(table).collect::<BTreeSet<_>>());
        assert_eq!(found, [("n_1", "a"), ("n_1", "b"), ("n_9", "a"), ("n_9", "b")]);
        let sample = |work_s| BTreeMap::from([("work_s".to_owned(), work_s), ("rows_count".to_owned(), 10.0)]);
        let samples = HashMap::from([(("n_1", "a"), sample(0.5)), (("n_1", "b"), sample(0.25))]);
        let text = "\
Sorting

numbers  theirs  a (ms)  gain   beyond
few         1 s   500.0  2.00  -0.0250
many        2 s       -     -        -

";
        assert_eq!(render(table, &samples), text);
    }
}
