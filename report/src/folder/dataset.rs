//! The samples of a results folder by scenario, arm and metric.

use std::collections::BTreeMap;

use crate::folder::record::DuetPair;

/// One run: a sample, or a failure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    pub block: u64,
    /// Values by metric, `process_s` included; empty if the run failed.
    pub metrics: BTreeMap<String, f64>,
    /// Alternations of a duet; empty otherwise.
    pub pairs: Vec<DuetPair>,
    pub error: Option<String>,
}

/// The time of a cache line from core to core right after a run, in ns. In a virtual machine the hypervisor moves the cores.
pub const CORE_TO_CORE: &str = "core_to_core_p50_ns";

#[derive(Debug, Clone, Default)]
pub struct Dataset {
    /// By scenario and arm (`A~B` for a duet), in the order of their blocks.
    samples: BTreeMap<(String, String), Vec<Sample>>,
}

impl Dataset {
    pub fn add(&mut self, scenario: &str, arm: &str, sample: Sample) {
        let samples = self.samples.entry((scenario.to_owned(), arm.to_owned())).or_default();
        samples.push(sample);
        samples.sort_by_key(|sample| sample.block);
    }

    /// The samples of a test case, in the order of their blocks; empty if it did not run.
    pub fn samples(&self, scenario: &str, arm: &str) -> &[Sample] {
        // A tuple of references cannot look up a tuple of strings.
        self.samples.get(&(scenario.to_owned(), arm.to_owned())).map_or(&[], Vec::as_slice)
    }
}
