//! The arguments of `run`.

use std::path::PathBuf;

use clap::Args;

/// Which test case to run, and what to write into its record.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the arm, with suffix.
    pub arm: String,
    /// The second arm of a duet.
    pub versus: Option<String>,
    /// Seed of the input.
    pub seed: u64,
    /// Number of the block.
    pub block: u64,
    /// Id of the run.
    pub run: String,
}

/// The options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The scenario, as `arms` lists it
    #[arg(long)]
    scenario: String,
    /// The arm, with @aa or @slow for a control
    #[arg(long)]
    arm: String,
    /// Alternate with this arm in one process: a duet
    #[arg(long)]
    versus: Option<String>,
    /// Seed of the input
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Number of the block, kept in the record
    #[arg(long, default_value_t = 0)]
    block: u64,
    /// Id of the run, kept in the record
    #[arg(long, default_value = "manual")]
    run: String,
    /// Append the record to this file instead of printing it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

impl RunArgs {
    /// The request, and the file for the record.
    #[must_use]
    pub fn into_request(self) -> (RunRequest, Option<PathBuf>) {
        let RunArgs { scenario, arm, versus, seed, block, run, record } = self;
        (RunRequest { scenario, arm, versus, seed, block, run }, record)
    }
}
