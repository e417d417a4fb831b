//! What is asked of a server.

use std::time::Duration;

use super::script::Script;
#[cfg(feature = "cli")]
use crate::arguments::{clients, rate, seconds};

/// How the rows are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Arrivals {
    /// As of many clients that know nothing of each other.
    Poisson,
    /// One every so often.
    Constant,
}

/// The most connections of a load: each takes about half a KiB here before it is opened.
pub const MOST_CLIENTS: usize = 1_000_000;

/// What is asked of the server.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Load {
    /// Host and port of the server; of a name's addresses the first that answers is taken
    #[cfg_attr(feature = "cli", arg(long = "addr", default_value = "127.0.0.1:8820", value_name = "HOST:PORT"))]
    pub address: String,
    /// Connections, each a client with an account of its own
    #[cfg_attr(feature = "cli", arg(long, default_value = "100", value_name = "N", value_parser = clients))]
    pub clients: usize,
    /// Rows per second over all of them
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 1000.0, value_parser = rate))]
    pub rate: f64,
    /// Seconds that count
    #[cfg_attr(feature = "cli", arg(long, default_value = "10", value_name = "SECONDS", value_parser = seconds))]
    pub duration: Duration,
    /// Seconds before them
    #[cfg_attr(feature = "cli", arg(long, default_value = "1", value_name = "SECONDS", value_parser = seconds))]
    pub warm_up: Duration,
    /// How the rows are spread over time
    #[cfg_attr(feature = "cli", arg(long, default_value = "poisson"))]
    pub arrivals: Arrivals,
    /// Same seed, same rows at the same times
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 0))]
    pub seed: u64,
    /// The lowest transaction id: above those that the server has seen
    #[cfg_attr(feature = "cli", arg(long, default_value_t = 1, value_name = "ID"))]
    pub first_tx: u32,
    /// Seconds after which an answer has failed to come, and so has a connection whose first answer does not
    #[cfg_attr(feature = "cli", arg(long, default_value = "10", value_name = "SECONDS", value_parser = seconds))]
    pub patience: Duration,
}

impl Load {
    /// What the client of that number sends.
    pub fn script(&self, client: usize) -> Script {
        Script::new(self.seed, client, self.clients, self.first_tx)
    }
}
