//! cases.tsv: the test cases of a profile, as the study's `arms` lists them.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::files;

/// The longest that a run may be planned to take, in seconds: a day.
const LONGEST_S: f64 = 86_400.0;

/// A test case: a scenario and an arm, and how to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub scenario: String,
    /// The arm with its suffix; `A~B` for a duet.
    pub arm: String,
    /// `release`, `dev` or the name of another build.
    pub build: String,
    pub seconds: f64,
    pub arguments: String,
}

impl Case {
    pub(crate) fn read([scenario, arm, build, seconds, arguments]: [&str; 5]) -> Result<Self, String> {
        let time = seconds.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST_S);
        let time = time.ok_or_else(|| format!("'{seconds}' is no time in seconds above zero and of a day at most"))?;
        let [scenario, arm, build, arguments] = [scenario, arm, build, arguments].map(str::to_owned);
        Ok(Case { scenario, arm, build, seconds: time, arguments })
    }

    pub fn name(&self) -> (&str, &str) {
        (&self.scenario, &self.arm)
    }

    pub(crate) fn named(&self) -> (String, String) {
        (self.scenario.clone(), self.arm.clone())
    }

    /// Whether it is the A/A twin of a whole process; that of a duet shares a process, and so a layout, with the arm.
    pub fn is_twin(&self) -> bool {
        self.arm.ends_with("@aa") && !self.arm.contains('~')
    }
}

pub(crate) fn is_made_of(text: &str, more: u8) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == more)
}

/// Whether `text` is an arm with at most one suffix, or two of them joined to a duet.
fn is_arm(text: &str) -> bool {
    let is_single = |text: &str| {
        let (name, suffix) = text.split_once('@').unwrap_or((text, "aa"));
        is_made_of(name, b'_') && ["aa", "slow"].contains(&suffix)
    };
    text.splitn(2, '~').all(is_single)
}

/// Whether `text` is `release`, `dev` or the name of a study's own build, which is a folder's name, too.
fn is_build(text: &str) -> bool {
    matches!(text, "release" | "dev") || text.strip_prefix("variant-").is_some_and(|name| is_made_of(name, b'-'))
}

/// Reads cases.tsv as docs/FORMAT.md section 1 has it; an error names `file` and the line.
pub fn parse(text: &str, file: &str) -> Result<Vec<Case>, Error> {
    let mut seen = BTreeSet::new();
    let cases = files::rows(text, file, "scenario, arm, build, seconds, arguments", |columns| {
        let [scenario, arm, build, _, _] = columns;
        if !is_made_of(scenario, b'_') {
            return Err(format!("'{scenario}' is no name of a scenario: small letters, digits and _ only"));
        }
        if !is_arm(arm) {
            return Err(format!("'{arm}' is no arm: NAME, NAME@aa, NAME@slow or two of them joined by ~"));
        }
        if !is_build(build) {
            return Err(format!("'{build}' is no build: release, dev or variant-NAME of builds.tsv"));
        }
        if !seen.insert((scenario, arm)) {
            return Err(format!("the test case {scenario} {arm} stands twice"));
        }
        Case::read(columns)
    })?;
    if cases.is_empty() { Err(Error::file(file, "there is no test case in it")) } else { Ok(cases) }
}

/// The lines of cases.tsv that are of these cases, named by scenario and arm.
pub fn lines_of(text: &str, cases: &[(String, String)]) -> String {
    let is_of = |line: &str, (scenario, arm): &(String, String)| line.split('\t').take(2).eq([scenario, arm]);
    text.split_inclusive('\n').filter(|line| cases.iter().any(|case| is_of(line, case))).collect()
}
