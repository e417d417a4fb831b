//! The program as a person types it and as other programs meet it: by files and streams, over TCP, by signals and by exit codes.

mod answers;
mod bad_input;
mod client;
mod closed;
mod ending;
#[cfg(target_os = "linux")]
mod faults;
mod hostile;
mod limits;
mod load;
mod long_lines;
mod processing;
mod rows;
mod session;
mod sharing;
mod stress;

use std::fs;
use std::io::{BufRead, BufReader, Read, pipe};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use predicates::prelude::*;
use tempfile::TempDir;

use txn_engine::accounts;
use txn_engine::session::Session;

use client::Client;

/// What has not happened within this will not happen: no right answer takes nearly as long, even on a slow and busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Every mode that applies rows, as it is typed. The pool has a thread for all connections that any of these tests opens at once.
const MODES: [&str; 4] = ["--mode threads", "--mode pool --pool 40", "--mode tokio", "--mode tokio_current"];

/// `txn_engine` with what is typed after it, words separated by spaces.
fn txn_engine(typed: &str) -> Command {
    txn_engine_after("", typed)
}

/// The same from a shell that has done `first` before: set its limits.
fn txn_engine_after(first: &str, typed: &str) -> Command {
    // Shown if the test fails.
    eprintln!("{first} txn_engine {typed}");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{first}\nexec \"$0\" {typed}")]).arg(cargo_bin!("txn_engine"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

const PAYMENTS: &str = "type,client,tx,amount
deposit,1,1,5
deposit,2,2,7.25
withdrawal,1,3,1.5
";
const ACCOUNTS: &str = "client,available,held,total,locked
1,3.5000,0.0000,3.5000,false
2,7.2500,0.0000,7.2500,false
";

/// A folder to work in.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder can be made"))
    }

    /// One in memory, where the system has that: a sync costs nothing there, and files have the same numbers for everybody.
    fn in_memory() -> Self {
        TempDir::new_in("/dev/shm").map_or_else(|_| Self::new(), Self)
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

    fn txn_engine(&self, typed: &str) -> assert_cmd::Command {
        let mut command = cargo_bin_cmd!("txn_engine");
        command.current_dir(self.0.path()).args(typed.split_whitespace());
        command
    }

    /// The same, running, with its standard input open.
    fn spawn(&self, typed: &str, stdout: impl Into<Stdio>) -> Running {
        let mut command = txn_engine(typed);
        command.current_dir(self.0.path()).stdin(Stdio::piped()).stdout(stdout);
        Running::start(command)
    }
}

/// One account, and one row that is rejected.
const REPEATED: &str = "type,client,tx,amount\ndeposit,1,1,1\ndeposit,1,1,1\n";

/// A pipe whose reader has hung up.
fn nobody() -> Stdio {
    let (_, writer) = pipe().expect("there are file descriptors");
    writer.into()
}

fn one_line() -> impl Predicate<str> {
    predicate::function(|text: &str| text.ends_with('\n') && text.lines().count() == 1)
}

fn stdout_of(command: &mut assert_cmd::Command) -> String {
    let output = command.assert().success().get_output().stdout.clone();
    String::from_utf8(output).expect("the output is text")
}

/// The exit code of a program that ends by itself, and what it prints on standard output and on stderr.
fn run(command: Command) -> (Option<i32>, String, String) {
    Running::start(command).outcome()
}

/// Checks that the program says why it cannot do it, in one line with these words.
fn assert_one_line(command: Command, words: &[&str]) {
    let (code, printed, said) = run(command);
    assert_eq!((code, printed.as_str(), said.lines().count()), (Some(2), "", 1), "{said}");
    assert!(words.iter().all(|word| said.contains(word)) && !said.contains("panicked"), "{said}");
}

fn text_of(output: Option<impl Read>) -> String {
    let mut text = String::new();
    output.map(|mut output| output.read_to_string(&mut text).expect("the output is text"));
    text
}

/// A program that runs, and is killed if nobody waits for its end: also when a test fails.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Self {
        Running(command.spawn().expect("the program can be started"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// A value of its status; 0 where the system does not tell.
    fn status(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).expect("process ids fit");
        kill(Pid::from_raw(pid), signal).expect("the program is there");
    }

    fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        wait_for("the end of the program", || {
            status = self.0.try_wait().expect("it is a child of ours");
            status.is_some()
        });
        status.expect("it has ended")
    }

    fn outcome(mut self) -> (Option<i32>, String, String) {
        drop(self.0.stdin.take());
        let code = self.wait().code();
        (code, text_of(self.0.stdout.take()), text_of(self.0.stderr.take()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended; either is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running server, which dumps to the folder `session` of its own folder when it ends.
struct Server {
    running: Running,
    address: SocketAddr,
    /// Closed if it is taken.
    stdout: Option<BufReader<ChildStdout>>,
    stderr: BufReader<ChildStderr>,
    folder: Folder,
}

impl Server {
    fn start(typed: &str) -> Self {
        Self::start_in(Folder::new(), typed)
    }

    /// One after the other.
    fn in_every_mode(typed: &str) -> impl Iterator<Item = Self> {
        MODES.iter().map(move |mode| Self::start(&format!("{mode} {typed}")))
    }

    fn start_in(folder: Folder, typed: &str) -> Self {
        Self::start_command(folder, txn_engine(&Self::typed(typed)))
    }

    fn typed(typed: &str) -> String {
        format!("serve --addr 127.0.0.1:0 --dump session {typed}")
    }

    fn start_command(folder: Folder, mut command: Command) -> Self {
        command.current_dir(&folder.0);
        let mut running = Running::start(command);
        let mut stderr = BufReader::new(running.0.stderr.take().expect("it is piped"));
        let mut line = String::new();
        let mut stdout = BufReader::new(running.0.stdout.take().expect("it is piped"));
        stdout.read_line(&mut line).expect("the output is text");
        let address = line.strip_prefix("listening on ").and_then(|address| address.trim_end().parse().ok());
        let address = address.unwrap_or_else(|| panic!("it does not listen: {line}{}", text_of(Some(&mut stderr))));
        Server { running, address, stdout: Some(stdout), stderr, folder }
    }

    fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    fn signal(&self, signal: Signal) {
        self.running.signal(signal);
    }

    fn wait(mut self) -> Ended {
        let status = self.running.wait();
        Ended { status, stdout: text_of(self.stdout), stderr: text_of(Some(self.stderr)), folder: self.folder }
    }

    /// Ends it as a service manager does, and checks that it ends well.
    fn stop(self) -> Ended {
        self.signal(Signal::SIGTERM);
        self.ends_well()
    }

    fn ends_well(self) -> Ended {
        let ended = self.wait();
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        ended
    }

    /// How many files the server has open; 0 where the system does not tell.
    fn files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.running.pid())).map_or(0, Iterator::count)
    }

    /// Waits until so many connections are open beside the one of `asker`.
    fn wait_until_open(asker: &mut Client, others: u64) {
        wait_for("the connections to end", || asker.stats()["open"] == others + 1);
    }
}

struct Ended {
    status: ExitStatus,
    /// What it printed after it had said where it listens.
    stdout: String,
    stderr: String,
    folder: Folder,
}

impl Ended {
    fn session(&self) -> Session {
        Session::read(&self.folder.path("session")).expect("the dump can be loaded")
    }

    fn accounts(&self) -> String {
        String::from_utf8(accounts::to_csv(&self.session().accounts)).expect("accounts are text")
    }
}

/// Looks every few milliseconds whether `happened`.
fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
