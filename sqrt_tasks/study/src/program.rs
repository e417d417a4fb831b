//! `cargo run` against the program that it runs: the published times are of the former.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

const CRATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Starts the crate's program through cargo, or directly, and waits for it.
pub fn run(through_cargo: bool) -> Result<()> {
    let mut command = if through_cargo { cargo("run") } else { Command::new(target().join("debug/sqrt_tasks")) };
    if through_cargo {
        command.arg("--");
    }
    finish(command.args(["time", "--threads", "1", "--tasks", "1"]))
}

/// Builds what `cargo run` would build otherwise.
pub fn prepare() -> Result<()> {
    finish(&mut cargo("build"))
}

/// The published call, without optimisation; quiet, because a terminal costs time of its own.
fn cargo(verb: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg(verb).args(["--quiet", "--locked", "--bin", "sqrt_tasks", "--target-dir"]).arg(target());
    command.arg("--manifest-path").arg(Path::new(CRATE).join("Cargo.toml"));
    command
}

/// Where cargo puts what it builds: as it is told, else below the root of the repository.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new(CRATE).join("../target"), PathBuf::from)
}

fn finish(command: &mut Command) -> Result<()> {
    let program = command.get_program().display().to_string();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot run {program}"))?;
    ensure!(status.success(), "{program}: {status}");
    Ok(())
}
