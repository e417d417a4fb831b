//! Which rounds are shown: of every study all that judge, by host, and what checks them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::claims::file::ORIGINALS;
use crate::folder::{Folder, host, machine::Machine};

#[derive(Debug)]
pub struct Shown<'a> {
    pub study: &'a str,
    /// Rounds that judge, each with its host, the newest first; there is one at least.
    pub rounds: Vec<(usize, &'a Folder)>,
    /// Rounds of prices, maps or goals alone, the newest first.
    pub parts: Vec<(usize, &'a Folder)>,
    /// Rounds of the authors' own code, the newest first.
    pub originals: Vec<(usize, &'a Folder)>,
    /// The newest calibration.
    pub calibration: Option<(usize, &'a Folder)>,
}

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

/// Chooses what is shown of every study that has a round which judges, sorted by study; and the names of the hosts.
pub fn choose(folders: &[Folder]) -> (Vec<Shown<'_>>, Vec<String>) {
    let mut order: Vec<&Folder> = folders.iter().collect();
    // Rounds that judge say which hosts there are, the newest first.
    order.sort_by_key(|folder| (!folder.judges(), Reverse((folder.name(), folder.meta.study.clone()))));
    // A round must be like all rounds of its host: likeness to a single round could lead step by step to another machine.
    let mut hosts: Vec<Vec<&Machine>> = Vec::new();
    let mut studies: BTreeMap<&str, Vec<(usize, &Folder)>> = BTreeMap::new();
    for folder in order {
        let is_like = |host: &Vec<&Machine>| host.iter().all(|machine| host::is_same(machine, &folder.machine));
        let host = hosts.iter().position(is_like).unwrap_or(hosts.len());
        hosts.resize_with(hosts.len().max(host + 1), Vec::new);
        hosts[host].push(&folder.machine);
        studies.entry(&folder.meta.study).or_default().push((host, folder));
    }
    let shown = studies.into_iter().filter_map(|(study, folders)| shown(study, &folders)).collect();
    (shown, host::names(hosts.iter().map(|host| host[0])))
}

/// What is shown of one study, of its folders with their hosts, the newest first.
fn shown<'a>(study: &'a str, folders: &[(usize, &'a Folder)]) -> Option<Shown<'a>> {
    let of = |is_wanted: &dyn Fn(&Folder) -> bool| -> Vec<(usize, &'a Folder)> {
        folders.iter().filter(|(_, folder)| is_wanted(folder)).copied().collect()
    };
    let (mut rounds, mut parts) = (of(&Folder::judges), of(&|folder| folder.part().is_some()));
    if rounds.is_empty() {
        // They are shown of a study of which nothing else was measured, too.
        std::mem::swap(&mut rounds, &mut parts);
    }
    rounds.first()?;
    let calibration = of(&|folder| folder.meta.calibration.is_some()).first().copied();
    Some(Shown { study, rounds, parts, originals: of(&|folder| folder.meta.profile == ORIGINALS), calibration })
}
