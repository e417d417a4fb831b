//! A server in a process of its own, which ends with this one.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::usage::peak_rss_kib_of;

/// A server that was asked to end has to within this: it may have much to write.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts `program`, which prints `listening on ADDRESS` when it is ready and ends when its standard input is closed.
    pub fn start(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Self> {
        let name = program.display();
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        // A line that cannot be read is an empty one, which says as little.
        let line = child.stdout.take().and_then(|stdout| BufReader::new(stdout).lines().next()?.ok());
        let line = line.unwrap_or_default();
        if let Some(address) = line.trim_end().strip_prefix("listening on ") {
            return Ok(Server { address: address.to_owned(), child });
        }
        let explained = end(&mut child).map(|(_, said)| said).unwrap_or_default();
        let said = format!("{} {explained}", line.trim());
        bail!("{name} did not say where it listens: {}", said.trim().replace('\n', " "))
    }

    /// This program as a server, with the arguments of its verb.
    pub fn of_this_program(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Self> {
        Server::start(&std::env::current_exe().context("cannot start this program")?, arguments)
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// The highest resident memory of its process so far, in KiB; `None` where there is no `/proc`.
    pub fn peak_rss_kib(&self) -> Option<u64> {
        peak_rss_kib_of(self.child.id())
    }

    /// Ends it, and waits for that; kills it if it goes on.
    pub fn stop(mut self) -> Result<()> {
        let why = match end(&mut self.child) {
            Some((status, _)) if status.success() => return Ok(()),
            Some((status, said)) => format!("{status} {said}"),
            None => format!("it goes on after {} s", PATIENCE.as_secs()),
        };
        bail!("the server did not end well: {}", why.trim().replace('\n', " "))
    }
}

/// Closes the child's input, waits for its end, but not for ever, and gives what it said on stderr.
fn end(child: &mut Child) -> Option<(ExitStatus, String)> {
    drop(child.stdin.take());
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() <= deadline => std::thread::sleep(Duration::from_millis(2)),
            _ => return None,
        }
    };
    // What is no text is no explanation either.
    let said = child.stderr.take().and_then(|stderr| io::read_to_string(stderr).ok()).unwrap_or_default();
    Some((status, said.trim().to_owned()))
}

impl Drop for Server {
    fn drop(&mut self) {
        if end(&mut self.child).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
