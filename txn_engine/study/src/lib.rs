//! The measurement of `txn_engine`: what is run stands in [`cases`], how in the other modules.

use std::ffi::OsString;
use std::process::ExitCode;

use study_kit::{Observation, Scenario, Study, TestCase, price};

pub mod cases;
mod channel;
mod clients;
mod files;
pub mod inputs;
pub mod mirror;
mod prices;
mod tcp;

use cases::Setting;

pub struct TxnEngine;

impl Study for TxnEngine {
    type Setting = Setting;
    const NAME: &'static str = inputs::STUDY;
    const SCENARIOS: &'static [Scenario<Setting>] = cases::SCENARIOS;
    const PAGE: &'static str = include_str!("../page.toml");
    const ORIGINAL: &'static str = include_str!("../original.toml");

    fn prepare(setting: &Setting, seed: u64) -> anyhow::Result<()> {
        match setting {
            Setting::Files(files) => inputs::Set::new(files, seed).prepare(),
            Setting::Tcp(tcp) => tcp::prepare(tcp, seed),
            Setting::Messages(_) | Setting::Clients(_) | Setting::Price(_) => Ok(()),
        }
    }

    fn observe(case: &TestCase<'_, Setting>) -> anyhow::Result<Observation> {
        match case.setting {
            Setting::Files(files) => files::observe(case, files),
            Setting::Messages(count) => channel::observe(case, *count),
            Setting::Clients(count) => clients::observe(case, *count),
            Setting::Tcp(tcp) => tcp::observe(case, tcp),
            Setting::Price(arms) => price::observe_arm(arms, case.arm),
        }
    }

    /// A word of the engine's own program: for the servers and clients that a run starts.
    fn word(arguments: &[OsString]) -> ExitCode {
        txn_engine::cli::run([OsString::from(Self::NAME)].iter().chain(arguments).cloned())
    }
}
