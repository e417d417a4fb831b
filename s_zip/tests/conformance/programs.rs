//! Other programs: found, run, and their answers compared.

use std::env;
use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// Where a program is, by the first of its names on PATH. `None`, said aloud, if there is none.
///
/// # Panics
/// Instead of `None` if the environment has CI=true, where a skip would hide a failure.
pub fn find(names: &[&str], package: &str) -> Option<PathBuf> {
    let folders: Vec<_> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let on_path = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    let found = names.iter().find_map(on_path);
    if found.is_none() {
        let name = names[0];
        assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{name} is missing (apt-get install {package})");
        // Not `eprintln!`: the harness would keep it to itself.
        let _ = writeln!(std::io::stderr(), "skipped: {name} is missing (apt-get install {package})");
    }
    found
}

/// What a run left behind.
pub struct Outcome {
    pub success: bool,
    pub stdout: Vec<u8>,
    /// Both outputs and the exit status, to be shown.
    pub story: String,
}

impl Outcome {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Runs a program with `input` in a pipe, in an environment that leaves it no choice of language, time zone or options.
///
/// # Panics
/// If it cannot be started.
pub fn run(program: &Path, arguments: &[&str], input: &[u8]) -> Outcome {
    let mut command = Command::new(program);
    command.envs([("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "")]);
    for name in ["UNZIP", "UNZIPOPT", "ZIP", "ZIPOPT", "ZIPINFO", "JAVA_TOOL_OPTIONS", "PYTHONPATH"] {
        command.env_remove(name);
    }
    // It may stop reading at the directory, which is no failure; what it made of the data is compared.
    let output = command.args(arguments).write_stdin(input).output().unwrap();
    let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).trim().replace('\n', "\n    ");
    let story = format!("{}\n    {}\n    {}", output.status, shown(&output.stderr), shown(&output.stdout));
    Outcome { success: output.status.success(), stdout: output.stdout, story }
}

/// Compares two lists and tells the first difference.
///
/// # Panics
/// If they differ.
pub fn assert_same<T: PartialEq + Debug>(got: &[T], wanted: &[T], what: &str) {
    let first = got.iter().zip(wanted).position(|(got, wanted)| got != wanted);
    let at = first.unwrap_or(got.len().min(wanted.len()));
    let counts = format!("{} of {}", got.len(), wanted.len());
    assert!(got == wanted, "{what}: number {at} is {:?}, not {:?} ({counts})", got.get(at), wanted.get(at));
}
