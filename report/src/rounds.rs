//! Which rounds are shown: of every study one that decides, and what is compared with it, of the host of its newest round.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::claims_file::ORIGINALS;
use crate::host;
use crate::judged::JudgedStudy;
use crate::machine::Machine;
use crate::results::Folder;

/// Other rounds of the host that are compared with the one that decides, at most.
const COMPARED: usize = 3;

/// What is shown of a study.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The most powerful whole round.
    pub decides: &'a Folder,
    /// Its host, 0 for that of most studies.
    pub host: usize,
    /// Other whole rounds of the host by the same claims, the newest first.
    pub others: Vec<&'a Folder>,
    /// Partial rounds of the host by the same claims and its most powerful whole one of the other profile, the newest first.
    pub supplements: Vec<&'a Folder>,
    /// The newest calibration of the host.
    pub calibration: Option<&'a Folder>,
    /// Rounds of the authors' own code, be they by the same claims or not: those of the host first, the newest first.
    pub originals: Vec<(usize, &'a Folder)>,
    /// The most powerful whole round by the same claims of each other host.
    pub elsewhere: Vec<(usize, &'a Folder)>,
}

/// Where the figures of a study come from, for the report.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The host of what is shown, 0 for that of most studies.
    pub host: usize,
    /// Every round that has a part in it.
    pub rounds: Vec<Source>,
    /// What other hosts say of the same claims.
    pub elsewhere: Vec<(usize, JudgedStudy)>,
}

impl Origin {
    /// Whether it is of the host that most studies are shown from.
    pub fn is_first_host(&self) -> bool {
        self.host == 0
    }
}

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

/// The part of a round that supplements the one that decides.
pub const SUPPLEMENT: &str = "stands in (†)";

impl Shown<'_> {
    /// Every round that may have a part in what is shown; paths are relative to `results`.
    pub fn sources(&self, results: &Path) -> Vec<Source> {
        let source = |part: &'static str, host: usize, folder: &Folder| {
            let (blocks, machine) = (folder.blocks(), folder.machine.clone());
            Source { folder: folder.below(results), host, part, blocks, machine }
        };
        let here = |part: &'static str, folder: &Folder| source(part, self.host, folder);
        std::iter::once(here("decides", self.decides))
            .chain(self.others.iter().map(|folder| here("is compared", folder)))
            .chain(self.supplements.iter().map(|folder| here(SUPPLEMENT, folder)))
            .chain(self.calibration.map(|folder| here("calibrates", folder)))
            .chain(self.originals.iter().map(|(host, folder)| source("checks the mirrors", *host, folder)))
            .chain(self.elsewhere.iter().map(|(host, folder)| source("another host", *host, folder)))
            .collect()
    }
}

/// The name of a host in tables: A, B, ...
pub fn letter(host: usize) -> String {
    ('A'..='Z').nth(host).map_or_else(|| host.to_string(), String::from)
}

/// Chooses what is shown of every study that has a whole round, sorted by study.
pub fn choose(folders: &[Folder]) -> Vec<Shown<'_>> {
    let mut order: Vec<&Folder> = folders.iter().collect();
    // Whole rounds say which hosts there are, the newest first.
    order.sort_by_key(|folder| (!folder.is_whole(), Reverse((folder.name(), folder.meta.study.clone()))));
    // A round is alike to every other one of its host: likeness to one of them alone could lead step by step to another machine.
    let mut hosts: Vec<Vec<&Machine>> = Vec::new();
    let mut studies: BTreeMap<&str, Vec<(usize, &Folder)>> = BTreeMap::new();
    for folder in order {
        let is_like = |host: &Vec<&Machine>| host.iter().all(|machine| host::is_same(machine, &folder.machine));
        let host = hosts.iter().position(is_like).unwrap_or(hosts.len());
        hosts.resize_with(hosts.len().max(host + 1), Vec::new);
        hosts[host].push(&folder.machine);
        studies.entry(&folder.meta.study).or_default().push((host, folder));
    }
    // The first host is that of most studies, of several the one with the newest round.
    let shown_from: Vec<usize> = studies.values().filter_map(|folders| newest(folders)).map(|(host, _)| host).collect();
    let studies_of = |host: usize| shown_from.iter().filter(|from| **from == host).count();
    let mut order: Vec<usize> = (0..hosts.len()).collect();
    order.sort_by_key(|host| Reverse(studies_of(*host)));
    for (host, _) in studies.values_mut().flatten() {
        *host = order.iter().position(|other| other == host).unwrap_or(*host);
    }
    studies.values().filter_map(|folders| shown(folders)).collect()
}

/// The newest whole round of a study, with its host.
fn newest<'a>(folders: &[(usize, &'a Folder)]) -> Option<(usize, &'a Folder)> {
    folders.iter().find(|(_, folder)| folder.is_whole()).copied()
}

/// What is shown of one study, of its folders with their hosts, the newest first.
fn shown<'a>(folders: &[(usize, &'a Folder)]) -> Option<Shown<'a>> {
    let whole = |host: usize| -> Vec<&'a Folder> {
        folders.iter().filter(|(of, folder)| *of == host && folder.is_whole()).map(|(_, folder)| *folder).collect()
    };
    // The newest says of which host, and which question is asked: those before it may have been asked another one.
    let (host, newest) = newest(folders)?;
    let decides = most_powerful(whole(host).into_iter().filter(|folder| folder.claims.ask_as(&newest.claims)))?;
    let hosts: BTreeSet<usize> = folders.iter().map(|(host, _)| *host).collect();
    let asks = |folder: &&Folder| folder.claims.ask_as(&decides.claims);
    let others = whole(host).into_iter().filter(|folder| !std::ptr::eq(*folder, decides) && asks(folder));
    let of_host = || folders.iter().filter(|(of, _)| *of == host).map(|(_, folder)| *folder);
    let partial = of_host().filter(|folder| folder.judges() && !folder.is_whole());
    let of_other_profile = whole(host).into_iter().filter(|folder| folder.meta.profile != decides.meta.profile);
    let mut supplements: Vec<&Folder> =
        partial.filter(asks).chain(most_powerful(of_other_profile.filter(asks))).collect();
    supplements.sort_by_key(|folder| Reverse(folder.name()));
    // Of another host it still says whether the mirrors do what they should.
    let originals = folders.iter().filter(|(_, folder)| folder.meta.profile == ORIGINALS);
    let mut originals: Vec<(usize, &Folder)> = originals.copied().collect();
    originals.sort_by_key(|(of, folder)| (*of != host, Reverse(folder.name())));
    let at_other = |&other: &usize| Some((other, most_powerful(whole(other).into_iter().filter(asks))?));
    Some(Shown {
        decides,
        host,
        others: others.take(COMPARED).collect(),
        supplements,
        calibration: of_host().find(|folder| folder.meta.calibration.is_some()),
        originals,
        elsewhere: hosts.iter().filter(|other| **other != host).filter_map(at_other).collect(),
    })
}

/// The round that decides: the one with the most blocks, of several the one with the most runs in them, then the one that other guests of the
/// machine disturbed least, then the newest.
fn most_powerful<'a>(rounds: impl Iterator<Item = &'a Folder>) -> Option<&'a Folder> {
    rounds.max_by_key(|folder| {
        // The bits of a share are in the order of shares; a machine that cannot say it may have lost anything.
        let stolen = folder.machine.number("steal_percent").map_or(u64::MAX, |percent| percent.max(0.0).to_bits());
        (folder.blocks().0, folder.made().len(), Reverse(stolen), folder.name())
    })
}
