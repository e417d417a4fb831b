//! Faults of the system, put between a program and what it calls.

use std::process::Command;

use tempfile::TempDir;

/// The faults that `faults.c` can make, built in a folder of their own.
pub struct Faults(TempDir);

impl Faults {
    pub fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/faults.c");
        let library = folder.path().join("faults.so");
        let output =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(library).args([source, "-ldl"]).output();
        let output = output.expect("there is a C compiler, which two dependencies need, too");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Faults(folder)
    }

    /// Has a program meet faults, as the variables say.
    pub fn befall<'a>(&self, command: &'a mut Command, variables: &[(&str, &str)]) -> &'a mut Command {
        command.env("LD_PRELOAD", self.0.path().join("faults.so")).envs(variables.iter().copied())
    }
}
