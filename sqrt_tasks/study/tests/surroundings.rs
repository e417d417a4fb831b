//! What the program makes of how it was started: fewer processors than the machine has, output that cannot be written.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;
use predicates::str::{contains, starts_with};

#[path = "../../tests/support/mod.rs"]
mod support;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sqrt_tasks_study");

fn probe() -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("probe");
    command
}

#[test]
fn the_probe_counts_the_processors_that_the_process_may_use() {
    // The affinity of a thread is that of the processes it starts.
    let on_one = std::thread::spawn(|| study_kit::probe::stay_here().map(|()| probe().output().unwrap()));
    on_one.join().unwrap().unwrap().assert().success().stdout(starts_with("cpu_count\t1\t\ncore_count\t1\t\n"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("the_probe_counts_the_processors");
    let limited = support::within_quota(probe(), "100000 100000\n", &folder);
    limited.assert().success().stdout(starts_with("cpu_count\t1\t\ncore_count\t1\t\n"));
    let all = std::thread::available_parallelism().unwrap();
    probe().assert().success().stdout(starts_with(format!("cpu_count\t{all}\t\n")));
}

/// The program as a shell starts it.
fn redirected(words: &str) -> assert_cmd::assert::Assert {
    Command::new("sh").args(["-c", &format!("exec \"$0\" {words}"), PROGRAM]).assert()
}

#[test]
fn output_that_cannot_be_written_is_a_failure_of_every_verb() {
    let verbs = [
        "",
        "arms",
        "arms --profile smoke",
        "probe",
        "originals",
        "run --scenario null_1k --arm rayon",
        "run --scenario half_1 --arm sys_thread_1 --versus sys_thread_1@aa",
        "--help",
        "run --help",
    ];
    for verb in verbs {
        let said = redirected(&format!("{verb} >&-")).code(2).get_output().stderr.clone();
        assert_eq!(
            String::from_utf8(said).unwrap(),
            "error: cannot write to standard output: it is closed\n",
            "{verb}"
        );
        // Without a verb all cases are run first; no original is listed, and nothing is written.
        if !["", "originals"].contains(&verb) {
            redirected(&format!("{verb} >/dev/full"))
                .code(2)
                .stderr(contains("cannot write to standard output: No space left on device"));
        }
    }
}

#[test]
fn what_prints_nothing_needs_no_output() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("what_prints_nothing.jsonl");
    let _ = std::fs::remove_file(&file);
    redirected("prepare --scenario null_1k >&-").success().stderr("");
    redirected(&format!("run --scenario null_1k --arm rayon --record '{}' >&-", file.display())).success().stderr("");
    assert!(predicate::str::ends_with("}\n").eval(&std::fs::read_to_string(&file).unwrap()));
    redirected("probe 1<>/dev/null").success().stderr("");
    redirected("probe | true").success().stderr("");
}
