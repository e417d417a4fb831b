//! A round: from its samples of a scenario to pairs or values, and to estimates.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

use super::control;
use super::pairs::Pairs;
use crate::claims::{Claims, Of, Quantity, Unit};
use crate::folder::dataset::{CORE_TO_CORE, Dataset, Sample};
use crate::folder::{Folder, host};
use crate::judge::judged::{Aside, At, Estimate, JudgedControl, Row, Scale, Side, Verdict};
use crate::stats::signed_rank::{FEWEST, Interval};
use crate::stats::{self, CONFIDENCE, duet, estimate, floor, median_estimate, modes};

pub(super) const ALL: &str = "all";
/// How many times as far apart as usual, or as near, cores are elsewhere: rows between two threads then take up to four times as long.
const ELSEWHERE: f64 = 1.5;

/// A round of one host: its samples, and the claims as far as it was asked them.
#[derive(Debug)]
pub struct Round {
    pub at: At,
    /// `quick`, `full` or `smoke`.
    pub profile: String,
    /// How many layouts of the program the blocks use in turn.
    pub layouts: NonZeroU64,
    /// The processors of its machine, if that could be read.
    pub cpus: Option<f64>,
    /// How far apart its cores usually are, in ns; `None` if the runs did not say.
    pub core_to_core_ns: Option<f64>,
    pub claims: Claims,
    pub data: Dataset,
    /// What became of its controls, once somebody asks.
    pub controls: OnceCell<Vec<JudgedControl>>,
}

/// Why so many A/A pairs give no floor; `None` if they are enough.
pub(super) fn no_floor(pairs: usize) -> Option<String> {
    let why = match pairs {
        0 => "no A/A control measured the noise".to_owned(),
        _ => format!("{pairs} A/A pairs measured the noise, {FEWEST} are the fewest"),
    };
    (pairs < FEWEST).then(|| format!("no noise floor: {why}"))
}

/// What a sample says of a metric, which is not a number if the run failed; `None` if a run that succeeded lacks it.
pub(super) fn read(sample: &Sample, metric: &str) -> Option<f64> {
    if sample.error.is_some() { Some(f64::NAN) } else { sample.metrics.get(metric).copied() }
}

impl Round {
    /// The round in a folder.
    pub fn new(host: usize, folder: &Folder, claims: Claims) -> Self {
        let (profile, layouts) = (folder.meta.profile.clone(), folder.meta.layouts);
        let (cpus, polls) = (folder.machine.number("cpu_count"), host::idle_poll_ns(&folder.machine).is_some());
        let core_to_core_ns = usual(&folder.core_to_core_ns());
        let (at, data) = (At { round: folder.below(), host, polls }, folder.dataset());
        Round { at, profile, layouts, cpus, core_to_core_ns, claims, data, controls: OnceCell::new() }
    }

    pub(super) fn controls(&self) -> &[JudgedControl] {
        let judged = || self.claims.controls.iter().map(|control| control::judge(self, control)).collect();
        self.controls.get_or_init(judged)
    }

    pub(super) fn scenarios<'q>(&self, quantity: &'q Quantity) -> &'q [String] {
        quantity.scenarios(&self.profile)
    }

    /// The same of one that it was asked; none of another.
    pub(super) fn asked<'q>(&self, quantity: &'q Quantity) -> &'q [String] {
        if quantity.is_measured(&self.profile) { self.scenarios(quantity) } else { &[] }
    }

    pub(super) fn median(&self, scenario: &str, arm: &str, metric: &str) -> Option<f64> {
        let recorded = |sample: &Sample| sample.metrics.get(metric).copied();
        stats::median(self.one_sided(self.data.samples(scenario, arm), recorded).values())
    }

    /// The samples of `arm` in the blocks that `quantity` asks for: others may have asked for more of the same case.
    pub(super) fn samples(&self, quantity: &Quantity, scenario: &str, arm: &str) -> Vec<&Sample> {
        let blocks = quantity.blocks.get(&self.profile).map_or(u64::MAX, |&blocks| blocks as u64);
        self.data.samples(scenario, arm).iter().filter(|sample| sample.block < blocks).collect()
    }

    pub(super) fn recorded(&self, quantity: &Quantity, scenario: &str, arm: &str, metric: &str) -> Vec<f64> {
        let samples = self.samples(quantity, scenario, arm);
        samples.into_iter().filter_map(|sample| sample.metrics.get(metric).copied()).collect()
    }

    pub(super) fn gather(&self, quantity: &Quantity, scenario: &str) -> Pairs {
        let samples = |arm: &str| self.samples(quantity, scenario, arm);
        let metric = &quantity.metric;
        // A failure is infinitely bad: an infinite time, or no throughput.
        let bad = if quantity.lower_is_better { f64::INFINITY } else { f64::NEG_INFINITY };
        match &quantity.of {
            Of::Ratio { .. } if quantity.is_duet() => {
                let log_ratio = |duet: &Sample| Some(duet::log_ratio(&duet.pairs).unwrap_or(f64::NAN));
                self.one_sided(samples(&quantity.arms()[0]), log_ratio)
            }
            Of::Ratio { numerator, denominator } => {
                self.by_block(&samples(numerator), &samples(denominator), |above, below| {
                    let (a, b) = (read(above, metric)?, read(below, metric)?);
                    Some(match (a.is_nan(), b.is_nan()) {
                        // Nothing counts as almost nothing, which has a logarithm.
                        (false, false) => (a.max(f64::MIN_POSITIVE) / b.max(f64::MIN_POSITIVE)).ln(),
                        (true, true) => f64::NAN,
                        (true, false) => bad,
                        (false, true) => -bad,
                    })
                })
            }
            Of::Value { arm, minus, per, factor, .. } => {
                let value = |sample: &Sample, less: f64| {
                    let value = read(sample, metric)?;
                    let divisor = per.as_ref().map_or(Some(1.0), |per| read(sample, per))?;
                    Some(match divisor {
                        _ if value.is_nan() && !less.is_nan() => bad,
                        0.0 => f64::NAN,
                        divisor => (value - less) / divisor * factor,
                    })
                };
                match minus {
                    Some(minus) => self
                        .by_block(&samples(arm), &samples(minus), |sample, other| value(sample, read(other, metric)?)),
                    None => self.one_sided(samples(arm), |sample| value(sample, 0.0)),
                }
            }
            Of::Each(_) => Pairs::default(),
        }
    }

    /// Pairs pooled over the scenarios of a quantity, one per block that all of them have: the mean over the scenarios.
    pub(super) fn pooled(&self, quantity: &Quantity) -> Pairs {
        let found: Vec<Pairs> = self.scenarios(quantity).iter().map(|name| self.gather(quantity, name)).collect();
        // Not a number where failures of both sides meet.
        Pairs::joined(&found.iter().collect::<Vec<_>>(), |all| Some(all.iter().sum::<f64>() / all.len() as f64))
    }

    pub(super) fn by_layout(&self, found: &Pairs) -> Vec<(u64, f64)> {
        found.counting().map(|(block, pair)| (block % self.layouts, pair)).collect()
    }

    /// The floor of `own` effects of `quantity`, from A/A pairs and their layouts.
    pub(super) fn noise_floor(&self, quantity: &Quantity, copies: &[(u64, f64)], own: &Pairs, margin: f64) -> f64 {
        if quantity.is_duet() {
            floor::of_duets(copies, &self.by_layout(own), margin)
        } else {
            floor::over_layouts(copies, own.counting().count(), margin)
        }
    }

    /// What `quantity` came to in `scenario`, as a row in which nothing is decided yet.
    pub(super) fn row(&self, quantity: &Quantity, scenario: &str) -> Row {
        self.row_of(quantity, scenario, &self.gather(quantity, scenario))
    }

    /// The same, of what was gathered already.
    pub(super) fn row_of(&self, quantity: &Quantity, scenario: &str, found: &Pairs) -> Row {
        // Nothing says that values of one sample each are symmetric.
        let median = || median_estimate(&found.values(), CONFIDENCE);
        Row {
            scenario: scenario.to_owned(),
            scale: scale(quantity),
            part: String::new(),
            estimate: if quantity.is_ratio() { ratio_estimate(found, CONFIDENCE) } else { median() },
            sides: self.sides(quantity, scenario, found),
            floor: None,
            margin: None,
            figure: None,
            verdict: Verdict::Unclear,
            failed: found.failed,
            aside: self.aside(found, |pair| if quantity.is_ratio() { pair.exp() } else { pair }),
            at: self.at.clone(),
            beside: false,
        }
    }

    /// The blocks that are set aside, with what `value` makes of theirs.
    pub(super) fn aside<T: Copy>(&self, found: &Pairs<T>, value: impl Fn(T) -> f64) -> Vec<Aside> {
        let usual_ns = self.core_to_core_ns.unwrap_or_default();
        found.aside().map(|(own, apart_ns)| Aside { value: value(own), apart_ns, usual_ns }).collect()
    }

    /// How far apart the cores were, in ns, if that is not what they usually are.
    fn elsewhere(&self, sample: &Sample) -> Option<f64> {
        let own = *sample.metrics.get(CORE_TO_CORE)?;
        is_elsewhere(own, self.core_to_core_ns?).then_some(own)
    }

    /// One value per block of `samples`.
    pub(super) fn one_sided<'s>(
        &self,
        samples: impl IntoIterator<Item = &'s Sample>,
        value: impl Fn(&Sample) -> Option<f64>,
    ) -> Pairs {
        let mut found = Pairs::default();
        for sample in samples {
            let Some(value) = value(sample) else { continue };
            found.failed += usize::from(sample.error.is_some());
            found.add(sample.block, value, self.elsewhere(sample));
        }
        found
    }

    /// One pair per block that is in both `samples` and `others`.
    pub(super) fn by_block(
        &self,
        samples: &[&Sample],
        others: &[&Sample],
        pair: impl Fn(&Sample, &Sample) -> Option<f64>,
    ) -> Pairs {
        let mut found = Pairs::default();
        let others: BTreeMap<u64, &Sample> = others.iter().map(|sample| (sample.block, *sample)).collect();
        for &sample in samples {
            let Some((&other, pair)) = others.get(&sample.block).and_then(|other| Some((other, pair(sample, other)?)))
            else {
                continue;
            };
            let both = [sample, other];
            found.failed += both.iter().filter(|sample| sample.error.is_some()).count();
            found.add(sample.block, pair, both.iter().filter_map(|sample| self.elsewhere(sample)).reduce(f64::max));
        }
        found
    }

    /// The medians of both sides in the metric's own unit, in the blocks that count; of a duet, over all of its times.
    fn sides(&self, quantity: &Quantity, scenario: &str, found: &Pairs) -> Vec<Side> {
        let metric = &quantity.metric;
        let counts = |sample: &&Sample| found.counts(sample.block);
        let samples = |arm| self.samples(quantity, scenario, arm).into_iter().filter(counts);
        let values: Vec<(&String, Vec<f64>)> = match &quantity.of {
            Of::Ratio { numerator, denominator } if quantity.is_duet() => {
                let pairs = samples(&quantity.arms()[0]).flat_map(|sample| &sample.pairs);
                let (a, b) = pairs.map(|pair| (pair.a_s, pair.b_s)).unzip();
                vec![(numerator, a), (denominator, b)]
            }
            of => {
                let values = |arm| samples(arm).filter_map(|sample| sample.metrics.get(metric).copied()).collect();
                of.arms().into_iter().map(|arm| (arm, values(arm))).collect()
            }
        };
        let side = |(arm, values): (&String, Vec<f64>)| {
            let modes = if quantity.is_duet() { None } else { modes::two(values.clone()) };
            Some(Side { arm: arm.clone(), metric: metric.clone(), median: stats::median(values)?, modes })
        };
        values.into_iter().filter_map(side).collect()
    }
}

/// How far apart cores usually are: the median, if two thirds of the runs are near it.
pub fn usual(all: &[f64]) -> Option<f64> {
    let median = stats::median(all.to_vec())?;
    let near = all.iter().filter(|ns| !is_elsewhere(**ns, median)).count();
    (3 * near >= 2 * all.len()).then_some(median)
}

/// Whether cores that are `ns` apart are elsewhere than usual.
pub fn is_elsewhere(ns: f64, usual: f64) -> bool {
    ns.max(usual) > ELSEWHERE * ns.min(usual)
}

pub(super) fn ratio_estimate(found: &Pairs, confidence: f64) -> Option<Estimate> {
    let Interval { point, lo, hi, n, level } = estimate(&found.values(), confidence)?;
    Some(Estimate { point: point.exp(), lo: lo.exp(), hi: hi.exp(), n, level })
}

pub(super) fn scale(quantity: &Quantity) -> Scale {
    let metric = quantity.metric.clone();
    match quantity.of.clone() {
        Of::Ratio { numerator, denominator } => Scale::Ratio { numerator, denominator, metric, unit: Unit::default() },
        Of::Value { arm, minus, per, unit, .. } => {
            let minus = minus.map(|minus| format!(" less that of {minus}")).unwrap_or_default();
            Scale::Value { metric, of: arm + &minus, per, unit }
        }
        Of::Each(arms) => Scale::Slope { of: arms.join(", "), range: None },
    }
}
