//! The program as a person types it.

#![cfg(feature = "cli")]

use std::collections::HashMap;
use std::fs;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
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

fn compare(folder: &TempDir, arguments: &[&str]) -> String {
    let assert = sqlite_bench(folder).arg("compare").args(SHORT).args(arguments).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).expect("text")
}

/// The rows of the table with this title.
fn table(text: &str, title: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| *line != format!("### {title}")).skip(4);
    lines.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

/// The cells of a row of the table of what the document leaves out, by heading.
fn responses(text: &str) -> Vec<HashMap<String, String>> {
    let lines = text.lines().skip_while(|line| *line != "### WHAT THE DOCUMENT LEAVES OUT").skip(2);
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut rows = lines.take_while(|line| line.starts_with('|')).map(cells);
    let heading = rows.next().expect("a heading");
    rows.skip(1).map(|row| heading.iter().cloned().zip(row).collect()).collect()
}

#[test]
fn every_arm_answers_every_read_in_both_loops() {
    let folder = folder();
    let every = ARMS.each_ref().map(|arm| arm.name).join(",");
    for text in [compare(&folder, &["--arm", &every]), compare(&folder, &["--rate", "100"])] {
        let rows = responses(&text);
        assert!(rows.iter().map(|row| &row["Design"]).eq(ARMS.iter().map(|arm| arm.title)), "in this order: {text}");
        // What is scheduled and not answered has failed.
        for row in rows {
            assert_eq!((&*row["Write Delay"], &*row["Failed"]), ("**20ms**", "0"), "{row:?}");
            assert!(row["Avg ms"].parse::<f64>().is_ok_and(|time| time > 0.0), "{row:?}");
        }
    }
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
    let heading = text.lines().find(|line| line.starts_with("| Write Delay")).expect("a heading");
    let words: Vec<&str> = heading.split('|').map(str::trim).filter(|word| !word.is_empty()).collect();
    assert_eq!(words, ["Write Delay", "Direct Blocking", "spawn_blocking", "tokio-rusqlite", "WAL pool"]);
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
        ("--rate 0", "--rate 0 schedules 0 reads in 2.05s"),
        ("--rate=-1", "--rate -1 schedules"),
        ("--rate NaN", "--rate NaN schedules"),
        ("--rate 1e12", "it takes 1 to 1,000,000"),
        ("--rate 1 --duration 200ms", "--rate 1 schedules 0 reads in 200ms"),
        ("--holds 2min,61min", "--holds 3660s is too long"),
        ("--think 61min", "--think 3660s is too long"),
        ("--duration 61min", "--duration 3660s is too long"),
        ("--duration 0s", "--duration must be longer"),
        ("--databases 1000 --readers 4", "--databases x (--readers + 1) is 5000: at most 4000"),
        ("--directory absent", "absent"),
        ("--directory file", "file"),
        ("--directory /proc", "/proc"),
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
                  --holds 1ms --duration 600ms --databases 1";
    let full = Process::new("sh").args(["-c", script]).arg(cargo_bin("sqlite_bench")).current_dir(&folder).output();
    let full = full.expect("it ran");
    let text = String::from_utf8_lossy(&full.stdout);
    assert_eq!(full.status.code(), Some(1), "{text}");
    assert!(text.contains("- WAL pool, 1ms: ") && text.contains(" writes failed: the commit failed"), "{text}");
    let rows = table(&text, "READ THROUGHPUT (requests)");
    assert!(rows[0].contains(" ! |") && !rows[0].ends_with(" ! |"), "the other arm is run nevertheless: {rows:?}");
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
    let compare = format!("compare --directory . {}", SHORT.join(" "));
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
