//! `cargo run` against the program that it runs: the published times are of the former.

use std::path::Path;
use std::process::{Command, Stdio};

use study_kit::{Error, file_error};

/// Starts this program's verb `time` through cargo, or directly, and waits for it.
///
/// # Errors
/// If it cannot be started or fails.
pub fn run(through_cargo: bool, tasks: usize, len: usize) -> Result<(), Error> {
    let mut command = if through_cargo {
        let mut command = cargo("run");
        command.arg("--");
        command
    } else {
        Command::new(std::env::current_exe().map_err(|source| file_error("find", Path::new("this program"), source))?)
    };
    let (tasks, len) = (tasks.to_string(), len.to_string());
    finish(command.args(["time", "--threads", "1", "--tasks", &tasks, "--len", &len]))
}

/// Builds what `cargo run` would build otherwise.
///
/// # Errors
/// If cargo cannot.
pub fn prepare() -> Result<(), Error> {
    finish(&mut cargo("build"))
}

/// The published call, without optimisation; quiet, because a terminal costs time of its own.
fn cargo(verb: &str) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.arg(verb).args(["--quiet", "--locked", "--bin", "sqrt_tasks", "--manifest-path"]);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    command
}

fn finish(command: &mut Command) -> Result<(), Error> {
    let program = Path::new(command.get_program()).to_owned();
    let failed = |source| file_error("run", &program, source);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(failed(std::io::Error::other(status.to_string()))) }
}
