//! Which rounds are shown: of every study all that judge, by host, and what checks them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::folder::{Folder, host, machine::Machine};

/// Where the figures of a study come from, for the report.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The host of the newest round.
    pub here: usize,
    /// Names of all hosts, the one with the newest round of any study first.
    pub names: Vec<String>,
    /// Every round that has a part in what is shown.
    pub rounds: Vec<Source>,
}

impl Origin {
    /// What the host of the round in `folder` is called.
    pub fn host_of(&self, folder: &str) -> Option<&str> {
        self.rounds.iter().find(|round| round.folder == folder).map(|round| self.name(round.host))
    }

    pub fn name(&self, host: usize) -> &str {
        self.names.get(host).map_or("host", String::as_str)
    }
}

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
}

impl Source {
    pub fn new(part: &'static str, host: usize, folder: &Folder) -> Self {
        let (blocks, machine) = (folder.blocks(), folder.machine.clone());
        Source { folder: folder.below(), host, part, blocks, machine }
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
    let mut hosts: Vec<Vec<&Machine>> = Vec::new();
    let mut studies = Studies::new();
    for folder in order {
        let is_like = |host: &Vec<&Machine>| host.iter().all(|machine| host::is_same(machine, &folder.machine));
        let host = hosts.iter().position(is_like).unwrap_or(hosts.len());
        hosts.resize_with(hosts.len().max(host + 1), Vec::new);
        hosts[host].push(&folder.machine);
        studies.entry(&folder.meta.study).or_default().push((host, folder));
    }
    studies.retain(|_, folders| folders.iter().any(|(_, folder)| folder.is_shown()));
    (studies, host::names(hosts.iter().map(|host| host[0])))
}
