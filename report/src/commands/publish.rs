//! From results folders to pages on disk: the edges of rendering.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::charts;
use crate::claims::{Claims, file::ORIGINALS};
use crate::commands::check::{self, Checked};
use crate::error::{Error, none};
use crate::files::{self, write_whole};
use crate::folder::{Folder, load};
use crate::judge::prices::{self, Prices};
use crate::judge::rounds::{self, CALIBRATES, Source};
use crate::judge::{self, Round, judged::JudgedStudy, maps, prediction};
use crate::page::{Page, view::StudyView};
use crate::render;

/// What a study asks and how it is presented, its claims.toml and page.toml, and its rounds.
struct Asked<'a> {
    claims: Claims,
    page: Page,
    /// Each with its host, those that judge before the others.
    folders: &'a [(usize, &'a Folder)],
    /// What judges, checks the mirrors, or was asked for prices, maps or goals alone: the newest first.
    rounds: Vec<(&'a Folder, Round)>,
}

impl<'a> Asked<'a> {
    /// Reads the study below the root of the repository.
    fn read(root: &Path, study: &str, folders: &'a [(usize, &'a Folder)]) -> Result<Self, Vec<Error>> {
        let folder = root.join(study).join("study");
        let (_, claims) = load(&folder, "claims.toml", Claims::parse)?;
        let (_, page) = load(&folder, "page.toml", Page::parse)?;
        none(check::page_against_claims(&page, &claims, &folder.join("page.toml")))?;
        let round = |&(host, folder): &(usize, &'a Folder)| {
            let asked = claims.asked_in(&folder.claims, &folder.meta.profile);
            (folder, Round::new(host, folder, asked))
        };
        let shown = folders.iter().filter(|(_, folder)| folder.is_shown() || is_of_originals(folder));
        let mut rounds: Vec<(&Folder, Round)> = shown.map(round).collect();
        rounds.sort_by_key(|(folder, _)| Reverse(folder.name()));
        Ok(Asked { claims, page, folders, rounds })
    }

    /// Its rounds of this kind, the newest first.
    fn of(&self, is_wanted: impl Fn(&Folder) -> bool) -> Vec<&Round> {
        self.rounds.iter().filter(|(folder, _)| is_wanted(folder)).map(|(_, round)| round).collect()
    }
}

fn is_of_originals(folder: &Folder) -> bool {
    folder.meta.profile == ORIGINALS
}

/// Judges every study of what was read below the `results` by its claims, which are below `root`, on every host.
pub fn studies(checked: &Checked, results: &[PathBuf], root: &Path) -> Result<Vec<StudyView>, Vec<Error>> {
    none(checked.refused.clone())?;
    let (shown, names) = rounds::choose(&checked.folders);
    if shown.is_empty() {
        let what = "no sealed measurement of a whole study is there: run make all-reports";
        return Err(results.iter().map(|results| Error::file(results, what)).collect());
    }
    let asked =
        shown.iter().map(|(study, folders)| Asked::read(root, study, folders)).collect::<Result<Vec<_>, _>>()?;
    let judge = |of: &Asked| prices::judge(&of.claims.prices, &of.of(Folder::is_shown));
    let prices: Prices = asked.iter().map(|of| (of.claims.study.clone(), judge(of))).collect();
    Ok(asked.iter().map(|asked| study(asked, &prices, &names)).collect())
}

fn study(asked: &Asked, prices: &Prices, names: &[String]) -> StudyView {
    let Asked { claims, page, folders, .. } = asked;
    let (all, mirrored) = (asked.of(Folder::is_shown), asked.of(|folder| folder.judges() || is_of_originals(folder)));
    // Of a study without a round that judges, those of prices, maps or goals alone.
    let rounds = Some(asked.of(Folder::judges)).filter(|rounds| !rounds.is_empty()).unwrap_or_else(|| all.clone());
    let of = |is_wanted: fn(&Folder) -> bool| folders.iter().copied().filter(move |(_, folder)| is_wanted(folder));
    let shown: Vec<(usize, &Folder)> = of(Folder::is_shown).collect();
    let (here, newest) = shown[0];
    let mut observed = Vec::new();
    let mut on = |host: usize| {
        let rounds: Vec<&Round> = rounds.iter().copied().filter(|round| round.at.host == host).collect();
        let judged = judge::study(claims, &rounds, &mirrored);
        observed.extend(claims.rules.iter().flat_map(|rule| prediction::observe(rule, &rounds, &judged, prices)));
        judged
    };
    let on_here = on(here);
    let others: BTreeSet<usize> = rounds.iter().map(|round| round.at.host).filter(|host| *host != here).collect();
    let elsewhere = others.into_iter().map(|host| (host, on(host))).collect();
    let (memory_disagreements, memory_compared) = newest.memory_check();
    let judged = JudgedStudy {
        plan_seed: newest.meta.seed,
        plan_hash: newest.meta.hash.clone(),
        runs: newest.runs.len(),
        failures: newest.failures(),
        measured_s: newest.runs.iter().filter_map(|run| run.hyperfine.as_ref()).map(|export| export.wall_s).sum(),
        memory_disagreements,
        memory_compared,
        goals: judge::goals(claims, &all),
        ..on_here
    };
    let calibration = of(|folder| folder.meta.calibration.is_some()).next();
    let calibrate = |(host, folder): (usize, &Folder)| {
        let calibration = folder.meta.calibration.as_ref()?;
        Some(judge::calibrate(&Round::new(host, folder, folder.claims.clone()), calibration))
    };
    let mut view = StudyView {
        judged,
        elsewhere,
        prices: prices.get(&claims.study).cloned().unwrap_or_default(),
        maps: maps::judge(&claims.maps, &all, prices),
        observed,
        page: page.clone(),
        data: rounds[0].data.clone(),
        calibration: calibration.and_then(calibrate).unwrap_or_default(),
        here,
        hosts: names.to_vec(),
        rounds: Vec::new(),
    };
    let decide = view.rounds_used();
    let source = |(host, folder): &(usize, &Folder)| {
        Source::new(if decide.contains(&folder.below()) { "decides" } else { "is compared" }, *host, folder)
    };
    let checking = view.originals_used();
    let checking = of(is_of_originals).filter(|(_, of)| checking.contains(&of.below()));
    view.rounds = { shown.iter().map(source) }
        .chain(calibration.map(|(host, folder)| Source::new(CALIBRATES, host, folder)))
        .chain(checking.map(|(host, folder)| Source::new("checks the mirrors", host, folder)))
        .collect();
    view
}

/// The folders of rounds of which nothing on any page takes a figure.
pub fn unshown<'a>(checked: &'a Checked, studies: &[StudyView]) -> Vec<&'a Path> {
    let shown: BTreeSet<String> = studies.iter().flat_map(StudyView::rounds_shown).collect();
    let folders = checked.folders.iter().filter(|folder| !shown.contains(&folder.below()));
    folders.map(|folder| folder.path.as_path()).collect()
}

/// Writes REPORT.md to `out`, the evidence to docs/evidence/ beside it, the charts to `charts_dir`, and the marked blocks of the `splice` files.
/// Charts and pages that an earlier rendering left there and that there are no more are removed.
pub fn render(studies: &[StudyView], out: &Path, charts_dir: &Path, splice: &[PathBuf]) -> Result<(), Vec<Error>> {
    let root = out.parent().unwrap_or(Path::new(""));
    let charts = charts::all(studies).into_iter().map(|(name, svg)| (charts_dir.join(name), svg));
    let place = |path: &Path| if path == Path::new(render::REPORT) { out.to_owned() } else { root.join(path) };
    let pages = render::pages(studies).into_iter().map(|(path, page)| (place(path.as_ref()), page));
    let files: BTreeMap<PathBuf, String> = charts.chain(pages).collect();
    for (path, text) in &files {
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
        write_whole(path, text)?;
    }
    for (folder, extension) in [(charts_dir, "svg"), (&root.join(render::EVIDENCE), "md")] {
        let all = files::entries(folder)?.into_keys().map(|name| folder.join(name));
        let is_left = |path: &PathBuf| path.extension().is_some_and(|is| is == extension) && !files.contains_key(path);
        all.filter(is_left).try_for_each(|path| files::remove_if_there(&path))?;
    }
    let blocks = render::splice_blocks(studies);
    for file in splice {
        write_whole(file, &spliced(&files::read(file)?, &blocks, file)?)?;
    }
    Ok(())
}

/// `text` with what stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->` replaced by the block called NAME.
fn spliced(text: &str, blocks: &BTreeMap<String, String>, file: &Path) -> Result<String, Error> {
    let mut out = String::new();
    let mut open: Option<(usize, &str)> = None;
    let fault =
        |(number, name): (usize, &str), what: &str| Error::line(file, number, format!("the block '{name}' {what}"));
    for (number, line) in (1..).zip(text.lines()) {
        let mark = line.trim().strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        match (mark.and_then(|mark| mark.rsplit_once(':')), open) {
            (Some((name, "end")), Some((_, begun))) if name == begun => open = None,
            (Some((_, "begin" | "end")), Some(begun)) => return Err(fault(begun, "has no end")),
            (_, Some(_)) => continue,
            (Some((name, "end")), None) => return Err(fault((number, name), "ends without a beginning")),
            (Some((name, "begin")), None) => open = Some((number, name)),
            (_, None) => {}
        }
        out.extend([line, "\n"]);
        if let Some((number, name)) = open {
            let known = || format!("is none: {}", blocks.keys().cloned().collect::<Vec<_>>().join(", "));
            let block = blocks.get(name).ok_or_else(|| fault((number, name), &known()))?;
            out.extend([block.trim_end(), "\n"]);
        }
    }
    open.map_or(Ok(out), |begun| Err(fault(begun, "has no end")))
}
