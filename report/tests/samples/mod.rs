//! Samples of a made-up study by scenario and arm, judged by claims that a test writes down.
#![allow(dead_code, reason = "every test file uses a part of it")]

use report::claims::Claims;
use report::error::Error;
use report::folder::dataset::{CORE_TO_CORE, Dataset, Sample};
use report::folder::record::{DuetPair, Order};
use report::judge::judged::{At, Judged, JudgedStudy, Verdict};
use report::judge::{self, Round, round};
use std::cell::OnceCell;
use std::num::NonZeroU64;

pub const RATIO: &str = "
[[claim]]
id = 'C'
text = 'a is slower than b'
original = '1.2'
published = { absent = 'a made-up claim has no author' }
fair = {}
kind = 'ratio'
metric = 'work_s'
ratio = 'a / b'
scenarios = ['s']
margin = 0.05
blocks = { quick = 12, full = 20 }
";

/// The claims that are written so.
pub fn parsed(claims: &str) -> Claims {
    refused(claims).expect("the claims are well formed")
}

/// The claims that are written so, or why they are refused.
pub fn refused(claims: &str) -> Result<Claims, Error> {
    Claims::parse(&format!("schema = 2\nstudy = 'toy'\n{claims}"), "claims.toml")
}

/// `n` values near `level` that differ by up to `spread` of it, the same every time.
pub fn near(level: f64, spread: f64, n: usize) -> Vec<f64> {
    // Multiples of the golden ratio are spread evenly and never in step with the blocks.
    (1..=n).map(|i| level * (1.0 + spread * 2.0 * ((i as f64 * 0.618_033_988_75).fract() - 0.5))).collect()
}

#[derive(Default)]
pub struct Samples(pub Dataset);

impl Samples {
    /// One run per block; an infinite value stands for a failed run.
    pub fn metric(self, scenario: &str, arm: &str, metric: &str, values: &[f64]) -> Self {
        self.metrics(scenario, arm, [metric], values.iter().map(|&value| [value]))
    }

    /// The same with several metrics of a run.
    pub fn metrics<const N: usize>(
        mut self,
        scenario: &str,
        arm: &str,
        names: [&str; N],
        values: impl IntoIterator<Item = [f64; N]>,
    ) -> Self {
        for (block, values) in (0..).zip(values) {
            let mut sample = Sample { block, ..Sample::default() };
            if values.iter().all(|value| value.is_finite()) {
                sample.metrics = names.map(str::to_owned).into_iter().zip(values).collect();
            } else {
                sample.error = Some("wrong answer".to_owned());
            }
            self.0.add(scenario, arm, sample);
        }
        self
    }

    pub fn work(self, arm: &str, values: &[f64]) -> Self {
        self.metric("s", arm, "work_s", values)
    }

    /// Twelve blocks in which `a` takes `ratio` times as much of the metric as `b`, with little noise.
    pub fn both(self, scenario: &str, metric: &str, ratio: f64) -> Self {
        self.metric(scenario, "a", metric, &near(ratio, 0.01, 12)).metric(scenario, "b", metric, &near(1.0, 0.0, 12))
    }

    /// Twelve blocks of an arm near a time of work.
    pub fn at(self, scenario: &str, arm: &str, work_s: f64) -> Self {
        self.metric(scenario, arm, "work_s", &near(work_s, 0.005, 12))
    }

    /// One process of twenty pairs per ratio; `first` multiplies the time of the arm that goes first.
    pub fn duet(mut self, arm: &str, ratios: &[f64], first: f64) -> Self {
        for (block, &ratio) in (0..).zip(ratios) {
            let pairs = [
                DuetPair { order: Order::Ab, a_s: 0.01 * ratio * first, b_s: 0.01 },
                DuetPair { order: Order::Ba, a_s: 0.01 * ratio, b_s: 0.01 * first },
            ];
            self.0.add("s", arm, Sample { block, pairs: pairs.repeat(10), ..Sample::default() });
        }
        self
    }

    /// Judges these samples in the profile `quick`.
    pub fn judge(&self, claims: &str) -> JudgedStudy {
        self.with_quiet_copies(&parsed(claims)).judge_alone(claims)
    }

    /// Judges these samples without copies but those that the test made.
    pub fn judge_alone(&self, claims: &str) -> JudgedStudy {
        let claims = parsed(claims);
        let round = self.round(&claims, "toy/round", "quick");
        JudgedStudy { goals: judge::goals(&claims, &[&round]), ..judge::study(&claims, &[&round], &[&round]) }
    }

    /// A round on host 0 with these samples, of one layout, that was asked the claims.
    pub fn round(&self, claims: &Claims, folder: &str, profile: &str) -> Round {
        let at = At { round: folder.to_owned(), host: 0, polls: false };
        let (profile, layouts) = (profile.to_owned(), NonZeroU64::MIN);
        let (claims, data, controls) = (claims.clone(), self.0.clone(), OnceCell::new());
        let cases = ["s", "t"].into_iter().flat_map(|scenario| ["a", "b", "c"].map(|arm| data.samples(scenario, arm)));
        let apart_ns: Vec<f64> =
            cases.flatten().filter_map(|sample| sample.metrics.get(CORE_TO_CORE).copied()).collect();
        let (cpus, core_to_core_ns) = (Some(2.0), round::usual(&apart_ns));
        Round { at, profile, layouts, cpus, core_to_core_ns, claims, data, controls }
    }

    /// The samples with those of every A/A control that the test made none of: copies that hardly differ.
    fn with_quiet_copies(&self, claims: &Claims) -> Self {
        let mut all = Samples(self.0.clone());
        let factors = near(1.0, 0.001, 40);
        for control in claims.controls.iter().filter(|control| control.planted.is_none()) {
            // A duet, or the copy and its arm.
            let arms = control.quantity.arms();
            for scenario in control.quantity.scenarios("quick") {
                if !all.0.samples(scenario, &arms[0]).is_empty() {
                    continue;
                }
                if control.quantity.is_duet() {
                    all = all.duet(&arms[0], &factors, 1.0);
                    continue;
                }
                for (sample, factor) in self.0.samples(scenario, &arms[1]).iter().zip(&factors) {
                    let mut copy = sample.clone();
                    copy.metrics.values_mut().for_each(|value| *value *= factor);
                    all.0.add(scenario, &arms[0], copy);
                }
            }
        }
        all
    }

    /// The first claim in its fair form.
    pub fn claim(&self, claims: &str) -> Judged {
        fair(&self.judge(claims), 0).clone()
    }

    pub fn verdict(&self, claims: &str) -> Verdict {
        self.claim(claims).verdict
    }
}

/// Work of `a` and `b` in a row of blocks.
pub fn works(a: &[f64], b: &[f64]) -> Samples {
    Samples::default().work("a", a).work("b", b)
}

/// Twelve blocks of `a` at `ratio` times `b`, with little noise.
pub fn ratio_of(ratio: f64) -> Samples {
    Samples::default().both("s", "work_s", ratio)
}

/// A claim of the study in its fair form.
pub fn fair(study: &JudgedStudy, claim: usize) -> &Judged {
    study.claims[claim].tests[1].of.as_ref().expect("the fair form makes sense")
}

/// The number of blocks that the first row rests on.
pub fn n(found: &Judged) -> Option<usize> {
    found.rows[0].estimate.as_ref().map(|estimate| estimate.n)
}
