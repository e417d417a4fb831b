//! A server in a process of its own, which ends with this one.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that was asked to end has to within this: it may have a million transactions to dump.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts this program with the verb `serve` and these arguments.
    ///
    /// # Errors
    /// If it does not say where it listens, with what it said instead.
    pub fn start(arguments: &[String]) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
        let mut command = Command::new(program);
        command.args(["serve", "--addr", "127.0.0.1:0", "--until-stdin-closes"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start a server: {error}"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            // A line that cannot be read is an empty one, which says as little.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        match line.trim_end().strip_prefix("listening on ").and_then(|address| address.parse().ok()) {
            Some(address) => Ok(Server { child, address }),
            None => Err(format!("the server did not say where it listens: {}", end(&mut child)?.1)),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it, and waits until it has drained.
    ///
    /// # Errors
    /// If it does not end well, with what it said.
    pub fn stop(mut self) -> Result<(), String> {
        match end(&mut self.child)? {
            (true, _) => Ok(()),
            (false, said) => Err(format!("the server did not end well: {said}")),
        }
    }
}

/// Closes the child's input and waits for its end; whether that was a good one, and what it said on stderr.
fn end(child: &mut Child) -> Result<(bool, String), String> {
    drop(child.stdin.take());
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait().map_err(|error| format!("cannot wait for the server: {error}"))? {
            Some(status) => {
                let mut said = String::new();
                if let Some(mut stderr) = child.stderr.take() {
                    // What is no text is no explanation either.
                    let _ = stderr.read_to_string(&mut said);
                }
                return Ok((status.success(), format!("{status} {}", said.trim())));
            }
            None if Instant::now() > deadline => return Err("the server did not end".to_owned()),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
