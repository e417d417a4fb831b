//! `plot`: the pictures of the published grid.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::print;
use crate::{plot, results};

#[derive(Debug, Args)]
pub struct Plotting {
    /// The file that `bench` wrote
    #[arg(default_value = "results.csv")]
    results: PathBuf,
    /// The folder for the pictures
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

/// Draws the pictures and prints their names.
pub fn plot(plotting: &Plotting) -> Result<()> {
    let name = plotting.results.display();
    let file = File::open(&plotting.results).with_context(|| format!("cannot read {name}"))?;
    let rows = results::read(BufReader::new(file)).with_context(|| name.to_string())?;
    let files = plot::draw(&rows, &plotting.out)?;
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    print(&(names.join("\n") + "\n"))
}
