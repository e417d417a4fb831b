//! The authors' own program as an arm: where it comes from, how it is built, and how its figures are read from what it prints.
//!
//! A study says so in its `original.toml`. `scripts/originals.sh` brings and builds the code; an arm of it runs like any other, in a process
//! that knows nothing of this one: no credentials, no settings, no way out of its time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError::Timeout};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Deserialize;
use tempfile::TempDir;

use crate::record::Observation;
use crate::usage::{kib, times};

/// What a program that takes longer than expected may take, as a multiple of that and at least so many seconds.
const PATIENCE: f64 = 10.0;
const LEAST_PATIENCE_S: f64 = 60.0;

/// The authors' code: `original.toml`, whose keys docs/FORMAT.md explains (section 1).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Original {
    source: Vec<Source>,
    arm: Vec<Arm>,
}

/// A repository at one commit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    name: String,
    url: String,
    commit: String,
    licence: String,
    build: Vec<String>,
}

/// One of its programs in one scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    name: String,
    scenario: String,
    source: String,
    run: Vec<String>,
    /// Of its environment, besides what every program gets.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// What it says, by metric. Without `work_s` that is the time of the whole process.
    #[serde(default)]
    figure: BTreeMap<String, Figure>,
}

/// Where a figure stands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
enum Figure {
    /// In what it prints, behind the last occurrence of this text: a number, or a time with its unit as Rust prints one, in seconds.
    Printed { after: String, factor: Option<f64> },
    /// In the one row of a CSV file that it writes where these columns hold these words.
    Csv { csv: String, column: String, row: BTreeMap<String, String> },
}

impl Original {
    /// Reads `original.toml`; nothing from an empty text.
    pub fn parse(text: &str) -> Result<Self> {
        let original: Original = toml::from_str(text).context("original.toml")?;
        let listed = |name: &str| original.source.iter().any(|source| source.name == name);
        for Arm { name, source, run, .. } in &original.arm {
            ensure!(listed(source), "original.toml: {name} is of no source");
            ensure!(!run.is_empty(), "original.toml: {name} runs nothing");
        }
        Ok(original)
    }

    pub fn arm(&self, scenario: &str, name: &str) -> Option<&Arm> {
        self.arm.iter().find(|arm| arm.scenario == scenario && arm.name == name)
    }

    /// For the shell, a source per line: name, URL, commit and licence, then the build commands; separated by tabs.
    pub fn lines(&self) -> String {
        let line = |source: &Source| {
            let facts = [&source.name, &source.url, &source.commit, &source.licence];
            facts.into_iter().chain(&source.build).map(String::as_str).collect::<Vec<_>>().join("\t") + "\n"
        };
        self.source.iter().map(line).collect()
    }
}

impl Arm {
    /// Runs it once, by the description in `study`, with the code below `folder`, which took about `expected_s` when it was tried.
    /// Fails if the code is not there, the program fails or takes far too long, or a figure is not where it should be.
    pub fn observe(&self, study: &Path, folder: &Path, expected_s: f64) -> Result<Observation> {
        let code = folder.join(&self.source);
        ensure!(code.is_dir(), "the authors' code is not in {}: make originals brings it", code.display());
        let program = the_one(&code, &self.run[0])?;
        fs::create_dir_all(folder.join("home")).context("cannot create a home for it")?;
        let scratch = TempDir::with_prefix_in("run-", folder).context("cannot create a folder for it")?;
        let said = scratch.path().join("said.txt");
        let out = File::create(&said)?;
        let mut command = Command::new(&program);
        let [code, study] = [&code, study].map(|path| path.display().to_string());
        command.args(self.run[1..].iter().map(|word| word.replace("{code}", &code).replace("{study}", &study)));
        command.current_dir(scratch.path()).process_group(0);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LC_ALL", "C");
        command.env("HOME", folder.join("home")).env("TMPDIR", scratch.path()).envs(&self.environment);
        command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);

        let before = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let start = Instant::now();
        let status = run(command, Duration::from_secs_f64((expected_s * PATIENCE).max(LEAST_PATIENCE_S)))
            .with_context(|| format!("{}", program.display()))?;
        let wall_s = start.elapsed().as_secs_f64();
        let after = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let text = String::from_utf8_lossy(&fs::read(&said)?).into_owned();
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        ensure!(status.success(), "{} ended with {status}: {last}", self.name);
        let mut metrics = times(wall_s, &before, &after);
        metrics.put("peak_rss_kib", peak_kib(&after).map(kib));
        for (metric, figure) in &self.figure {
            let value = figure.read(&text, scratch.path()).with_context(|| format!("{metric} of {}", self.name))?;
            metrics.put(metric.clone(), value);
        }
        Ok(Observation { child_peak_kib: peak_kib(&after), ..Observation::new("", metrics) })
    }
}

/// Waits for the end of `command`, but not longer than `limit`; then it and all that it has started are killed.
fn run(mut command: Command, limit: Duration) -> Result<ExitStatus> {
    let start = Instant::now();
    let mut child = command.spawn().context("cannot start")?;
    let group = Pid::from_raw(i32::try_from(child.id())?);
    let (ended, end) = mpsc::channel::<()>();
    // A thread watches the time, so that the end is seen when it comes and not at the next look.
    std::thread::spawn(move || (end.recv_timeout(limit) == Err(Timeout)).then(|| killpg(group, Signal::SIGKILL)));
    let status = child.wait().context("cannot wait for it")?;
    drop(ended);
    ensure!(start.elapsed() < limit, "still ran after {} s", limit.as_secs());
    Ok(status)
}

/// The peak of the largest process that ended; what it inherits from this one when it starts is far less.
fn peak_kib(usage: &Usage) -> Option<u64> {
    let max_rss = u64::try_from(usage.max_rss()).ok()?;
    Some(if cfg!(target_os = "macos") { max_rss / 1024 } else { max_rss })
}

impl Figure {
    fn read(&self, text: &str, folder: &Path) -> Result<f64> {
        match self {
            Figure::Printed { after, factor } => {
                let (_, rest) =
                    text.rsplit_once(after.as_str()).with_context(|| format!("it does not say '{after}'"))?;
                let word = rest.split_whitespace().next().unwrap_or_default();
                let number = word.parse().ok().or_else(|| time_s(word));
                Ok(number.with_context(|| format!("'{word}' is no number and no time"))? * factor.unwrap_or(1.0))
            }
            Figure::Csv { csv, column, row } => {
                let path = the_one(folder, csv)?;
                let mut reader = csv::Reader::from_path(&path)?;
                let mut rows = reader.deserialize().collect::<Result<Vec<BTreeMap<String, String>>, _>>()?;
                rows.retain(|found| row.iter().all(|(name, word)| found.get(name) == Some(word)));
                let [one] = rows.as_slice() else { bail!("{} rows of {csv} are {row:?}", rows.len()) };
                let word = one.get(column).with_context(|| format!("{csv} has no column {column}"))?;
                word.parse().with_context(|| format!("'{word}' is no number"))
            }
        }
    }
}

/// A duration as Rust prints it, in seconds.
fn time_s(word: &str) -> Option<f64> {
    let units = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, scale) = units.iter().find_map(|(unit, scale)| Some((word.strip_suffix(unit)?, scale)))?;
    Some(number.parse::<f64>().ok()? * scale)
}

/// The one file below `folder` that `pattern` names: its last part may have a `*`, and then programs and data are wanted, not the lists of
/// their sources that a compiler leaves beside them.
fn the_one(folder: &Path, pattern: &str) -> Result<PathBuf> {
    let path = folder.join(pattern);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((start, end)) = name.split_once('*') else {
        ensure!(path.is_file(), "there is no {}", path.display());
        return Ok(path);
    };
    let parent = path.parent().unwrap_or(folder);
    let entries = fs::read_dir(parent).with_context(|| format!("cannot read {}", parent.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_list = |name: &String| Path::new(name).extension().is_some_and(|extension| extension == "d");
    let is_asked = |name: &String| name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)) && !is_list(name);
    let found: Vec<String> = names.filter(is_asked).collect();
    let [one] = found.as_slice() else { bail!("{} files are called {pattern}", found.len()) };
    Ok(parent.join(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `script`, run by the shell as the code's program, is observed to do.
    fn observed(script: &str, figures: &str) -> Result<Observation> {
        let folder = tempfile::tempdir()?;
        let code = folder.path().join("code");
        fs::create_dir(&code)?;
        fs::write(code.join("program-1a2b.d"), "")?;
        let program = code.join("program-1a2b");
        fs::write(&program, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let source = "[[source]]\nname = 'code'\nurl = 'u'\ncommit = 'c'\nlicence = 'none stated'\nbuild = ['make']\n";
        let arm = "[[arm]]\nname = 'a'\nscenario = 's'\nsource = 'code'\nrun = ['program-*', '{study} {code}']\nenvironment = { NOISE = 'off' }\n";
        let original = Original::parse(&format!("{source}{arm}{figures}"))?;
        assert_eq!(original.lines(), "code\tu\tc\tnone stated\tmake\n");
        original.arm("s", "a").context("no arm")?.observe(Path::new("/study"), folder.path(), 0.1)
    }

    #[test]
    fn figures_are_what_it_prints_and_writes() {
        let script = r#"test "$1" = "/study $(cd ../code && pwd)"; echo "left: $?"; echo "warming up: 9s" >&2; echo "took: 12.5ms" >&2; printf 'way,ms\nsync,3\nasync,4\n' >out-7.csv"#;
        let figures = "[arm.figure.work_s]\nafter = 'took: '\n[arm.figure.left_count]\nafter = 'left: '\nfactor = 7.0\n\
                       [arm.figure.p99_ms]\ncsv = 'out-*.csv'\ncolumn = 'ms'\nrow = { way = 'async' }\n";
        let metrics = observed(script, figures).unwrap().metrics;
        assert_eq!((metrics.get("work_s"), metrics.get("p99_ms")), (Some(0.0125), Some(4.0)));
        assert_eq!(metrics.get("left_count"), Some(0.0));
        assert!(metrics.get("peak_rss_kib").unwrap() > 100.0);
        for (figures, said) in [
            ("[arm.figure.work_s]\nafter = 'needed: '\n", "does not say 'needed: '"),
            ("[arm.figure.x]\ncsv = 'out-*.csv'\ncolumn = 'ms'\nrow = {}\n", "2 rows of out-*.csv"),
            ("[arm.figure.x]\ncsv = 'in.csv'\ncolumn = 'ms'\nrow = {}\n", "there is no"),
            ("[arm.figure.x]\nbehind = 'took: '\n", "original.toml"),
        ] {
            let error = format!("{:#}", observed(script, figures).unwrap_err());
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn it_knows_nothing_of_this_process_and_its_end_is_its_own() {
        let error = observed("echo first; echo 'it is broken'; exit 3", "").unwrap_err();
        assert_eq!(error.to_string(), "a ended with exit status: 3: it is broken");
        // Cargo sets variables for a test; none of them gets through, only what its description names.
        let alone = r#"test "$NOISE" = off && test -z "$CARGO_MANIFEST_DIR" && test "$HOME" = "$(cd ../home && pwd)" && test -z "$(cat)""#;
        let metrics = observed(alone, "").unwrap().metrics;
        assert!(metrics.get("work_s").unwrap() > 0.0);
    }

    #[test]
    fn what_takes_far_too_long_is_killed_with_all_that_it_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & sleep 60"]).process_group(0);
        let start = Instant::now();
        let error = run(command, Duration::from_millis(100)).unwrap_err();
        assert_eq!((error.to_string().as_str(), start.elapsed().as_secs() < 30), ("still ran after 0 s", true));
    }

    #[test]
    fn a_time_has_a_unit() {
        for (word, seconds) in [("1.5s", 1.5), ("250ms", 0.25), ("36µs", 36e-6), ("8ns", 8e-9)] {
            assert!((time_s(word).unwrap() - seconds).abs() < 1e-12, "{word}");
        }
        assert_eq!((time_s("1.5"), time_s("s"), time_s("fast")), (None, None, None));
    }
}
