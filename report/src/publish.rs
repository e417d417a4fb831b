//! From results folders to pages on disk: the edges of rendering.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::charts;
use crate::check;
use crate::dataset::Dataset;
use crate::error::Error;
use crate::files::{self, write_whole};
use crate::judge::{self, Evidence};
use crate::judged::JudgedStudy;
use crate::render;
use crate::results::Folder;
use crate::rounds::{self, Origin, SUPPLEMENT, Shown};
use crate::supplement;
use crate::view::StudyView;

/// Judges, of every study below `results`, the round that decides, and compares it with the others.
pub fn studies(results: &Path) -> Result<Vec<StudyView>, Vec<Error>> {
    let checked = check::read(&[results.to_owned()])?;
    if !checked.refused.is_empty() {
        return Err(checked.refused);
    }
    let shown = rounds::choose(&checked.folders);
    if shown.is_empty() {
        let what = "no sealed measurement of a whole study is there: run make all-reports";
        return Err(Error::file(results, what).into());
    }
    Ok(shown.iter().map(|shown| study(shown, results)).collect())
}

fn study(shown: &Shown<'_>, results: &Path) -> StudyView {
    let folder = shown.decides;
    let originals: Vec<_> = shown.originals.iter().map(|&(host, folder)| (host, folder, folder.dataset())).collect();
    // A mirror that does not do what the authors' code does is no more to be believed in another round than in this one.
    let checked = |folder: &Folder| {
        let mut judged = judge(folder, results);
        for (host, originals, data) in &originals {
            let below = originals.below(results);
            judge::mirrors(&mut judged, &folder.claims, evidence(originals, data), &below, *host);
        }
        judged
    };
    let mut judged = checked(folder);
    judge::compare(&mut judged, &shown.others.iter().map(|other| checked(other)).collect::<Vec<_>>());
    let supplements = supplement::read(folder, &shown.supplements, results);
    judge::add(&mut judged, &folder.claims, &supplements);
    let mut data = folder.dataset();
    for supplement in &supplements {
        data.extend(&supplement.data, |scenario, arm| supplement.has(scenario, arm));
    }
    let is_taken = |path: &str| supplements.iter().any(|supplement| supplement.folder == path);
    let mut rounds = shown.sources(results);
    rounds.retain(|source| source.part != SUPPLEMENT || is_taken(&source.folder));
    let calibrate = |folder: &Folder| {
        Some(judge::calibrate(evidence(folder, &folder.dataset()), folder.meta.calibration.as_ref()?))
    };
    StudyView {
        judged,
        data,
        page: folder.page.clone(),
        machine: folder.machine.clone(),
        calibration: shown.calibration.and_then(calibrate).unwrap_or_default(),
        origin: Origin {
            host: shown.host,
            rounds,
            elsewhere: shown.elsewhere.iter().map(|(host, folder)| (*host, checked(folder))).collect(),
        },
        supplements,
    }
}

/// Judges one folder; its path is shown relative to `results`.
fn judge(folder: &Folder, results: &Path) -> JudgedStudy {
    let data = folder.dataset();
    let (memory_disagreements, memory_compared) = folder.memory_check();
    JudgedStudy {
        folder: folder.below(results),
        plan_seed: folder.meta.seed,
        plan_hash: folder.meta.hash.clone(),
        runs: folder.runs.len(),
        failures: folder.failures(),
        measured_s: folder.runs.iter().filter_map(|run| run.hyperfine.as_ref()).map(|export| export.wall_s).sum(),
        memory_disagreements,
        memory_compared,
        ..judge::study(evidence(folder, &data))
    }
}

/// What a folder is judged by; `data` is its dataset.
fn evidence<'a>(folder: &'a Folder, data: &'a Dataset) -> Evidence<'a> {
    Evidence { claims: &folder.claims, data, profile: &folder.meta.profile, layouts: folder.meta.layouts }
}

/// Writes REPORT.md to `out`, the evidence to docs/evidence/ beside it, the charts to the folder `charts_dir`, and the marked blocks of the
/// `splice` files.
///
/// Charts and pages that an earlier rendering left in their folders and that there are no more are removed.
pub fn render(results: &Path, out: &Path, charts_dir: &Path, splice: &[PathBuf]) -> Result<(), Vec<Error>> {
    let studies = studies(results)?;
    let root = out.parent().unwrap_or(Path::new(""));
    let charts = charts::all(&studies).into_iter().map(|(name, svg)| (charts_dir.join(name), svg));
    let mut files: BTreeMap<PathBuf, String> = charts.collect();
    for (path, page) in render::pages(&studies) {
        files.insert(if path == render::REPORT { out.to_owned() } else { root.join(path) }, page);
    }
    for (path, text) in &files {
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(|source| Error::io("create", folder, source))?;
        write_whole(path, text)?;
    }
    for (folder, extensions) in [(charts_dir, &["svg"][..]), (&root.join(render::EVIDENCE), &["md", "json"][..])] {
        clean(folder, extensions, &files)?;
    }
    let blocks = render::splice_blocks(&studies);
    for file in splice {
        write_whole(file, &spliced(&files::read(file)?, &blocks, file)?)?;
    }
    Ok(())
}

/// Removes the files of `folder` with one of these extensions that are not among the `files` just written.
fn clean(folder: &Path, extensions: &[&str], files: &BTreeMap<PathBuf, String>) -> Result<(), Error> {
    for name in files::entries(folder)?.into_keys() {
        let path = folder.join(name);
        let is_ours = path.extension().is_some_and(|is| extensions.iter().any(|extension| is == *extension));
        if is_ours && !files.contains_key(&path) {
            fs::remove_file(&path).map_err(|source| Error::io("clean", folder, source))?;
        }
    }
    Ok(())
}

/// `text` with what stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->` replaced by the block called NAME.
fn spliced<'a>(text: &'a str, blocks: &BTreeMap<String, String>, file: &Path) -> Result<String, Error> {
    let fault = |line: usize, what: String| Error::line(file, line, what);
    let named = |line: &'a str, side: &str| line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?.strip_suffix(side);
    let (begun, ended) = (|line| named(line, ":begin"), |line| named(line, ":end"));
    let mut out = String::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        out.extend([line, "\n"]);
        if let Some(name) = ended(line) {
            return Err(fault(number, format!("the block '{name}' ends without a beginning")));
        }
        let Some(name) = begun(line) else { continue };
        let known = || blocks.keys().cloned().collect::<Vec<_>>().join(", ");
        let unknown = || fault(number, format!("there is no block '{name}': {}", known()));
        let _ = writeln!(out, "{}", blocks.get(name).ok_or_else(unknown)?.trim_end());
        match lines.find(|&(_, line)| begun(line).is_some() || ended(line) == Some(name)) {
            Some((inner, line)) if begun(line).is_some() => {
                return Err(fault(inner, format!("a block begins inside the block '{name}'")));
            }
            Some((_, end)) => out.extend([end, "\n"]),
            None => return Err(fault(number, format!("the block '{name}' has no end"))),
        }
    }
    Ok(out)
}
