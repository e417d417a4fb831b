//! `report append` and `report machine`: what a measurement writes while it is under way.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use report::folder::machine::Machine;
use report::folder::plan_file::PlannedRun;
use report::folder::runs::{Run, read_lines};
use report::folder::seals;
use serde_json::{Value, json};
use support::{FIRST, Toy, findings, hyperfine, line_of, planned, promised, read, report, temporary, usual, write};
use tempfile::TempDir;

mod support;

/// Where `report append` keeps how far it has come.
const CURSOR: &str = "cursor.json";

/// A measurement that has just begun.
struct Begun {
    temp: TempDir,
    folder: PathBuf,
    plan: Vec<PlannedRun>,
}

fn begun() -> Begun {
    let temp = temporary();
    let folder = Toy::default().plan(temp.path(), FIRST);
    let plan = planned(&folder);
    Begun { temp, folder, plan }
}

/// What GNU time writes.
const USAGE: &str = "{\"max_rss_kib\":9,\"minor_faults_count\":1,\"major_faults_count\":0,\"voluntary_switches_count\":1,\
                     \"involuntary_switches_count\":1,\"wall_s\":1.0,\"user_s\":1.0,\"system_s\":0.0}\n";

/// `report append memory` of the files `record` and `time` in `scratch`.
fn append_memory(folder: &Path, scratch: &Path, [pass, scenario, arm, exit]: [&str; 4]) -> Assert {
    let mut command = report();
    command.args(["append", "memory"]).arg(folder).args(["--pass", pass, "--scenario", scenario, "--arm", arm]);
    command.args(["--exit", exit, "--record"]).arg(scratch.join("record"));
    command.arg("--time").arg(scratch.join("time")).assert()
}

impl Begun {
    fn record(&self, index: usize) -> Value {
        Toy::default().record(&self.plan[index], &json!({ "work_s": 1.25, "peak_rss_kib": 80_000.0 }))
    }

    /// Appends a run as measure.sh does.
    fn add(&self, id: &str, exit: &str, export: &str, record: &str) -> Assert {
        let scratch = self.temp.path();
        write(scratch, "hyperfine.json", export);
        write(scratch, "record.jsonl", record);
        let mut command = report();
        command.args(["append", "runs"]).arg(&self.folder).args(["--run", id, "--exit", exit]);
        command.arg("--hyperfine").arg(scratch.join("hyperfine.json"));
        command.arg("--record").arg(scratch.join("record.jsonl")).assert()
    }

    /// Appends the run with this index, a good one.
    fn append(&self, index: usize) -> Assert {
        let export = serde_json::to_string_pretty(&hyperfine(1.26)).expect("it is JSON");
        self.add(&self.plan[index].run, "0", &export, &format!("{}\n", self.record(index)))
    }

    /// The same with several, one after the other.
    fn append_all(&self, indices: Range<usize>) {
        for index in indices {
            self.append(index).success();
        }
    }

    /// Makes the memory passes, describes the machine and seals the round.
    fn seal(&self) -> Assert {
        let scratch = self.temp.path();
        write(scratch, "time", USAGE);
        for run in promised(&self.folder) {
            let record = Toy::default().record(&run, &json!({ "work_s": 1.0 }));
            write(scratch, "record", &record.to_string());
            append_memory(&self.folder, scratch, ["0", &run.case.scenario, &run.case.arm, "0"]).success();
        }
        let probes = report::folder::host::PROBES.map(|(name, ..)| format!("{name}\t1.5\t\n")).concat();
        write(scratch, "facts.tsv", &format!("cpu_model\tToy\t\n{probes}"));
        report().arg("machine").arg(&self.folder).arg(scratch.join("facts.tsv")).assert().success();
        report().arg("seal").arg(&self.folder).assert()
    }

    fn runs(&self) -> String {
        fs::read_to_string(self.folder.join("runs.jsonl")).unwrap_or_default()
    }
}

#[test]
fn a_measurement_that_is_appended_run_by_run_can_be_sealed() {
    let begun = begun();
    for index in 0..begun.plan.len() {
        begun.append(index).success();
        let due = seals::of(&begun.plan, &begun.runs());
        let written = fs::read_to_string(begun.folder.join(seals::NAME)).unwrap_or_default();
        assert_eq!(written, seals::to_tsv(&due), "a block is sealed with its last run, after run {index}");
    }
    begun.add("toy-0034", "0", "", "").code(2).stderr(contains("runs.jsonl:34: ").and(contains("one too many")));
    begun.seal().success();
    assert_eq!(findings(&begun.folder), Vec::<String>::new());
    // Numbers stand there as hyperfine and the study wrote them.
    assert!(begun.runs().lines().all(|line| line.contains("1.26") && line.contains("\"work_s\":1.25")));
}

#[test]
fn a_run_out_of_order_or_with_the_record_of_another_one_is_not_added() {
    let begun = begun();
    begun.append(0).success();
    let before = begun.runs();
    begun.append(0).code(2).stderr(contains("runs.jsonl:2: toy-0002 comes next, not toy-0001"));
    begun.append(2).code(2).stderr(contains("toy-0002 comes next"));
    let export = hyperfine(1.26).to_string();
    let add = |exit: &str, export: &str, record: &str| begun.add("toy-0002", exit, export, record);
    for (key, value, what) in [
        ("run", json!("toy-0009"), "run 'toy-0009', planned is 'toy-0002'"),
        ("seed", json!(99), "seed '99'"),
        ("host", json!("x"), "unknown field `host`"),
        ("metrics", json!({ "work": 1.0 }), "does not end in a unit"),
        ("metrics", json!({ "work_s": 1.5 }), "0 < work_s <= process_s"),
    ] {
        let mut record = begun.record(1);
        record[key] = value;
        add("0", &export, &record.to_string()).code(2).stderr(contains("record.jsonl:1: ").and(contains(what)));
    }
    let good = begun.record(1).to_string();
    add("0", &export, &format!("{good}\n{good}\n")).code(2).stderr(contains("record.jsonl:1: "));
    add("0", &export, &good[..good.len() - 5]).code(2).stderr(contains("record.jsonl:1: "));
    add("0", &export[..export.len() - 5], &good).code(2).stderr(contains("hyperfine.json:1: "));
    // The record of another run is no record of this one, even if the command failed.
    add("1", "", &begun.record(2).to_string()).code(2).stderr(contains("planned is 'toy-0002'"));
    assert_eq!(begun.runs(), before);
}

#[test]
fn a_failed_run_is_recorded_whatever_it_left() {
    let begun = begun();
    let export = hyperfine(1.26).to_string();
    let mut failed = begun.record(1);
    let error = "a \"quote\", a \\ and a \u{7}";
    (failed["digest"], failed["metrics"], failed["error"]) = (json!(""), json!({}), json!(error));
    let torn = begun.record(4).to_string();
    for (index, (exit, export, record, said)) in (0..).zip([
        ("101", "", "", "exit code 101"),
        ("1", "", failed.to_string().as_str(), "a \\\"quote\\\", a \\\\ and a"),
        ("0", export.as_str(), "", "it left no record"),
        ("0", "", begun.record(3).to_string().as_str(), "hyperfine left no time"),
        ("137", "{\"results\": [", &torn[..torn.len() / 2], "exit code 137"),
        ("-9", "", "", "exit code -9"),
    ]) {
        begun.add(&begun.plan[index].run, exit, export, record).code(1).stderr(contains("recorded as a failure"));
        let text = begun.runs();
        let (line, runs) = (text.lines().nth(index).expect("it was added"), read_lines::<Run>(&text, "runs.jsonl"));
        let failure = runs.expect("they can be read")[index].failure().expect("it failed");
        assert!(line.contains(said) || failure.contains(said), "{failure}: {line}");
    }
    // Files that are not there are no files.
    let mut command = report();
    command.args(["append", "runs"]).arg(&begun.folder).args(["--run", "toy-0007", "--exit", "2"]);
    command.args(["--record", "/nowhere"]).assert().code(1);
}

#[test]
fn a_torn_line_is_dropped_and_a_seal_that_is_missing_is_added() {
    let begun = begun();
    let block = begun.plan.iter().take_while(|run| run.block_name() == begun.plan[0].block_name()).count();
    begun.append_all(0..block + 1);
    // Ended before the seal was written, and again within a line.
    let whole = begun.runs();
    write(&begun.folder, "seals.tsv", "big\t");
    write(&begun.folder, "runs.jsonl", &format!("{whole}{{\"run\":\"toy-"));
    begun.append_all(block + 1..begun.plan.len());
    assert_eq!(begun.runs().lines().count(), begun.plan.len());
    assert!(begun.runs().starts_with(&whole));
    assert_eq!(read(&begun.folder, "seals.tsv"), seals::to_tsv(&seals::of(&begun.plan, &begun.runs())));
}

#[test]
fn a_measurement_that_is_killed_between_any_two_writes_goes_on_as_if_nothing_had_happened() {
    let begun = begun();
    let block = begun.plan.iter().take_while(|run| run.block_name() == begun.plan[0].block_name()).count();
    begun.append_all(0..block - 1);
    let place = |name: &str| begun.folder.join(name);
    let cursor = read(&begun.folder, CURSOR);
    begun.append(block - 1).success();
    let (line, seal, newer) = (begun.runs(), read(&begun.folder, seals::NAME), read(&begun.folder, CURSOR));
    begun.append(block).success();
    let due = (begun.runs(), read(&begun.folder, seals::NAME), read(&begun.folder, CURSOR));
    for (seal_left, cursor_left) in [
        (Some(seal.as_str()), Some(cursor.as_str())),
        (Some(&seal[..seal.len() / 2]), Some(cursor.as_str())),
        (None, Some(cursor.as_str())),
        (Some(seal.as_str()), Some(&newer[..newer.len() / 2])),
        (Some(seal.as_str()), Some("")),
        (Some(seal.as_str()), None),
        // The machine went down, too, and what was written last is lost but for its place.
        (None, Some(newer.as_str())),
    ] {
        fs::write(place("runs.jsonl"), format!("{line}{{\"run\":\"toy-")).expect("it can be written");
        for (name, left) in [(seals::NAME, seal_left), (CURSOR, cursor_left)] {
            match left {
                Some(text) => fs::write(place(name), text).expect("it can be written"),
                None => fs::remove_file(place(name)).expect("it can be removed"),
            }
        }
        begun.append(block).success();
        assert_eq!((begun.runs(), read(&begun.folder, seals::NAME), read(&begun.folder, CURSOR)), due);
    }
}

#[test]
fn runs_that_were_taken_back_after_their_block_was_sealed_and_seals_that_were_emptied_are_noticed_at_once() {
    for file in ["runs.jsonl", "seals.tsv"] {
        let begun = begun();
        begun.append_all(0..seals::of(&begun.plan, &"\n".repeat(begun.plan.len()))[1].lines);
        let first: String = read(&begun.folder, file).split_inclusive('\n').take(1).collect();
        write(&begun.folder, file, if file == "runs.jsonl" { &first } else { "" });
        let next = begun.runs().lines().count();
        begun.append(next).code(2).stderr(contains("seals.tsv: its seals are not of the lines in runs.jsonl"));
    }
}

#[test]
fn runs_that_were_changed_after_their_block_was_sealed_are_noticed_when_the_round_is_sealed() {
    let begun = begun();
    let blocks = seals::of(&begun.plan, &"\n".repeat(begun.plan.len()));
    begun.append_all(0..blocks[1].lines);
    write(&begun.folder, "runs.jsonl", &begun.runs().replacen("1.26", "1.27", 1));
    begun.append_all(blocks[1].lines..begun.plan.len());
    begun.seal().code(2).stderr(contains("seals.tsv:1: the seal is not that"));
}

/// The bytes that `report append` reads for the run after these `lines`, which end where a cursor knows of all but the last.
#[cfg(target_os = "linux")]
fn bytes_read_after(lines: usize) -> u64 {
    let begun = begun();
    let planned = |n: usize| format!("toy-{n:04}\t{n}\tbig\ta\trelease\t0\t0\t1\trun --arm a\n");
    let plan = (1..=10_002).map(planned).collect::<Vec<_>>().concat();
    write(&begun.folder, "plan.tsv", &plan);
    let planned = report::folder::plan_file::from_tsv(&plan, "plan.tsv").expect("it is a plan");
    let line = |run: &PlannedRun| {
        let record = Toy::default().record(run, &json!({ "work_s": 1.25 }));
        json!({ "run": run.run, "exit": 0, "hyperfine": hyperfine(1.26), "record": record }).to_string() + "\n"
    };
    let runs: String = planned[..lines - 1].iter().map(line).collect();
    write(&begun.folder, "runs.jsonl", &runs);
    write(&begun.folder, "seals.tsv", &seals::to_tsv(&seals::of(&planned, &runs)));
    let begun = Begun { plan: planned, ..begun };
    begun.append(lines - 1).success();
    // A shell counts what its children read, too.
    let program = assert_cmd::cargo::cargo_bin!("report");
    let scratch = begun.temp.path();
    write(scratch, "record.jsonl", &begun.record(lines).to_string());
    let run = begun.plan[lines].run.as_str();
    let output = std::process::Command::new("sh")
        .args(["-c", "\"$@\" && sed -n 's/rchar: //p' /proc/$$/io", "sh"])
        .arg(program)
        .args(["append", "runs"])
        .arg(&begun.folder)
        .args(["--run", run, "--exit", "0", "--hyperfine"])
        .arg(scratch.join("hyperfine.json"))
        .arg("--record")
        .arg(scratch.join("record.jsonl"))
        .output()
        .expect("a shell starts");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("it is a number of bytes")
}

#[cfg(target_os = "linux")]
#[test]
fn one_line_more_reads_as_much_after_ten_lines_as_after_ten_thousand() {
    let [early, late] = [10, 10_000].map(bytes_read_after);
    println!("after 10 lines {early} bytes, after 10,000 {late}");
    assert!(late < early + 16_384, "after 10 lines {early} bytes, after 10,000 {late}");
}

#[test]
fn passes_under_gnu_time_come_in_the_order_that_the_plan_promises() {
    let temp = temporary();
    let folder = Toy::default().measure(temp.path(), FIRST, usual);
    write(&folder, "memory.jsonl", "");
    let add = |pass, arm, exit| append_memory(&folder, temp.path(), [pass, "big", arm, exit]);
    add("0", "b", "0").code(2).stderr(contains("memory.jsonl:1: memory-0 big a comes next, not memory-0 big b"));
    // GNU time says that the command failed in a line of its own.
    write(temp.path(), "time", &format!("Command exited with non-zero status 3\n{USAGE}"));
    add("0", "a", "3").code(1);
    let memory = read(&folder, "memory.jsonl");
    assert!(memory.contains("\"exit\":3,\"time\":{\"max_rss_kib\":9,"), "{memory}");
    write(temp.path(), "record", "{\"run\":\"memory-1\"}");
    add("0", "b", "0").code(2).stderr(contains("record:1: missing field"));
    fs::remove_file(temp.path().join("record")).expect("it can be removed");
    add("0", "b", "0").code(1).stderr(contains("left no record"));
    add("0", "b@aa", "0").code(1).stderr(contains("left no record"));
    add("1", "a", "0").code(2).stderr(contains("memory.jsonl:4: ").and(contains("one too many")));
}

#[test]
fn facts_become_values_whatever_characters_they_hold() {
    let temp = temporary();
    let facts = temp.path().join("facts.tsv");
    let mut text = b"cpu_model\tA \\ \"B\" \x07\t\nload_before\t0.25\t\ncpu_family\t25\t\nsha\t01\t\ngovernor\t\tnot \"here\"\nnone\t\t\n".to_vec();
    text.extend(b"os\tDebi\xe1n\t\nprobe_hop_us\t1\t\nprobe_hop_us\t2.50\nkernel\t-\t\ndigest\t123456789012345678901234567890\t\n");
    fs::write(&facts, &text).expect("it can be written");
    report().arg("machine").arg(temp.path()).arg(&facts).assert().success();
    let machine = Machine::parse(&read(temp.path(), "machine.json"), "machine.json").expect("it can be read");
    let value = |name: &str| machine.values[name].clone();
    assert_eq!(value("cpu_model"), Some(json!("A \\ \"B\" \u{7}")));
    assert_eq!((value("load_before"), value("cpu_family")), (Some(json!(0.25)), Some(json!(25))));
    assert_eq!((value("sha"), value("kernel")), (Some(json!("01")), Some(json!("-"))));
    assert_eq!(value("digest"), Some(json!("123456789012345678901234567890")));
    assert_eq!(value("probe_hop_us"), Some(json!(2.5)), "the last line of a name wins");
    assert_eq!((value("governor"), machine.reasons["governor"].as_str()), (None, "not \"here\""));
    assert_eq!((value("none"), machine.reasons["none"].as_str()), (None, "it could not be read"));
    fs::write(&facts, "cpu_model\tA\t\nno fact\n").expect("it can be written");
    let place = contains(format!("facts.tsv:{}: ", line_of("a\nno fact", "no fact")));
    report().arg("machine").arg(temp.path()).arg(&facts).assert().code(2).stderr(place);
}
