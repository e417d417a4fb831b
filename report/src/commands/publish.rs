//! From results folders to pages on disk: the edges of rendering.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::charts;
use crate::claims::Claims;
use crate::commands::check::{self, Checked};
use crate::error::{Error, none};
use crate::files::{self, write_whole};
use crate::folder::dataset::Dataset;
use crate::folder::{Folder, load};
use crate::judge::judged::JudgedStudy;
use crate::judge::prediction::{self, Observed};
use crate::judge::prices;
use crate::judge::rounds::{self, CALIBRATES, Origin, Shown, Source};
use crate::judge::{self, Evidence, Originals, Round};
use crate::page::Page;
use crate::page::view::{StudyView, predict_maps};
use crate::render;

/// What `study`, below the root of the repository, asks and how it is presented: its claims.toml and page.toml.
fn definition(root: &Path, study: &str) -> Result<(Claims, Page), Vec<Error>> {
    let folder = root.join(study).join("study");
    let (_, claims) = load(&folder, "claims.toml", Claims::parse)?;
    let (_, page) = load(&folder, "page.toml", Page::parse)?;
    none(check::page_against_claims(&page, &claims, &folder.join("page.toml")))?;
    Ok((claims, page))
}

/// Judges every study of what was read below the `results` by its claims, which are below `root`, on every host.
pub fn studies(checked: &Checked, results: &[PathBuf], root: &Path) -> Result<Vec<StudyView>, Vec<Error>> {
    none(checked.refused.clone())?;
    let (shown, names) = rounds::choose(&checked.folders);
    if shown.is_empty() {
        let what = "no sealed measurement of a whole study is there: run make all-reports";
        return Err(results.iter().map(|results| Error::file(results, what)).collect());
    }
    let judge = |shown: &Shown| Ok(study(shown, definition(root, shown.study)?, &names));
    let mut studies = shown.iter().map(judge).collect::<Result<Vec<_>, Vec<Error>>>()?;
    predict_maps(&mut studies);
    Ok(studies)
}

/// The samples of a round, and the claims as far as it was asked them.
struct Asked<'a> {
    host: usize,
    folder: &'a Folder,
    below: String,
    claims: Claims,
    data: Dataset,
}

impl<'a> Asked<'a> {
    fn new(&(host, folder): &(usize, &'a Folder), claims: &Claims) -> Self {
        let claims = claims.asked_in(&folder.claims, &folder.meta.profile);
        Asked { host, folder, below: folder.below(), claims, data: folder.dataset() }
    }

    fn evidence(&self) -> Evidence<'_> {
        let Folder { meta, .. } = self.folder;
        Evidence { claims: &self.claims, data: &self.data, profile: &meta.profile, layouts: meta.layouts }
    }

    fn round(&self) -> Round<'_> {
        Round::new(self.evidence(), &self.below)
    }
}

fn study(shown: &Shown<'_>, (claims, page): (Claims, Page), names: &[String]) -> StudyView {
    let of = |rounds: &[_]| rounds.iter().map(|round| Asked::new(round, &claims)).collect();
    let (mut asked, originals, alone): (Vec<_>, Vec<_>, Vec<_>) =
        (of(&shown.rounds), of(&shown.originals), of(&shown.parts));
    let mut mirrored: Vec<_> =
        asked.iter().chain(&originals).map(|it| (it.host, it.below.as_str(), it.evidence())).collect();
    mirrored.sort_by_key(|(_, folder, _)| Reverse(*folder));
    let originals = Originals::new(&claims, &mirrored);
    let here = asked[0].host;
    let mut rounds: BTreeMap<usize, Vec<Round>> = BTreeMap::new();
    for it in &asked {
        rounds.entry(it.host).or_default().push(it.round());
    }
    let on = |host: usize| {
        let judged = judge::study(&claims, &rounds[&host], &originals, host);
        let of_rule = |rule| prediction::observe(rule, host, &rounds[&host], &judged);
        let observed: Vec<Observed> = claims.rules.iter().flat_map(of_rule).collect();
        (judged, observed)
    };
    let (on_here, mut observed) = on(here);
    let alone: Vec<(usize, Round)> = alone.iter().map(|it| (it.host, it.round())).collect();
    let on_hosts = rounds.iter().flat_map(|(host, rounds)| rounds.iter().map(|round| (*host, round)));
    let mut newest_first: Vec<_> = on_hosts.chain(alone.iter().map(|(host, round)| (*host, round))).collect();
    newest_first.sort_by_key(|(_, round)| Reverse(round.folder));
    let prices = prices::judge(&claims.prices, &newest_first);
    let maps = judge::maps::judge(&claims.maps, &newest_first);
    let newest = asked[0].folder;
    let (memory_disagreements, memory_compared) = newest.memory_check();
    let judged = JudgedStudy {
        plan_seed: newest.meta.seed,
        plan_hash: newest.meta.hash.clone(),
        runs: newest.runs.len(),
        failures: newest.failures(),
        measured_s: newest.runs.iter().filter_map(|run| run.hyperfine.as_ref()).map(|export| export.wall_s).sum(),
        memory_disagreements,
        memory_compared,
        ..on_here
    };
    let mut elsewhere = Vec::new();
    for host in rounds.keys().copied().filter(|host| *host != here) {
        let (judged, of_host) = on(host);
        elsewhere.push((host, judged));
        observed.extend(of_host);
    }
    let calibrate = |round: (usize, &Folder)| {
        // By its own claims.
        let asked = Asked { claims: round.1.claims.clone(), ..Asked::new(&round, &claims) };
        Some(judge::calibrate(asked.evidence(), round.1.meta.calibration.as_ref()?))
    };
    let mut view = StudyView {
        judged,
        elsewhere,
        prices,
        maps,
        observed,
        page,
        data: asked.swap_remove(0).data,
        machine: newest.machine.clone(),
        calibration: shown.calibration.and_then(calibrate).unwrap_or_default(),
        origin: Origin { here, names: names.to_vec(), rounds: Vec::new() },
    };
    let decide = view.rounds_used();
    let source = |(host, folder): &(usize, &Folder)| {
        Source::new(if decide.contains(&folder.below()) { "decides" } else { "is compared" }, *host, folder)
    };
    let checking: BTreeSet<String> = view.originals_used();
    let checking = shown.originals.iter().filter(|(_, folder)| checking.contains(&folder.below()));
    view.origin.rounds = { shown.rounds.iter().chain(&shown.parts) }
        .map(source)
        .chain(shown.calibration.map(|(host, folder)| Source::new(CALIBRATES, host, folder)))
        .chain(checking.map(|(host, folder)| Source::new("checks the mirrors", *host, folder)))
        .collect();
    view
}

/// The folders of rounds of which nothing on any page takes a figure.
pub fn unshown<'a>(checked: &'a Checked, studies: &[StudyView]) -> Vec<&'a Path> {
    let shown: BTreeSet<String> = studies.iter().flat_map(StudyView::rounds_shown).collect();
    let folders = checked.folders.iter().filter(|folder| !shown.contains(&folder.below()));
    folders.map(|folder| folder.path.as_path()).collect()
}

/// Writes REPORT.md to `out`, the evidence to docs/evidence/ beside it, the charts to the folder `charts_dir`, and the marked blocks of the
/// `splice` files.
///
/// Charts and pages that an earlier rendering left in their folders and that there are no more are removed.
pub fn render(studies: &[StudyView], out: &Path, charts_dir: &Path, splice: &[PathBuf]) -> Result<(), Vec<Error>> {
    let root = out.parent().unwrap_or(Path::new(""));
    let charts = charts::all(studies).into_iter().map(|(name, svg)| (charts_dir.join(name), svg));
    let mut files: BTreeMap<PathBuf, String> = charts.collect();
    for (path, page) in render::pages(studies) {
        files.insert(if path == render::REPORT { out.to_owned() } else { root.join(path) }, page);
    }
    for (path, text) in &files {
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
        write_whole(path, text)?;
    }
    for (folder, extension) in [(charts_dir, "svg"), (&root.join(render::EVIDENCE), "md")] {
        clean(folder, extension, &files)?;
    }
    let blocks = render::splice_blocks(studies);
    for file in splice {
        write_whole(file, &spliced(&files::read(file)?, &blocks, file)?)?;
    }
    Ok(())
}

/// Removes the files of `folder` with this extension that are not among the `files` just written.
fn clean(folder: &Path, extension: &str, files: &BTreeMap<PathBuf, String>) -> Result<(), Error> {
    for name in files::entries(folder)?.into_keys() {
        let path = folder.join(name);
        let is_ours = path.extension().is_some_and(|is| is == extension);
        if is_ours && !files.contains_key(&path) {
            fs::remove_file(&path).map_err(|source| Error::io("clean", folder, source))?;
        }
    }
    Ok(())
}

/// `text` with what stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->` replaced by the block called NAME.
fn spliced(text: &str, blocks: &BTreeMap<String, String>, file: &Path) -> Result<String, Error> {
    let mut out = String::new();
    let mut open: Option<(usize, &str)> = None;
    let no_end = |(number, name): (usize, &str)| Error::line(file, number, format!("the block '{name}' has no end"));
    for (number, line) in (1..).zip(text.lines()) {
        let mark = line.trim().strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        match (mark.and_then(|mark| mark.rsplit_once(':')), open) {
            (Some((name, "begin")), None) => {
                let known = || blocks.keys().cloned().collect::<Vec<_>>().join(", ");
                let unknown = || Error::line(file, number, format!("there is no block '{name}': {}", known()));
                let block = blocks.get(name).ok_or_else(unknown)?;
                out.extend([line, "\n", block.trim_end(), "\n"]);
                open = Some((number, name));
            }
            (Some((name, "end")), Some((_, begun))) if name == begun => {
                out.extend([line, "\n"]);
                open = None;
            }
            (Some((_, "begin" | "end")), Some(begun)) => return Err(no_end(begun)),
            (Some((name, "end")), None) => {
                return Err(Error::line(file, number, format!("the block '{name}' ends without a beginning")));
            }
            (_, None) => out.extend([line, "\n"]),
            (_, Some(_)) => {}
        }
    }
    open.map_or(Ok(out), |begun| Err(no_end(begun)))
}
