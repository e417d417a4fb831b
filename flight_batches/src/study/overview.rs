//! What the program without arguments prints: every arm of the published cells once, in the shape of the document's plots.

use std::fmt::Write as _;

use study_kit::overview::{Samples, cell};
use study_kit::{Error, Profile};

use super::scenario::{Scenario, scenarios};

/// Runs the cells and returns the tables.
///
/// # Errors
/// If a run fails.
pub fn tables() -> Result<String, Error> {
    let all: Vec<Scenario> = scenarios().into_iter().filter(|scenario| scenario.runs_in(Profile::Quick)).collect();
    let (single, many): (Vec<_>, Vec<_>) =
        all.into_iter().filter(|scenario| scenario.arms.starts_with(&["async", "sync"])).partition(|s| s.requests == 1);
    let many: Vec<_> = many.into_iter().filter(|scenario| !scenario.name.starts_with("short")).collect();
    let cases =
        many.iter().chain(&single).flat_map(|scenario| ["async", "sync"].map(|arm| (scenario.name.as_str(), arm)));
    let samples = Samples::take(cases)?;
    let mut text = String::new();
    for (title, scenarios) in [
        ("Real requests, each a stream (MB/s over all of them)", &many),
        ("One request, which is what the original's generator sent (MB/s)", &single),
    ] {
        let _ = writeln!(text, "{title}\n");
        let _ = writeln!(
            text,
            "{:>8} {:>8} {:>9} {:>10} {:>10} {:>8} {:>10}",
            "delay", "rows", "requests", "async", "sync", "ratio", "ideal"
        );
        for scenario in scenarios {
            let value = |arm, metric| samples.value(&scenario.name, arm, metric);
            let (a, s) = (value("async", "mb_per_s"), value("sync", "mb_per_s"));
            let ratio = a.zip(s).map(|(a, s)| a / s);
            let _ = writeln!(
                text,
                "{:>5} ms {:>8} {:>9} {:>10} {:>10} {:>8} {:>10}",
                f64::from(scenario.delay_us) / 1e3,
                scenario.records,
                scenario.requests,
                cell(a, 1),
                cell(s, 1),
                cell(ratio, 2),
                cell(value("async", "ideal_mb_per_s"), 0),
            );
        }
        text.push('\n');
    }
    text.push_str("async fills a queue ahead of the sender, sync sleeps when it is asked, as published. Ideal: what the delay alone would allow.\n");
    Ok(text)
}
