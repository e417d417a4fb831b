//! A server of this program in a process of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

/// A server that runs for as long as this lives. If this process dies without a word, it sees the end of its input.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub endpoint: String,
}

impl Server {
    /// Starts this program with the word `serve` and such options.
    ///
    /// # Errors
    /// If it does not listen; what it says itself is on standard error.
    pub fn start(options: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("this program cannot be found")?);
        command.args(["serve", "--until-stdin-closes", "--addr", "127.0.0.1:0"]).args(options);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("no server can be started")?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).context("the server cannot be heard")?;
        }
        let endpoint = line.trim_end().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let server = Server { child, endpoint };
        ensure!(!server.endpoint.is_empty(), "the server did not say where it listens");
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has nothing that could be lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
