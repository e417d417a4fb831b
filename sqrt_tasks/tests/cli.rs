//! The programs as a person types them.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_match, starts_with};

fn program(name: &str) -> Command {
    Command::new(match name {
        "sys_thread" => env!("CARGO_BIN_EXE_sys_thread"),
        "async_await" => env!("CARGO_BIN_EXE_async_await"),
        "tokio" => env!("CARGO_BIN_EXE_tokio"),
        _ => env!("CARGO_BIN_EXE_sqrt_tasks"),
    })
}

fn sqrt_tasks(arguments: &str) -> Command {
    let mut command = program("sqrt_tasks");
    command.args(arguments.split_whitespace());
    command
}

#[test]
fn the_published_programs_say_what_their_tasks_cost() {
    for (name, threads) in [("sys_thread", "3 threads"), ("async_await", "the calling thread"), ("tokio", "3 threads")]
    {
        let line = format!(
            r"^5 tasks on {threads}: real \d+\.\d{{3}} s, user \d+\.\d{{3}} s, system \d+\.\d{{3}} s, \d+ page faults\n$"
        );
        program(name)
            .args(["--tasks", "5", "--threads", "3", "--len", "1000"])
            .assert()
            .success()
            .stdout(is_match(line).unwrap())
            .stderr("");
    }
}

#[test]
fn no_threads_are_refused_in_words() {
    program("sys_thread").args(["--threads", "0"]).assert().code(2).stderr(contains("--threads"));
    sqrt_tasks("time --tasks many").assert().code(2).stderr(contains("--tasks"));
    sqrt_tasks("time --executor green_threads")
        .assert()
        .code(2)
        .stderr(contains("possible values: sys_thread, async_await, tokio"));
    sqrt_tasks("time --work sleep").assert().code(2).stderr(contains("possible values: null"));
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
    sqrt_tasks("time --tasks 0").assert().success().stdout(starts_with("0 tasks on "));
}

#[test]
#[cfg(target_os = "linux")]
fn threads_that_cannot_be_started_are_an_error_in_one_line() {
    // tokio is left out: when it cannot start a thread it panics and then waits for ever.
    for executor in ["sys_thread", "static_split", "atomic_counter", "thread_per_task", "rayon", "rayon_spawn"] {
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
fn the_processor_is_described() {
    sqrt_tasks("cpu").assert().success().stdout(contains("cores: ").and(contains("divider, per square root: ")));
}
