//! What each command does: streams at the edge, the library for the rest.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Error;

use sqrt_tasks::cpu::{self, Cores};
use sqrt_tasks::kernel::Level;
use sqrt_tasks::mirror::{self, Options};
use sqrt_tasks::study::{self, overview};
use study_kit::output::{self, print};

use crate::cli::{Command, Timing};

/// Carries out `command`.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Time(timing) => return time(&timing),
        Command::Cpu => print(&describe_cpu())?,
        Command::Study(verb) => {
            return verb.carry_out(study::cases, |scenario, _| study::prepare(scenario), study::run);
        }
        Command::Overview => print(&overview::tables()?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn time(timing: &Timing) -> Result<ExitCode, Error> {
    let &Timing { executor, work, tasks, threads, len } = timing;
    let threads = threads.unwrap_or_else(|| study::scenario::Threads::Cores.count());
    match mirror::run(executor, work, Options { tasks, threads, len }) {
        Ok(line) => print(&format!("{line}\n"))?,
        Err(failure) => {
            output::report("sqrt_tasks", &failure);
            return Ok(failure.code());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe_cpu() -> String {
    let cores = Cores::here();
    let unknown = || "unknown".to_owned();
    let hz = |threads| cpu::frequency_hz(threads).map_or_else(unknown, |hz| format!("{:.3} GHz", hz / 1e9));
    let mut text = format!("cores: {} (hardware threads: {})\n", cores.physical, cores.threads);
    let _ = writeln!(text, "clock, one thread busy: {}", hz(1));
    let _ = writeln!(text, "clock, all cores busy: {}", hz(cores.physical));
    let cycles = cpu::cycles_per_root().map_or_else(unknown, |cycles| format!("{cycles} cycles"));
    let _ = writeln!(text, "divider, per square root: {cycles}");
    let _ = writeln!(text, "vectors: {}", Level::best().name());
    text
}
