//! Cores are those that the process may use, not those of the machine.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

mod support;

fn program(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqrt_tasks"));
    command.args(arguments.split(' '));
    command
}

fn said(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs `command` on one of the processors that this process may use.
fn on_one_processor(mut command: Command) -> Output {
    // The affinity of a thread is that of the processes it starts.
    let run = move || {
        let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let mut one = CpuSet::new();
        one.set((0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap()).unwrap()).unwrap();
        sched_setaffinity(Pid::from_raw(0), &one).unwrap();
        command.output().unwrap()
    };
    std::thread::spawn(run).join().unwrap()
}

#[test]
fn affinity_limits_the_cores() {
    let cpu = said(on_one_processor(program("cpu")));
    assert!(cpu.starts_with("cores: 1 (hardware threads: 1)\n"), "{cpu}");
    let time = said(on_one_processor(program("time --work null")));
    assert!(time.starts_with("8 tasks on 1 thread:"), "{time}");
}

#[test]
fn a_quota_limits_the_cores() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("a_quota_limits_the_cores");
    for cpu_max in ["20000 100000\n", "100000 100000\n", "150000 100000\n"] {
        let cpu = said(support::within_quota(program("cpu"), cpu_max, &folder));
        assert!(cpu.starts_with("cores: 1 (hardware threads: 1)\n"), "{cpu_max} {cpu}");
    }
    let time = said(support::within_quota(program("time --work null"), "100000 100000\n", &folder));
    assert!(time.starts_with("8 tasks on 1 thread:"), "{time}");
    let all = std::thread::available_parallelism().unwrap();
    let cpu = said(support::within_quota(program("cpu"), "max 100000\n", &folder));
    assert!(cpu.contains(&format!("(hardware threads: {all})\n")), "{cpu}");
}
