//! The published comparison: arms one after the other under each hold, and the document's tables of what came of it.

use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::bench;
use crate::design::Arm;
use crate::metrics::{self, Metrics};

mod comparison;
mod tables;

pub use comparison::Comparison;
pub use tables::tables;

#[derive(Debug, Clone)]
pub struct Row {
    pub arm: &'static Arm,
    pub hold: Duration,
    /// What was measured, by name; what is absent has no value.
    pub metrics: Metrics,
    /// What was wrong: operations that failed, a write that was lost.
    pub fault: Option<String>,
}

/// Runs every arm at every hold, one after the other. A run that breaks off is a row with a fault; the others are made.
pub fn measure(comparison: &Comparison) -> Result<Vec<Row>> {
    let folder = &comparison.directory;
    // Made by the user, or not at all: a typing error is not worth a new folder. Whether files can be made there shows before a minute has passed.
    fs::read_dir(folder).with_context(|| format!("cannot use the folder {}", folder.display()))?;
    bench::own_folder(folder)?;
    let total: Duration = comparison.runs().map(|(hold, _)| comparison.expected_time(hold)).sum();
    let style = ProgressStyle::with_template("{bar:30} {percent}%, {eta} left: {msg}")?;
    let bar = ProgressBar::new(millis(total)).with_style(style);
    let mut rows = Vec::new();
    let mut before = Duration::ZERO;
    for (hold, arm) in comparison.runs() {
        let expected = comparison.expected_time(hold);
        bar.set_message(format!("{}, {hold:?}", arm.name));
        let workload = comparison.workload(hold);
        let progress = |elapsed: Duration| bar.set_position(millis(before + elapsed.min(expected)));
        let row = match bench::measure(arm, &workload, folder, 0, &progress, || (), |()| ()) {
            Ok(measured) => {
                Row { arm, hold, metrics: metrics::of(&measured.tally, &workload, hold), fault: measured.fault }
            }
            Err(error) => Row { arm, hold, metrics: Metrics::new(), fault: Some(format!("{error:#}")) },
        };
        if bar.is_hidden() {
            // Whoever has closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "{}, {hold:?}: {}", arm.name, row.fault.as_deref().unwrap_or("done"));
        }
        rows.push(row);
        before += expected;
        bar.set_position(millis(before));
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
