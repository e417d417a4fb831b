//! The program as a person types it.

#![cfg(feature = "cli")]

use std::fs;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use sqlite_bench::design::ARMS;

/// The setting of a run that is over in a moment.
const SHORT: [&str; 8] = ["--holds", "20ms", "--duration", "200ms", "--databases", "2", "--readers", "2"];

/// The program, in a folder of its own.
fn sqlite_bench(folder: &TempDir) -> Command {
    let mut command = Command::new(cargo_bin("sqlite_bench"));
    command.current_dir(folder);
    command
}

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

/// One line on stderr, and nothing on stdout.
fn one_line(part: &'static str) -> impl Predicate<str> {
    predicate::function(|text: &str| text.lines().count() == 1 && text.starts_with("error: "))
        .and(predicate::str::contains(part))
}

/// The lines of a file, each a JSON object.
fn records(folder: &TempDir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path().join(name)).expect("recorded");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn compare(folder: &TempDir, arguments: &[&str]) -> String {
    let assert = sqlite_bench(folder).arg("compare").args(SHORT).args(arguments).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("text")
}

/// The rows of the table with this title.
fn table(text: &str, title: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != format!("### {title}")).skip(4);
    lines.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

#[test]
fn all_arms_have_the_same_digest_in_both_loops_and_the_open_one_answers_every_scheduled_read() {
    let folder = folder();
    let every = ARMS.each_ref().map(|arm| arm.name).join(",");
    let text = compare(&folder, &["--arm", &every, "--seed", "3", "--record", "r.jsonl"]);
    assert_eq!(table(&text, "FAILURES (requests)").len(), ARMS.len());
    assert!(!text.contains("Scheduled reads"), "{text}");
    let open = compare(&folder, &["--seed", "3", "--record", "r.jsonl", "--rate", "100"]);
    assert!(open.contains("Scheduled reads"), "{open}");
    let records = records(&folder, "r.jsonl");
    assert_eq!(records.len(), 2 * ARMS.len());
    for (record, arm) in records.iter().zip(ARMS.iter().chain(&ARMS)) {
        assert_eq!(record["arm"], arm.name, "in the order that was asked for");
        assert_eq!(record["digest"], records[0]["digest"], "{}", arm.name);
        assert_eq!(record["metrics"]["hold_ms"], 20.0);
        assert!(record["metrics"]["reads_count"].is_f64() && record.get("error").is_none(), "{record}");
    }
    for record in &records[ARMS.len()..] {
        let metrics = &record["metrics"];
        // 100 per second for 0.2 s, to each of two databases; of each database 7 writes, because its writer pauses for 5 ms.
        assert_eq!([&metrics["scheduled_reads_count"], &metrics["expected_writes_count"]], [40.0, 14.0]);
        assert_eq!([&metrics["answered_percent"], &metrics["unanswered_count"]], [100.0, 0.0]);
        assert!(metrics["response_avg_ms"].as_f64() >= metrics["read_avg_ms"].as_f64());
    }
    compare(&folder, &["--arm", "direct", "--seed", "4", "--record", "other.jsonl"]);
    assert_ne!(self::records(&folder, "other.jsonl")[0]["digest"], records[0]["digest"], "another seed, other content");
}

#[test]
fn the_tables_have_the_headings_of_the_document_and_fit_the_screen() {
    // What is given twice is run once.
    let text = compare(&folder(), &["--holds", "10ms,20ms"]);
    for title in [
        "READ THROUGHPUT (requests)",
        "WRITE THROUGHPUT (operations)",
        "P99 READ LATENCY (ms)",
        "MAX READ LATENCY (ms)",
        "AVERAGE READ LATENCY (ms)",
    ] {
        let rows = table(&text, title);
        assert_eq!(rows.len(), 2, "{title}");
        assert!(rows[0].starts_with("| **20ms** ") && rows[1].starts_with("| **10ms** "), "{title}: {rows:?}");
    }
    let heading = text.lines().find(|line| line.contains("Best Improvement")).expect("a heading");
    let words: Vec<&str> = heading.split('|').map(str::trim).filter(|word| !word.is_empty()).collect();
    let published =
        ["Write Delay", "Direct Blocking", "spawn_blocking", "tokio-rusqlite", "WAL pool", "Best Improvement"];
    assert_eq!(words, published);
    assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
}

#[test]
fn without_a_terminal_each_run_is_a_line_on_standard_error_and_no_database_is_left() {
    let folder = folder();
    fs::create_dir(folder.path().join("here")).expect("made");
    let arms = ["--arm", "spawn_blocking", "--arm", "wal_threads,spawn_blocking", "--directory", "here"];
    let assert =
        sqlite_bench(&folder).arg("compare").args(SHORT).args(["--holds", "0ms"]).args(arms).assert().success();
    let lines = ["spawn_blocking, 20ms", "wal_threads, 20ms", "spawn_blocking, 0ns", "wal_threads, 0ns", ""];
    let assert = assert.stderr(lines.join(": done\n"));
    let last = table(&String::from_utf8_lossy(&assert.get_output().stdout), "WRITE THROUGHPUT (operations)").pop();
    assert!(last.expect("a row").starts_with("| **none** "));
    assert_eq!(fs::read_dir(folder.path().join("here")).expect("a folder").count(), 0);
}

#[test]
fn nonsense_is_refused_before_anything_runs() {
    for (arguments, part) in [
        ("--rate 0", "--rate 0 is no rate"),
        ("--rate=-1", "--rate -1 is no rate"),
        ("--rate NaN", "--rate NaN is no rate"),
        ("--rate 1e12", "at most 1,000,000"),
        ("--rate 1 --duration 200ms", "schedules no read"),
        ("--holds 2min,61min", "--holds 3660s is too long"),
        ("--think 61min", "--think 3660s is too long"),
        ("--duration 61min", "--duration 3660s is too long"),
        ("--duration 0s", "--duration must be longer"),
        ("--databases 1000 --readers 4", "--databases x (--readers + 1) is 5000: at most 4000"),
        ("--directory absent", "absent"),
        ("--directory file", "file"),
        ("--directory /proc", "/proc"),
        ("--record absent/r.jsonl", "absent/r.jsonl"),
    ] {
        let folder = folder();
        fs::write(folder.path().join("file"), "").expect("written");
        let assert =
            sqlite_bench(&folder).args(["compare", "--arm", "wal_threads"]).args(arguments.split(' ')).assert();
        assert.code(2).stdout("").stderr(one_line(part));
    }
    for given in
        ["--databases=0", "--readers=0", "--readers=1001", "--workers=0", "--holds=", "--holds=100", "--holds=-1s"]
            .into_iter()
            .chain(["--think=fast", "--rate=x", "--arm="])
    {
        let (flag, _) = given.split_once('=').expect("a value");
        let assert = sqlite_bench(&folder()).args(["compare", given]).assert();
        assert.code(2).stdout("").stderr(predicate::str::starts_with("error: ").and(predicate::str::contains(flag)));
    }
}

#[test]
fn a_failed_operation_is_a_failure_and_not_a_time() {
    let folder = folder();
    // No file may grow beyond a mebibyte, as if the disk were full: writes fail after a while.
    let script = "trap '' XFSZ; ulimit -f 2048; exec \"$0\" compare --arm wal_threads,direct \
                  --holds 1ms --duration 600ms --databases 1 --record full.jsonl";
    let full = Process::new("sh").args(["-c", script]).arg(cargo_bin("sqlite_bench")).current_dir(&folder).output();
    let full = full.expect("it ran");
    let text = String::from_utf8_lossy(&full.stdout);
    assert_eq!(full.status.code(), Some(1), "{text}");
    assert!(text.contains("- WAL pool, 1ms: ") && text.contains(" writes failed: the commit failed"), "{text}");
    let records = records(&folder, "full.jsonl");
    assert!(records[0]["error"].as_str().expect("a failure").contains("writes failed"));
    assert_eq!((&records[0]["metrics"], &records[0]["digest"]), (&Value::Object(serde_json::Map::new()), &"".into()));
    assert!(records[1]["metrics"]["reads_count"].as_f64() > Some(0.0), "the others are run nevertheless");
}

#[test]
fn every_word_explains_itself_with_examples() {
    for word in [vec![], vec!["compare"], vec!["describe"]] {
        let narrow = predicate::function(|text: &str| text.lines().all(|line| line.chars().count() <= 145));
        let assert = sqlite_bench(&folder()).args(&word).arg("--help").assert().success();
        assert.stdout(predicate::str::contains("Examples:\n  sqlite_bench").and(narrow));
    }
    sqlite_bench(&folder()).arg("--version").assert().success().stdout(predicate::str::starts_with("sqlite_bench "));
}

#[test]
fn describe_has_a_line_for_every_arm_and_an_unknown_one_lists_them() {
    let lines = predicate::function(|text: &str| {
        text.lines().count() == ARMS.len()
            && text.lines().zip(&ARMS).all(|(line, arm)| line.starts_with(arm.name) && line.ends_with(arm.text))
    });
    sqlite_bench(&folder()).arg("describe").assert().success().stderr("").stdout(lines);
    let every = predicate::function(|text: &str| ARMS.iter().all(|arm| text.contains(arm.name)));
    let assert = sqlite_bench(&folder()).args(["compare", "--arm", "direct,x"]).assert();
    assert.code(2).stdout("").stderr(every.and(predicate::str::contains("unknown arm 'x'")));
    let unknown = predicate::str::contains("unrecognized subcommand");
    sqlite_bench(&folder()).arg("x").assert().code(2).stdout("").stderr(unknown);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_ends_quietly_and_a_full_disk_does_not() {
    let program = cargo_bin("sqlite_bench");
    let compare = "compare --arm direct --holds 1ms --duration 10ms --databases 1 --readers 1 2>&3";
    for words in ["describe", compare] {
        // The reader is gone before the first line.
        let script = format!("exec 3>/dev/null; {{ sleep 0.1; \"$0\" {words}; echo $? >&2; }} | true");
        let piped = Process::new("sh").args(["-c", &script]).arg(&program).output().expect("it ran");
        assert_eq!(String::from_utf8_lossy(&piped.stderr), "0\n", "{words}");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let describe = Process::new(&program).arg("describe").stdout(full).stderr(Stdio::piped()).output().expect("it ran");
    assert_eq!(describe.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&describe.stderr).starts_with("error: cannot write to standard output: "));
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_closed_from_the_start_is_an_error_of_every_command_and_nothing_is_measured_in_vain() {
    let compare = format!("compare --record r.jsonl {}", SHORT.join(" "));
    for words in ["", &compare, "describe", "--version", "--help", "compare --help"] {
        let folder = folder();
        let script = format!("exec \"$0\" {words} >&-");
        let closed =
            Process::new("sh").args(["-c", &script]).arg(cargo_bin("sqlite_bench")).current_dir(&folder).output();
        let closed = closed.expect("it ran");
        assert_eq!(closed.status.code(), Some(2), "{words}");
        let said = String::from_utf8_lossy(&closed.stderr);
        assert_eq!(said, "error: cannot write to standard output: it is closed\n", "{words}");
        assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0, "{words}");
    }
    // Nobody misses what goes to /dev/null, nor a standard input or error that is closed.
    for closed in [">/dev/null", "<&-", "2>&-"] {
        let script = format!("exec \"$0\" describe {closed}");
        let status =
            Process::new("sh").args(["-c", &script]).arg(cargo_bin("sqlite_bench")).stdout(Stdio::null()).status();
        assert_eq!(status.expect("it ran").code(), Some(0), "{closed}");
    }
}
