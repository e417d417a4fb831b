//! The command line as a person types it: what is printed where, and how it exits.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command as Process, Output, Stdio};

use assert_cmd::Command;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use predicates::prelude::*;
use tempfile::TempDir;

mod bad_input;
mod long_lines;
mod processing;
mod session;
mod stress;

const HEADER: &str = "type,client,tx,amount\n";
const PAYMENTS: &str = "type,client,tx,amount
deposit,1,1,5
deposit,2,2,7.25
withdrawal,1,3,1.5
";
const ACCOUNTS: &str = "client,available,held,total,locked
1,3.5000,0.0000,3.5000,false
2,7.2500,0.0000,7.2500,false
";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder can be made"))
    }

    fn with(name: &str, text: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, text);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("a temporary file can be written");
    }

    /// `txn_engine` with what is typed after it, words separated by spaces.
    fn txn_engine(&self, typed: &str) -> Command {
        let mut command = cargo_bin_cmd!("txn_engine");
        command.current_dir(self.0.path()).args(typed.split_whitespace());
        command
    }

    /// The same, running; standard input and stderr are piped.
    fn spawn(&self, typed: &str, stdout: impl Into<Stdio>) -> Child {
        let mut process = Process::new(cargo_bin!("txn_engine"));
        process.current_dir(self.0.path()).args(typed.split_whitespace());
        process.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
        process.spawn().expect("the program can be started")
    }
}

/// A file in which each of these clients has 1.
fn deposits(clients: Range<u32>) -> String {
    clients.fold(HEADER.to_owned(), |text, client| text + &format!("deposit,{client},{client},1\n"))
}

/// The exit code of a program once its input is closed, and what it printed and said.
fn outcome(child: Child) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the program ends");
    let [stdout, stderr] = [stdout, stderr].map(|output| String::from_utf8(output).expect("the output is text"));
    (status.code(), stdout, stderr)
}

fn one_line() -> impl Predicate<str> {
    predicate::function(|text: &str| text.ends_with('\n') && text.lines().count() == 1)
}

fn stdout_of(command: &mut Command) -> String {
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("the output is text")
}
