//! One measured study as the renderer sees it.

use std::collections::BTreeSet;

use crate::claims::Form;
use crate::claims::rules::{Over, over, together};
use crate::folder::dataset::Dataset;
use crate::judge::judged::{Calibrated, Judged, JudgedClaim, JudgedStudy, Mirror, Row, Verdict};
use crate::judge::maps::JudgedMap;
use crate::judge::prediction::{Observed, Predicted};
use crate::judge::prices::JudgedPrice;
use crate::judge::rounds::{CALIBRATES, Source};
use crate::page::Page;

/// A study with everything that is printed about it.
#[derive(Debug, Default, Clone)]
pub struct StudyView {
    /// On the host of the newest round, `elsewhere` on each other one, and what follows on all.
    pub judged: JudgedStudy,
    pub elsewhere: Vec<(usize, JudgedStudy)>,
    pub prices: Vec<JudgedPrice>,
    pub maps: Vec<JudgedMap>,
    pub observed: Vec<Observed>,
    pub page: Page,
    /// The samples of the newest round, behind tables.
    pub data: Dataset,
    pub calibration: Vec<Calibrated>,
    /// The host of the newest round.
    pub here: usize,
    /// Names of all hosts, the one with the newest round of any study first.
    pub hosts: Vec<String>,
    /// Every round that has a part in what is shown.
    pub rounds: Vec<Source>,
}

/// What was measured of a rule, and what was predicted.
pub type Line<'a> = (&'a Observed, &'a Predicted);

/// All that the rules of the studies predict where the host has the price.
pub fn predicted(studies: &[StudyView]) -> Vec<Line<'_>> {
    let observed = studies.iter().flat_map(|view| &view.observed);
    observed.filter_map(|observed| Some((observed, observed.predicted.as_ref()?))).collect()
}

/// The host of the newest round that measured a price.
pub fn price_host(studies: &[StudyView]) -> usize {
    let hosts = studies.iter().flat_map(|view| &view.prices).flat_map(|price| &price.hosts);
    let newest = hosts.max_by_key(|on| on.at.round.rsplit('/').next().map(str::to_owned));
    newest.map_or(0, |on| on.at.host)
}

impl StudyView {
    pub fn host_name(&self, host: usize) -> &str {
        self.hosts.get(host).map_or("host", String::as_str)
    }

    /// What each host says, the host of the newest round first.
    pub fn hosts(&self) -> impl Iterator<Item = (usize, &JudgedStudy)> {
        let elsewhere = self.elsewhere.iter().map(|(host, study)| (*host, study));
        std::iter::once((self.here, &self.judged)).chain(elsewhere)
    }

    /// What the hosts found for the claim `id` in `form`, or for the further test of this id.
    pub fn found<'a>(&'a self, id: &str, form: Form) -> Vec<(usize, &'a Judged)> {
        let found = |(host, study): (_, &'a JudgedStudy)| Some((host, study.found(id, form)?));
        self.hosts().filter_map(found).collect()
    }

    /// The verdict over hosts on the claim `id` in `form`, or on the further test of this id.
    pub fn over(&self, id: &str, form: Form) -> Over {
        over(self.found(id, form).iter().map(|(_, found)| found.verdict))
    }

    /// The settings that were measured of the claim `id` in `form`, or of the further test of this id: of each the rows of all hosts.
    pub fn settings<'a>(&'a self, id: &str, form: Form) -> Vec<Vec<&'a Row>> {
        let mut settings: Vec<Vec<&Row>> = Vec::new();
        for (_, found) in self.found(id, form) {
            for row in found.rows.iter().filter(|row| row.estimate.is_some() || !row.sides.is_empty()) {
                match settings.iter_mut().find(|rows| rows[0].is_same(row)) {
                    Some(rows) => rows.push(row),
                    None => settings.push(vec![row]),
                }
            }
        }
        settings
    }

    /// The settings among them that decide: what stands beside in all hosts is left out, and what does so on a host that decides.
    pub fn deciding_settings<'a>(&'a self, id: &str, form: Form) -> Vec<Vec<&'a Row>> {
        let mut settings = self.settings(id, form);
        settings.retain(|rows| rows.iter().any(|row| !row.beside));
        for rows in &mut settings {
            let deciding: BTreeSet<usize> = rows.iter().filter(|row| !row.beside).map(|row| row.at.host).collect();
            rows.retain(|row| !row.beside || !deciding.contains(&row.at.host));
        }
        settings
    }

    /// The authors' own code, as it is, beside our mirrors of it in a form of a claim.
    pub fn mirrors(&self, id: &str, form: Form) -> impl Iterator<Item = &Mirror> {
        let mirrors = self.judged.found(id, form).into_iter().flat_map(|found| &found.mirrors);
        mirrors.filter(|mirror| mirror.but.is_empty())
    }

    /// The causes that were tested of it, by their short names, each with what the hosts say on which there is an effect.
    pub fn causes<'a>(&'a self, id: &str, form: Form) -> Vec<(&'a str, Over)> {
        let found = self.found(id, form);
        let mut seen = BTreeSet::new();
        let names = found.iter().flat_map(|(_, found)| &found.causes).map(|cause| cause.short.as_str());
        let of = |name: &'a str| {
            let alike = |found: &'a Judged| found.causes.iter().filter(|cause| cause.short == name);
            let with_effect = found.iter().filter(|(_, found)| found.has_effect());
            (name, over(with_effect.map(|(_, found)| together(alike(found).map(|cause| cause.verdict)))))
        };
        names.filter(|name| seen.insert(*name)).map(of).collect()
    }

    /// The first cause that explains the effect, or a part of it, or that none of those that were tested does; `None` where no effect asks for one.
    pub fn stated_cause(&self, id: &str, form: Form) -> Option<String> {
        let causes = self.causes(id, form);
        let said = |(name, over): &(&str, Over)| match over.verdict {
            Verdict::ExplainsIt => Some((*name).to_owned()),
            Verdict::PartOfIt => Some(format!("in part {name}")),
            _ => None,
        };
        let is_open = || !causes.is_empty() && self.found(id, form).iter().any(|(_, found)| found.has_effect());
        causes.iter().find_map(said).or_else(|| is_open().then(|| "cause unclear".to_owned()))
    }

    fn evidence(&self) -> impl Iterator<Item = &Judged> {
        self.hosts().flat_map(|(_, study)| &study.claims).flat_map(JudgedClaim::evidence)
    }

    /// The folders of rounds that some row is of.
    pub fn rounds_used(&self) -> BTreeSet<String> {
        let goals = self.judged.goals.iter().flat_map(|goal| &goal.rows);
        let rows = self.evidence().flat_map(|found| &found.rows).chain(goals).map(|row| &row.at.round);
        let prices = self.prices.iter().flat_map(|price| &price.hosts).map(|on| &on.at.round);
        let maps = self.maps.iter().flat_map(|map| &map.hosts).map(|on| &on.at.round);
        rows.chain(prices).chain(maps).chain([&self.judged.folder]).cloned().collect()
    }

    /// The folders of rounds that something shown takes a figure of.
    pub fn rounds_shown(&self) -> BTreeSet<String> {
        let contradicting = self.evidence().flat_map(|found| &found.contradicted_in);
        let calibrating = self.rounds.iter().filter(|source| source.part == CALIBRATES);
        let more = contradicting.chain(calibrating.map(|source| &source.folder)).cloned();
        self.rounds_used().into_iter().chain(self.originals_used()).chain(more).collect()
    }

    /// The folders in which the authors' own code was compared.
    pub fn originals_used(&self) -> BTreeSet<String> {
        let mirrors = self.evidence().flat_map(|found| &found.mirrors);
        mirrors.map(|mirror| mirror.at.round.clone()).collect()
    }
}
