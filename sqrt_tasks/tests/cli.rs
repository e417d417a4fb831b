//! The programs as a person types them.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_match, starts_with};
use sqrt_tasks::executor::Executor;
use strum::VariantArray as _;

fn sqrt_tasks(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqrt_tasks"));
    command.args(arguments.split_whitespace());
    command
}

#[test]
fn the_published_programs_say_what_their_tasks_cost() {
    for (program, threads) in [
        (env!("CARGO_BIN_EXE_sys_thread"), "3 threads"),
        (env!("CARGO_BIN_EXE_async_await"), "the calling thread"),
        (env!("CARGO_BIN_EXE_tokio"), "3 threads"),
    ] {
        let cost = r"real \d+\.\d{3} s, user \d+\.\d{3} s, system \d+\.\d{3} s, \d+ page faults";
        let line = is_match(format!(r"^5 tasks on {threads}: {cost}\n$")).unwrap();
        let mut command = Command::new(program);
        command.args(["--tasks", "5", "--threads", "3", "--len", "1000"]).assert().success().stdout(line).stderr("");
    }
}

#[test]
fn what_means_nothing_is_refused_in_words() {
    for (arguments, why) in [
        ("time --threads 0", "--threads"),
        ("time --tasks many", "--tasks"),
        ("time --executor green_threads", "possible values: sys_thread, async_await, tokio"),
        ("time --work sleep", "possible values: null"),
    ] {
        sqrt_tasks(arguments).assert().code(2).stderr(contains(why));
    }
}

/// What the shell does with `redirection` and a program.
#[cfg(unix)]
fn redirected(program: &str, arguments: &str, redirection: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec \"$0\" {arguments} {redirection}"), program]);
    command
}

#[test]
#[cfg(unix)]
fn output_that_cannot_be_written_is_a_failure_of_every_program_and_command() {
    let sqrt_tasks = ["time --tasks 1 --len 10", "cpu", "--help", "time --help", "--version"];
    let calls = sqrt_tasks.map(|arguments| (env!("CARGO_BIN_EXE_sqrt_tasks"), arguments)).into_iter().chain(
        [env!("CARGO_BIN_EXE_sys_thread"), env!("CARGO_BIN_EXE_async_await"), env!("CARGO_BIN_EXE_tokio")]
            .into_iter()
            .flat_map(|program| [(program, "--tasks 1 --len 10"), (program, "--help")]),
    );
    for (program, arguments) in calls {
        let mut ways = vec![(">&-", "it is closed")];
        if cfg!(target_os = "linux") {
            ways.push((">/dev/full", "No space left on device"));
        }
        for (redirection, why) in ways {
            redirected(program, arguments, redirection)
                .assert()
                .code(2)
                .stderr(starts_with("error: cannot write to standard output: ").and(contains(why)));
        }
        redirected(program, arguments, ">/dev/null").assert().success().stderr("");
        redirected(program, arguments, "1<>/dev/null").assert().success().stderr("");
    }
}

#[test]
fn every_executor_and_work_can_be_timed() {
    for executor in ["rayon", "thread_per_task", "spawn_blocking", "tokio_inside"] {
        for work in ["null", "vector", "collect", "sum"] {
            sqrt_tasks(&format!("time --executor {executor} --work {work} --tasks 4 --threads 2 --len 40000"))
                .assert()
                .success()
                .stdout(starts_with("4 tasks on "));
        }
    }
    for (words, part) in [
        ("time --tasks 18446744073709551615 --work null", "--tasks"),
        ("time --threads 18446744073709551615", "--threads"),
        ("time --threads 0", "--threads"),
        ("time --len 1000000000000000000", "no memory"),
    ] {
        sqrt_tasks(words).assert().code(2).stdout("").stderr(contains(part));
    }
    sqrt_tasks("time --tasks 0").assert().success().stdout(starts_with("0 tasks on "));
}

#[test]
#[cfg(target_os = "linux")]
fn threads_that_cannot_be_started_are_an_error_in_one_line() {
    for executor in Executor::VARIANTS.iter().filter(|of| !matches!(of, Executor::AsyncAwait | Executor::SpawnBlocking))
    {
        sqrt_tasks(&format!("time --executor {executor} --work null --tasks 20 --threads 3"))
            // A stack of 64 TiB fits no address space.
            .env("RUST_MIN_STACK", "70368744177664")
            .timeout(std::time::Duration::from_mins(1))
            .assert()
            .code(2)
            .stdout("")
            .stderr(is_match("^error: cannot start the threads: [^\n]+\n$").unwrap());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_clock_of_cores_that_not_all_get_a_thread_is_unknown() {
    let mut command = Command::new("sh");
    // There is room for one such stack.
    command.args(["-c", "ulimit -v 1000000; exec \"$0\" cpu", env!("CARGO_BIN_EXE_sqrt_tasks")]);
    let unknown = is_match(r"^cores: 1 |\nclock, all cores busy: unknown\n").unwrap();
    command.env("RUST_MIN_STACK", "600000000").timeout(std::time::Duration::from_mins(1)).assert().stdout(unknown);
}

#[test]
fn the_processor_is_described() {
    let clock = is_match(r"clock, all cores busy: (\d\.\d{3} GHz|unknown)\n").unwrap();
    sqrt_tasks("cpu")
        .assert()
        .success()
        .stdout(contains("cores: ").and(clock).and(contains("divider, per square root: ")));
}
