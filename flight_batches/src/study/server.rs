//! A server in a process of its own, which ends with this one.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use study_kit::usage::peak_rss_kib_of;

/// A server has to end so soon after it was asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It cannot be started.
    #[error("cannot start {program}")]
    Start {
        /// What.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// It ended before it listened.
    #[error("{program} did not say where it listens: {said}")]
    Silent {
        /// What.
        program: String,
        /// What it said instead.
        said: String,
    },
}

/// A running server. Dropping it ends it.
pub struct Server {
    child: Child,
    endpoint: String,
}

impl Server {
    /// Starts `program`, which prints `listening on http://HOST:PORT` when it is ready and ends when its standard input is closed.
    ///
    /// # Errors
    /// If it does not.
    pub fn start(program: &Path, arguments: &[String]) -> Result<Self, ServerError> {
        let name = program.display().to_string();
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|source| ServerError::Start { program: name.clone(), source })?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            // A line that cannot be read is an empty one, which says as little.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        let Some(endpoint) = line.trim_end().strip_prefix("listening on ") else {
            let mut said = line;
            if let Some(mut stderr) = child.stderr.take() {
                drop(child.stdin.take());
                let _ = stderr.read_to_string(&mut said);
            }
            let _ = child.wait();
            return Err(ServerError::Silent { program: name, said: said.trim().replace('\n', " ") });
        };
        Ok(Server { endpoint: endpoint.to_owned(), child })
    }

    /// This program as a server, with the arguments of its verb `serve`.
    ///
    /// # Errors
    /// If it does not start.
    pub fn of_this_program(arguments: &[String]) -> Result<Self, ServerError> {
        let start = |source| ServerError::Start { program: "this program".to_owned(), source };
        let program: PathBuf = std::env::current_exe().map_err(start)?;
        Server::start(&program, arguments)
    }

    /// The highest resident memory of its process so far, in KiB; `None` where there is no `/proc`.
    #[must_use]
    pub fn peak_rss_kib(&self) -> Option<u64> {
        peak_rss_kib_of(self.child.id())
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
