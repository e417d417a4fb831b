//! What can be typed.

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::claims::file::ORIGINALS;

/// How much of a study can be run.
pub const PROFILES: [&str; 4] = ["smoke", "quick", "full", ORIGINALS];

const EXAMPLES: &str = "Examples:
  report render results --out REPORT.md --charts charts --splice README.md
  report verdicts results --study txn_engine --claim T2
  report check results
  report plan results/.partial/txn_engine-quick --profile quick --seed 1 --layouts 6
  report plan results/.partial/*-quick --profile quick --seed 1
  report plan results/.partial/txn_engine-originals-only --profile originals --seed 1 --only rows_2000100

Exit codes: 0 done, 1 ran and found something wrong (check, plan over budget), 2 could not run.
docs/FORMAT.md describes the files.";

/// Turns recorded samples into verdicts, REPORT.md and charts.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the test cases that a profile runs: all in smoke, else those that claims.toml asks for
    Cases {
        /// Folder with claims.toml, and with cases.tsv as the study lists it
        folder: PathBuf,
        /// How much is run: as of plan
        #[arg(long, value_parser = PROFILES)]
        profile: String,
        /// In smoke, too, only those
        #[arg(long)]
        judged: bool,
    },
    /// Print the passes under GNU time that a plan promises: the number of the pass, and the line of cases.tsv
    Passes { folder: PathBuf },
    /// Print how many runs of a plan make what is measured first
    First { folder: PathBuf },
    /// Fix the runs of a profile and their order, before anything is measured, and print the cases, blocks and seconds
    Plan {
        /// Folders with claims.toml and cases.tsv
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        #[command(flatten)]
        asked: PlanArgs,
    },
    /// Add what came of a command to a folder that is being measured; exit 1: as a failure, 2: not added
    #[command(subcommand)]
    Append(Append),
    /// Write machine.json from facts: lines of name, value and reason, separated by tabs
    Machine {
        folder: PathBuf,
        /// The facts; of two with one name the last counts, and an empty value is null
        facts: PathBuf,
    },
    /// Check that a measured folder is complete and write its manifest
    Seal {
        folder: PathBuf,
        /// Keep the blocks that are complete of a measurement that its machine cut off
        #[arg(long)]
        cut: bool,
    },
    /// Validate sealed folders, one line per finding
    Check {
        /// Folders, or folders above them
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Folder with STUDY/study/claims.toml and page.toml of each study: says which rounds no page shows
        #[arg(long, value_name = "FOLDER")]
        studies: Option<PathBuf>,
    },
    /// Print the verdicts on all claims as one document of JSON, or what is said of one claim
    Verdicts {
        #[command(flatten)]
        from: Basis,
        #[arg(long)]
        study: Option<String>,
        /// Only this claim: here, over the hosts and published
        #[arg(long, requires = "study")]
        claim: Option<String>,
    },
    /// Write the report and its charts, and name the runs that failed; exit 1 if there are any
    Render {
        #[command(flatten)]
        from: Basis,
        /// File of the report
        #[arg(long, default_value = "REPORT.md")]
        out: PathBuf,
        /// Folder of the charts
        #[arg(long, default_value = "charts")]
        charts: PathBuf,
        /// File whose marked blocks are replaced; may be given several times
        #[arg(long)]
        splice: Vec<PathBuf>,
        /// What is printed at the end
        #[arg(long, value_name = "WHAT")]
        print: Option<Printed>,
        /// Only of this study; may be given several times
        #[arg(long, requires = "print")]
        study: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// How much is run: every test case once, what a user waits for, the published sizes, or the authors' own code beside our mirrors of it
    #[arg(long, value_parser = PROFILES)]
    pub profile: String,
    /// Seed from which the order follows
    #[arg(long)]
    pub seed: u64,
    /// How many layouts of its code each build has: the blocks take them in turn
    #[arg(long, default_value = "1")]
    pub layouts: NonZeroU16,
    /// Only these scenarios, separated by commas: a part of what the authors' own code is compared in, which no budget binds
    #[arg(long, value_delimiter = ',', value_name = "SCENARIO")]
    pub only: Option<Vec<String>>,
    /// Only the cheapest A/A controls, all their blocks so many times: what calibrates the method on this machine
    #[arg(long, value_name = "TRIALS", conflicts_with = "only", value_parser = clap::value_parser!(u16).range(1..))]
    pub calibrate: Option<u16>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Printed {
    /// What became of what is quoted, and the prices of README.md: a screen
    Answers,
    /// What one handoff costs
    Prices,
    /// What each design costs around the published settings, and where one passes another
    Maps,
    /// How far the crates are from their aims
    Goals,
}

#[derive(Debug, Args)]
pub struct Basis {
    /// Folders of results
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Folder with STUDY/study/claims.toml and page.toml of each study: the root of the repository
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub studies: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum Append {
    /// The next run of the plan, to runs.jsonl
    Runs {
        folder: PathBuf,
        /// Id of the run
        #[arg(long)]
        run: String,
        #[command(flatten)]
        left: Left,
        /// What hyperfine exported
        #[arg(long, value_name = "FILE")]
        hyperfine: Option<PathBuf>,
    },
    /// The next pass under GNU time, to memory.jsonl
    Memory {
        folder: PathBuf,
        /// Number of the pass, from 0
        #[arg(long)]
        pass: u32,
        #[arg(long)]
        scenario: String,
        #[arg(long)]
        arm: String,
        #[command(flatten)]
        left: Left,
        /// What GNU time wrote, as JSON
        #[arg(long, value_name = "FILE")]
        time: Option<PathBuf>,
    },
}

/// What every command leaves.
#[derive(Debug, Args)]
pub struct Left {
    /// Exit code of the command
    #[arg(long, value_name = "CODE", allow_negative_numbers = true)]
    pub exit: i32,
    /// The study's record; it may be missing or empty
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}
