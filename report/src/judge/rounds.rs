//! Which rounds are shown: of every study all that judge, by host, and what checks them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::round::{is_elsewhere, usual};
use crate::folder::{Folder, host, machine::Machine};

/// The part of a calibration in what is shown.
pub const CALIBRATES: &str = "calibrates";

/// A round as a source of figures.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path of its folder, relative to the results root.
    pub folder: String,
    pub host: usize,
    pub part: &'static str,
    /// Blocks that were run, and that were planned.
    pub blocks: (usize, usize),
    pub machine: Machine,
    /// From core to core, after each run that says so.
    pub core_to_core_ns: Vec<f64>,
}

impl Source {
    pub fn new(part: &'static str, host: usize, folder: &Folder) -> Self {
        let (blocks, machine) = (folder.blocks(), folder.machine.clone());
        let core_to_core_ns = folder.core_to_core_ns();
        Source { folder: folder.below(), host, part, blocks, machine, core_to_core_ns }
    }
}

/// Folders by study, each with its host.
pub type Studies<'a> = BTreeMap<&'a str, Vec<(usize, &'a Folder)>>;

/// The folders of every study that has a round which judges, or one of prices, maps or goals alone, each with its host: rounds that judge before the
/// others, the newest first. And the names of the hosts.
pub fn choose(folders: &[Folder]) -> (Studies<'_>, Vec<String>) {
    let mut order: Vec<&Folder> = folders.iter().collect();
    // Rounds that judge say which hosts there are.
    order.sort_by_key(|folder| (!folder.judges(), Reverse((folder.name(), folder.meta.study.clone()))));
    // A round must be like all rounds of its host: likeness to a single round could lead step by step to another machine.
    let mut hosts: Vec<Vec<(&Machine, Option<f64>)>> = Vec::new();
    let mut studies = Studies::new();
    for folder in order {
        let usual_ns = usual(&folder.core_to_core_ns());
        let is_same = |(machine, other): &(&Machine, Option<f64>)| {
            let is_moved = usual_ns.zip(*other).is_some_and(|(own, other)| is_elsewhere(own, other));
            host::is_same(machine, &folder.machine, false) && !is_moved
        };
        let is_like = |host: &Vec<(&Machine, Option<f64>)>| host.iter().all(is_same);
        let host = hosts.iter().position(is_like).unwrap_or(hosts.len());
        hosts.resize_with(hosts.len().max(host + 1), Vec::new);
        hosts[host].push((&folder.machine, usual_ns));
        studies.entry(&folder.meta.study).or_default().push((host, folder));
    }
    studies.retain(|_, folders| folders.iter().any(|(_, folder)| folder.is_shown()));
    (studies, host::names(hosts.iter().map(|host| host[0].0)))
}
