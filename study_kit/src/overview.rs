//! What a study's program does without arguments: every case of the document's tables once, each in a process of its own, and the tables.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::case::Profile;
use crate::page;
use crate::record::Record;
use crate::study::Study;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

/// Runs the verb `run` of this program once for each case that the tables show and that quick lists, and fills them.
pub fn tables<S: Study>() -> Result<String> {
    let tables = page::tables(S::PAGE)?;
    let shown: BTreeSet<(&str, &str)> = tables.iter().flat_map(page::cases).collect();
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
    let value = |scenario: &str, arm: &str, metric: &str| samples.get(&(scenario, arm))?.get(metric).copied();
    let tables: String = tables.iter().map(|table| page::render(table, &value)).collect();
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
