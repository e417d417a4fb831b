//! Scenarios with the arms that run in them: one table per study, from which every test case follows.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use strum::{EnumString, VariantNames};

use crate::output::unknown;
use crate::usage::Span;

/// How much of a study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Profile {
    /// Every test case once, at the smallest size.
    Smoke,
    /// What a user waits for.
    Quick,
    /// The published sizes.
    Full,
    /// The authors' own programs beside their mirrors.
    Originals,
}

/// A named setting, and what is compared in it. `S` is what it sets: sizes, place, window.
#[derive(Debug, Clone, Copy)]
pub struct Scenario<S: 'static> {
    pub name: &'static str,
    /// How the program is built: `release`, `dev` or a variant of builds.tsv.
    pub build: &'static str,
    pub setting: S,
    pub arms: &'static [Arms],
}

/// Arms of a scenario that take as long, in the profiles that run them.
#[derive(Debug, Clone, Copy)]
pub struct Arms {
    profiles: &'static [Profile],
    /// Expected wall time of a run on two cores.
    seconds: f64,
    /// Names separated by spaces: `a`, its twin `a@aa`, its handicapped copy `a@slow`, the duet `a~b`.
    names: &'static str,
}

macro_rules! arms_of {
    ($($name:ident: $($profile:ident)+;)+) => {$(
        #[doc = concat!("Arms of", $(" ", stringify!($profile)),+)]
        pub const fn $name(seconds: f64, names: &'static str) -> Arms {
            Arms { profiles: &[$(Profile::$profile),+], seconds, names }
        }
    )+};
}

arms_of! {
    smoke: Smoke;
    quick: Quick;
    full: Full;
    smoke_quick: Smoke Quick;
    smoke_full: Smoke Full;
    measured: Quick Full;
    always: Smoke Quick Full;
    originals: Originals;
}

impl<S> Scenario<S> {
    pub const fn new(name: &'static str, setting: S, arms: &'static [Arms]) -> Self {
        Scenario { name, build: "release", setting, arms }
    }

    pub const fn built(build: &'static str, name: &'static str, setting: S, arms: &'static [Arms]) -> Self {
        Scenario { name, build, setting, arms }
    }

    /// Its arms in `profile`, each with the expected seconds.
    pub fn arms_in(&self, profile: Profile) -> impl Iterator<Item = (&'static str, f64)> {
        self.arms.iter().filter(move |arms| arms.profiles.contains(&profile)).flat_map(Arms::each)
    }

    /// How long `arm` is expected to take, written as in the table.
    pub(crate) fn seconds(&self, arm: &str) -> Result<f64> {
        let listed: BTreeMap<_, _> = self.arms.iter().flat_map(Arms::each).collect();
        listed.get(arm).copied().with_context(|| {
            let choices = listed.keys().copied().collect::<Vec<_>>().join(", ");
            format!("the arm {arm} does not run in {}: choose one of {choices}", self.name)
        })
    }
}

impl Arms {
    fn each(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        let &Arms { seconds, names, .. } = self;
        names.split_whitespace().map(move |name| (name, seconds))
    }
}

pub fn find<S>(scenarios: &'static [Scenario<S>], name: &str) -> Result<&'static Scenario<S>> {
    let found = scenarios.iter().find(|scenario| scenario.name == name);
    found.ok_or_else(|| unknown("scenario", name, scenarios.iter().map(|scenario| scenario.name)))
}

/// One arm in one scenario: what a process runs, or one side of a duet.
#[derive(Debug)]
pub struct TestCase<'a, S: 'static> {
    pub scenario: &'static Scenario<S>,
    pub setting: &'static S,
    /// The arm, without suffix.
    pub arm: &'a str,
    /// How much longer `ARM@slow` takes; 1 for all others.
    pub handicap: f64,
    pub seed: u64,
}

impl<'a, S> TestCase<'a, S> {
    /// The case of `scenario` that `arm` names: with `@aa` the same, with `@slow` one that takes longer by `handicap`.
    pub(crate) fn new(scenario: &'static Scenario<S>, arm: &'a str, handicap: f64, seed: u64) -> Result<Self> {
        let (arm, handicap) = match arm.split_once('@') {
            None => (arm, 1.0),
            Some((name, "aa")) => (name, 1.0),
            Some((name, "slow")) => (name, handicap),
            Some((_, other)) => return Err(unknown("suffix", other, ["aa", "slow"])),
        };
        Ok(TestCase { scenario, setting: &scenario.setting, arm, handicap, seed })
    }

    /// Keeps the processor busy until `span` is longer by the handicap, if the case has one.
    pub fn stretch(&self, span: &Span) {
        if self.handicap > 1.0 {
            let end = span.elapsed().mul_f64(self.handicap);
            while span.elapsed() < end {
                std::hint::spin_loop();
            }
        }
    }
}

/// The lines of `arms`: scenario, arm, build, seconds and the arguments that run it.
pub(crate) fn lines<S>(scenarios: &[Scenario<S>], profile: Profile) -> String {
    let mut lines = Vec::new();
    for scenario @ Scenario { name, build, .. } in scenarios {
        for (arm, seconds) in scenario.arms_in(profile) {
            let arguments = arm.replacen('~', " --versus ", 1);
            lines.push(format!("{name}\t{arm}\t{build}\t{seconds}\trun --scenario {name} --arm {arguments}\n"));
        }
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    static TOY: [Scenario<u32>; 1] = [Scenario::new("n_1", 1, &[always(0.5, "a a@aa"), quick(2.0, "a@slow~a")])];

    #[test]
    fn a_case_is_the_line_of_the_contract() {
        let both = "n_1\ta\trelease\t0.5\trun --scenario n_1 --arm a\nn_1\ta@aa\trelease\t0.5\trun --scenario n_1 --arm a@aa\n";
        assert_eq!(lines(&TOY, Profile::Full), both);
        let duet = "n_1\ta@slow~a\trelease\t2\trun --scenario n_1 --arm a@slow --versus a\n";
        assert_eq!(lines(&TOY, Profile::Quick), format!("{both}{duet}"));
    }
}
