//! Writes complete results folders from short descriptions, planned and sealed by the real program.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use report::folder::plan_file::{self, PlannedRun};
use report::folder::seals;
use serde_json::{Value, json};
use tempfile::TempDir;

/// When measurements of the tests were made, one after the other.
pub const FIRST: &str = "20261121T050000Z";
pub const SECOND: &str = "20261121T060000Z";
pub const THIRD: &str = "20261121T070000Z";

/// Two claims, their controls and a goal over the scenario `big`, eight blocks in quick.
pub const CLAIMS: &str = r#"schema = 2
study = "toy"
budget = { quick_s = 60 }
planted.process = { arm = "b", scenarios = ["big"], size = 1.1, blocks = { quick = 8 } }

[[claim]]
id = "C1"
text = "a is slower than b on a big input"
original = "1.5 s against 1.0 s"
kind = "ratio"
ratio = "a / b"
scenarios = ["big"]
figure = 50.0
blocks = { quick = 8, full = 12 }
published = {}
fair = { absent = "both do the same work as published" }

[[claim]]
id = "C2"
text = "a and b need the same memory"
original = "80 MB each"
kind = "equal"
metric = "peak_rss_kib"
ratio = "a / b"
scenarios = ["big"]
margin = 0.10
blocks = { quick = 8 }
published = { pending = "their allocator is not built yet" }
fair = {}

[[goal]]
id = "fast"
text = "a takes at most twice as long as b"
ratio = "a / b"
scenarios = ["big"]
at_most = 2.0
blocks = { quick = 8 }
"#;

/// The cases of [`CLAIMS`] and one that none of them names.
pub const CASES: [(&str, &str); 5] = [("big", "a"), ("big", "b"), ("big", "b@aa"), ("big", "b@slow"), ("small", "a")];

/// A page with all that a page may have: advice and a table.
pub const PAGE: &str = r#"schema = 2
title = "toy: a made-up study"
advice = ["Do not."]

[[table]]
id = "times"
title = "Times"
row_header = "Input"
row = [{ label = "big", scenario = "big" }]
column = [
    { header = "a (s)", arm = "a", metric = "work_s" },
    { header = "theirs", values = ["1.5"] },
]
"#;

/// The program under test.
pub fn report() -> Command {
    assert_cmd::cargo::cargo_bin_cmd!("report")
}

/// An empty folder.
pub fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The usual toy, measured and sealed.
pub fn sealed() -> (TempDir, PathBuf) {
    let results = temporary();
    let folder = Toy::default().seal(results.path(), FIRST, usual);
    (results, folder)
}

/// What `report check` finds in a folder.
pub fn findings(folder: &Path) -> Vec<String> {
    let checked = report::commands::check::read(&[folder.to_owned()]).expect("it can be listed");
    checked.refused.iter().chain(&checked.failed).map(ToString::to_string).collect()
}

/// A folder in which the toy can be planned by these claims.
pub fn plannable(claims: &str) -> TempDir {
    let folder = temporary();
    write(folder.path(), "claims.toml", claims);
    write(folder.path(), "cases.tsv", &Toy::default().cases);
    folder
}

/// `report plan` of the quick profile.
pub fn plan(folder: &Path, more: &[&str]) -> Assert {
    report().arg("plan").arg(folder).args(["--profile", "quick", "--seed", "1"]).args(more).assert()
}

/// A command that judges the results by the claims of the studies beside them.
pub fn judging(command: &str, results: &Path) -> Command {
    let mut program = report();
    program.arg(command).arg(results).arg("--studies").arg(results);
    program
}

/// `report render` into a folder.
pub fn render(results: &Path, into: &Path, splice: &[&Path]) -> Assert {
    let mut command = report();
    command.arg("render").arg(results).arg("--studies").arg(results).arg("--out").arg(into.join("REPORT.md"));
    command.arg("--charts").arg(into.join("charts"));
    command.args(splice.iter().flat_map(|file| [Path::new("--splice"), file])).assert()
}

/// `report render` that prints `what` at its end.
pub fn printed(what: &str, results: &Path) -> Assert {
    let folder = temporary();
    let [out, charts] = ["REPORT.md", "charts"].map(|name| folder.path().join(name));
    judging("render", results).arg("--out").arg(out).arg("--charts").arg(charts).args(["--print", what]).assert()
}

/// What `report render` writes: the pages for people, one after the other, and a chart each.
pub fn rendered<const N: usize>(results: &Path, charts: [&str; N]) -> (String, [String; N]) {
    let folder = temporary();
    render(results, folder.path(), &[]).success();
    let evidence = folder.path().join("docs/evidence");
    let mut pages: Vec<PathBuf> = fs::read_dir(&evidence).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|is| is == "md"));
    pages.sort();
    pages.insert(0, folder.path().join("REPORT.md"));
    let pages: String = pages.iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    // A chart of which nothing was run is not there.
    let drawn = |chart| fs::read_to_string(folder.path().join("charts").join(chart)).unwrap_or_default();
    (pages, charts.map(drawn))
}

/// What a run of a made-up study comes to.
pub enum Outcome {
    /// It takes so many seconds of work and KiB of memory.
    Took(f64, f64),
    /// It fails with this error.
    Failed(&'static str),
}

/// A made-up study.
pub struct Toy {
    pub study: &'static str,
    pub claims: String,
    pub page: String,
    pub cases: String,
    pub cpu_model: &'static str,
    /// What the host's probe of arithmetic says, in nanoseconds.
    pub probe_ns: f64,
    /// For how long idle cores poll before they sleep.
    pub idle_poll_ns: u64,
    /// From core to core after a run, if it says so.
    pub core_to_core_ns: fn(&PlannedRun) -> Option<f64>,
    pub steal_percent: f64,
    pub profile: &'static str,
    /// Further arguments of `report plan`.
    pub part: &'static [&'static str],
}

impl Default for Toy {
    fn default() -> Self {
        Toy {
            study: "toy",
            claims: CLAIMS.to_owned(),
            page: PAGE.to_owned(),
            cases: cases(&CASES),
            cpu_model: "Toy 1000",
            probe_ns: 1.5,
            idle_poll_ns: 0,
            core_to_core_ns: |_| None,
            steal_percent: 0.7,
            profile: "quick",
            part: &[],
        }
    }
}

/// cases.tsv of some scenarios and arms, half a second each.
pub fn cases(cases: &[(&str, &str)]) -> String {
    let line = |(scenario, arm): &(&str, &str)| {
        format!("{scenario}\t{arm}\trelease\t0.5\trun --scenario {scenario} --arm {arm}\n")
    };
    cases.iter().map(line).collect()
}

/// The usual outcome: a takes 1.5 s and b 1 s, with little noise.
pub fn usual(run: &PlannedRun) -> Outcome {
    times(run, 1.0)
}

/// The same, but so many times as long.
pub fn times(run: &PlannedRun, factor: f64) -> Outcome {
    let level = match run.case.arm.as_str() {
        "a" => 1.5,
        "b@slow" => 1.1,
        _ => 1.0,
    };
    // Multiples of the golden ratio are spread evenly and never in step with the blocks.
    let noise = 0.01 * (((run.block + 1) as f64 * level * 0.618_033_988_75).fract() - 0.5);
    Outcome::Took(factor * level * (1.0 + noise), 80_000.0 * (1.0 + noise))
}

impl Toy {
    /// Plans the study in `results`; nothing has run yet.
    pub fn plan(&self, results: &Path, stamp: &str) -> PathBuf {
        let folder = results.join(self.study).join(format!("{stamp}-{}", self.profile));
        fs::create_dir_all(&folder).expect("the folder can be made");
        let claims = self.claims.replace("study = \"toy\"", &format!("study = \"{}\"", self.study));
        for (name, text) in [("claims.toml", &claims), ("cases.tsv", &self.cases)] {
            write(&folder, name, text);
        }
        // What decides is what the repository says now, which is what was measured last.
        let study = results.join(self.study).join("study");
        fs::create_dir_all(&study).expect("the folder can be made");
        for (name, text) in [("claims.toml", &claims), ("page.toml", &self.page)] {
            write(&study, name, text);
        }
        let arguments = ["--profile", self.profile, "--seed", "7"];
        report().arg("plan").arg(&folder).args(arguments).args(self.part).assert().success();
        folder
    }

    /// Plans the study and makes its runs up; not sealed yet.
    pub fn measure(&self, results: &Path, stamp: &str, outcome: impl Fn(&PlannedRun) -> Outcome) -> PathBuf {
        let folder = self.plan(results, stamp);
        let runs: String = planned(&folder).iter().map(|run| self.run_line(run, &outcome(run), stamp) + "\n").collect();
        write(&folder, "runs.jsonl", &runs);
        seal_blocks(&folder);
        let memory: String = promised(&folder).iter().map(|run| self.memory_line(run) + "\n").collect();
        write(&folder, "memory.jsonl", &memory);
        let machine = json!({
            "schema": 2,
            "values": {
                "cpu_model": self.cpu_model, "cpu_count": 2, "core_count": 2, "governor": null, "steal_percent": self.steal_percent,
                "idle_poll_ns": self.idle_poll_ns,
                "probe_arithmetic_ns": self.probe_ns, "probe_memory_mb_per_s": 9000, "probe_switch_us": 4, "probe_hop_us": 12,
            },
            "reasons": { "governor": "the kernel offers no frequency scaling here" },
        });
        write(&folder, "machine.json", &format!("{machine}\n"));
        folder
    }

    /// A line of runs.jsonl as `report append` writes it. No two measurements come out alike in all they record.
    pub fn run_line(&self, run: &PlannedRun, outcome: &Outcome, stamp: &str) -> String {
        let line = match outcome {
            Outcome::Took(work_s, peak_rss_kib) => {
                let hour: f64 = stamp[9..11].parse().expect("a stamp has its hour there");
                let mut metrics = json!({ "idle_ratio": 0.75, "peak_rss_kib": peak_rss_kib, "system_s": hour / 1000.0, "work_s": work_s });
                if let Some(ns) = (self.core_to_core_ns)(run) {
                    metrics["core_to_core_p50_ns"] = json!(ns);
                }
                let record = self.record(run, &metrics);
                json!({ "run": run.run, "exit": 0, "hyperfine": hyperfine(work_s + 0.003), "record": record })
            }
            Outcome::Failed(error) => {
                let mut record = self.record(run, &json!({}));
                (record["digest"], record["error"]) = (json!(""), json!(error));
                json!({ "run": run.run, "exit": 1, "hyperfine": null, "record": record })
            }
        };
        line.to_string()
    }

    pub fn memory_line(&self, run: &PlannedRun) -> String {
        let time = json!({
            "max_rss_kib": 80_100, "minor_faults_count": 900, "major_faults_count": 0, "voluntary_switches_count": 3,
            "involuntary_switches_count": 1, "wall_s": 1.0, "user_s": 0.9, "system_s": 0.1,
        });
        let record = self.record(run, &json!({ "work_s": 1.0, "peak_rss_kib": 80_000 }));
        let pass: u32 = run.run.trim_start_matches("memory-").parse().expect("a pass has a number");
        json!({ "pass": pass, "scenario": run.case.scenario, "arm": run.case.arm, "exit": 0, "time": time, "record": record })
            .to_string()
    }

    /// The record of a run; that of a duet has two pairs of either order.
    pub fn record(&self, run: &PlannedRun, metrics: &Value) -> Value {
        let mut record = json!({
            "schema": 2, "run": run.run, "study": self.study, "scenario": run.case.scenario, "arm": run.case.arm, "seed": run.seed,
            "block": run.block, "digest": format!("{}-{}", run.case.scenario, run.seed), "metrics": metrics,
        });
        if let Some((arm, versus)) = run.case.arm.split_once('~') {
            let pairs = ["ab", "ba", "ba", "ab"].map(|order| json!({ "a_s": 0.14, "b_s": 0.1, "order": order }));
            (record["arm"], record["versus"], record["pairs"]) = (json!(arm), json!(versus), json!(pairs));
        }
        record
    }

    /// A sealed folder.
    pub fn seal(&self, results: &Path, stamp: &str, outcome: impl Fn(&PlannedRun) -> Outcome) -> PathBuf {
        let folder = self.measure(results, stamp, outcome);
        report().arg("seal").arg(&folder).assert().success();
        folder
    }
}

/// The plan of a folder.
pub fn planned(folder: &Path) -> Vec<PlannedRun> {
    plan_file::from_tsv(&read(folder, "plan.tsv"), "plan.tsv").expect("the plan can be read")
}

/// The passes under GNU time that a folder's plan promises.
pub fn promised(folder: &Path) -> Vec<PlannedRun> {
    report::plan::promised(folder).expect("the folder is planned")
}

/// Writes seals.tsv as it would have been written while measuring.
pub fn seal_blocks(folder: &Path) {
    write(folder, seals::NAME, &seals::to_tsv(&seals::of(&planned(folder), &read(folder, "runs.jsonl"))));
}

/// What hyperfine 1.20 exports of one run.
pub fn hyperfine(wall_s: f64) -> Value {
    json!({ "results": [{
        "command": "toy run", "mean": wall_s, "stddev": null, "median": wall_s, "user": 0.9, "system": 0.1, "min": wall_s,
        "max": wall_s, "times": [wall_s], "memory_usage_byte": [1_000_000], "exit_codes": [0],
    }] })
}

/// Reads a file of `folder`, which may be a log that is compressed.
pub fn read(folder: &Path, name: &str) -> String {
    let read = match packed(folder, name).map(fs::File::open) {
        Some(file) => file.and_then(|file| io::read_to_string(GzDecoder::new(file))),
        None => fs::read_to_string(folder.join(name)),
    };
    read.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Writes a file of `folder`; a log that is compressed stays so.
pub fn write(folder: &Path, name: &str, text: &str) {
    let written = match packed(folder, name) {
        Some(path) => fs::write(path, gzip(text)),
        None => fs::write(folder.join(name), text),
    };
    written.unwrap_or_else(|error| panic!("{name}: {error}"));
}

fn packed(folder: &Path, name: &str) -> Option<PathBuf> {
    Some(folder.join(format!("{name}.gz"))).filter(|path| path.exists())
}

pub fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).expect("memory can be written");
    packed.finish().expect("memory can be written")
}

/// Changes a file of a sealed folder and all that vouches for it, as someone would who wants to deceive.
pub fn forge(folder: &Path, name: &str, change: impl FnOnce(&str) -> String) {
    let before = read(folder, name);
    let after = change(&before);
    assert_ne!(before, after, "the forgery changes {name}");
    write(folder, name, &after);
    if name == "runs.jsonl" {
        seal_blocks(folder);
    }
    reseal(folder);
}

/// Writes a new manifest.
pub fn reseal(folder: &Path) {
    let sums = report::folder::manifest::sums(folder).expect("the folder can be read");
    write(folder, report::folder::manifest::NAME, &report::folder::manifest::to_text(&sums));
}

/// The line (from 1) at which `needle` stands first.
pub fn line_of(text: &str, needle: &str) -> usize {
    let place = text.find(needle).unwrap_or_else(|| panic!("'{needle}' stands nowhere"));
    text[..place].matches('\n').count() + 1
}
