//! cases.tsv: the test cases of a profile, as the study's `arms` lists them.

use std::collections::BTreeSet;

use crate::error::Error;

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
    /// Expected wall time of a run, in seconds.
    pub seconds: f64,
    /// The arguments that run it, separated by spaces.
    pub arguments: String,
}

impl Case {
    /// The test case of scenario, arm, build and arguments.
    pub(crate) fn new(columns: [&str; 4], seconds: f64) -> Self {
        let [scenario, arm, build, arguments] = columns.map(str::to_owned);
        Case { scenario, arm, build, seconds, arguments }
    }

    /// Its scenario and arm.
    pub fn name(&self) -> (&str, &str) {
        (&self.scenario, &self.arm)
    }

    /// Whether it is the A/A twin of a whole process; that of a duet shares a process, and so a layout, with the arm.
    pub fn is_twin(&self) -> bool {
        self.arm.ends_with("@aa") && !self.arm.contains('~')
    }
}

/// Whether `text` is made of small letters, digits and `more`.
fn is_made_of(text: &str, more: u8) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == more)
}

/// Whether `text` is a name of a scenario or arm.
fn is_name(text: &str) -> bool {
    is_made_of(text, b'_')
}

/// Whether `text` is an arm with at most one suffix, or two of them joined to a duet.
fn is_arm(text: &str) -> bool {
    let single = |text: &str| {
        let (name, suffix) = text.split_once('@').unwrap_or((text, "aa"));
        is_name(name) && ["aa", "slow"].contains(&suffix)
    };
    match text.split_once('~') {
        Some((first, second)) => single(first) && single(second),
        None => single(text),
    }
}

/// Whether `text` is `release`, `dev` or the name of a study's own build, which is a folder's name, too.
fn is_build(text: &str) -> bool {
    matches!(text, "release" | "dev") || text.strip_prefix("variant-").is_some_and(|name| is_made_of(name, b'-'))
}

/// Reads cases.tsv; `file` stands in messages.
///
/// # Errors
/// Names file and line of what is not as docs/FORMAT.md section 1 says.
pub fn parse(text: &str, file: &str) -> Result<Vec<Case>, Error> {
    let mut seen = BTreeSet::new();
    let mut cases = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fault = |what: String| Error::line(file, index + 1, what);
        let fields: Vec<&str> = line.split('\t').collect();
        let &[scenario, arm, build, seconds, arguments] = fields.as_slice() else {
            return Err(fault(format!("{} columns instead of scenario, arm, build, seconds, arguments", fields.len())));
        };
        if !is_name(scenario) {
            return Err(fault(format!("'{scenario}' is no name of a scenario: small letters, digits and _ only")));
        }
        if !is_arm(arm) {
            return Err(fault(format!("'{arm}' is no arm: NAME, NAME@aa, NAME@slow or two of them joined by ~")));
        }
        if !is_build(build) {
            return Err(fault(format!("'{build}' is no build: release, dev or variant-NAME of builds.tsv")));
        }
        let seconds = time(seconds).map_err(fault)?;
        if !seen.insert((scenario, arm)) {
            return Err(fault(format!("the test case {scenario} {arm} stands twice")));
        }
        cases.push(Case::new([scenario, arm, build, arguments], seconds));
    }
    if cases.is_empty() {
        return Err(Error::file(file, "there is no test case in it"));
    }
    Ok(cases)
}

/// A time in seconds.
pub(crate) fn time(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST_S);
    seconds.ok_or_else(|| format!("'{text}' is no time in seconds above zero and of a day at most"))
}

/// The lines of cases.tsv that are of these cases, named by scenario and arm.
pub fn lines_of(text: &str, cases: &[(String, String)]) -> String {
    let is_wanted = |line: &&str| {
        let mut columns = line.split('\t');
        let (scenario, arm) = (columns.next().unwrap_or_default(), columns.next().unwrap_or_default());
        cases.iter().any(|case| (case.0.as_str(), case.1.as_str()) == (scenario, arm))
    };
    text.split_inclusive('\n').filter(is_wanted).collect()
}
