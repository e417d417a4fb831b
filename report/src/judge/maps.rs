//! Maps: what each arm costs over the range of x on the hosts that measured it, and where one passes another.

use std::collections::BTreeMap;

use super::evidence::{Yield, scale};
use super::{Round, newest_of_hosts};
use crate::claims::handoffs::{PriceOf, Way};
use crate::claims::map::{Crossing, Line, Map, When};
use crate::judge::figures;
use crate::judge::judged::{Estimate, Scale};
use crate::judge::prediction::{added, overlap};
use crate::stats::{CONFIDENCE, Interval, median_estimate};
use crate::{fmt, stats};

/// A map on all hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedMap {
    pub map: Map,
    /// The one of the newest round first.
    pub hosts: Vec<OnHost>,
}

/// A map on one host.
#[derive(Debug, Clone, PartialEq)]
pub struct OnHost {
    pub host: usize,
    /// Path of the round, relative to the results root.
    pub round: String,
    /// In rising order of x.
    pub points: Vec<Point>,
    /// In the order of the map.
    pub crossings: Vec<Crossed>,
}

/// A scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub x: f64,
    /// Of each line the median of y, over that of the same block of the base if there is one.
    pub ys: Vec<Option<Estimate>>,
    /// The same by the price of a handoff; `None` of a line without a curve, or without the price on this host.
    pub predicted: Vec<Option<f64>>,
    /// Of each line the median of y by itself.
    plain: Vec<Option<f64>>,
    /// Of each curve.
    handoffs: Vec<Option<f64>>,
}

/// Where a ratio passes a value: at −∞ before the first point, at ∞ behind the last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crossed {
    pub measured: Option<Estimate>,
    pub predicted: Option<f64>,
    /// The first and the last x at which both arms were measured.
    pub ends: (f64, f64),
}

/// The maps on all hosts, those that were measured at all: on each host by the newest round that measured it. The `rounds` are of all hosts, the
/// newest first.
pub fn judge(maps: &[Map], rounds: &[(usize, &Round)]) -> Vec<JudgedMap> {
    let judged = maps.iter().map(|map| {
        let hosts = newest_of_hosts(rounds, |host, round| in_round(map, host, round));
        JudgedMap { map: map.clone(), hosts }
    });
    judged.filter(|judged| !judged.hosts.is_empty()).collect()
}

/// What a round measured of a map; `None` if it did not.
fn in_round(map: &Map, host: usize, round: &Round) -> Option<OnHost> {
    let (evidence, profile) = (round.evidence, round.evidence.profile);
    let map = evidence.claims.maps.iter().find(|own| own.id == map.id)?;
    let gather = |line: &Line, scenario: &str| {
        let is_asked = line.quantity.is_measured(profile);
        if is_asked { evidence.gather(&line.quantity, scenario) } else { Yield::default() }
    };
    let base = map.base.as_ref().and_then(|base| map.lines.get(map.line(base)?));
    let mut scenarios: Vec<(f64, &String)> = Vec::new();
    if map.place.is_measured(profile) {
        let x = |scenario: &String| stats::median(evidence.gather(&map.place, scenario).values());
        let found = map.place.scenarios(profile).iter().filter_map(|scenario| Some((x(scenario)?, scenario)));
        scenarios.extend(found.filter(|(x, _)| x.is_finite() && *x > 0.0));
    }
    scenarios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let point = |(x, scenario): &(f64, &String)| {
        let found: Vec<Yield> = map.lines.iter().map(|line| gather(line, scenario)).collect();
        let base = base.map(|base| gather(base, scenario));
        let shown = |own: &Yield| match &base {
            Some(base) => quotients(own, base).into_values().collect(),
            None => own.values(),
        };
        let handoffs =
            map.curves.iter().map(|curve| curve.handoffs.count(|metric, arm| round.median(scenario, arm, metric)));
        Point {
            x: *x,
            ys: found.iter().map(|own| median_estimate(&shown(own), CONFIDENCE)).collect(),
            predicted: vec![None; map.lines.len()],
            plain: found.iter().map(|own| stats::median(own.values())).collect(),
            handoffs: handoffs.collect(),
        }
    };
    let points: Vec<Point> = scenarios.iter().map(point).collect();
    let crossed = |Crossing { lines: [arm, over], at, when, .. }: &Crossing| {
        let [own, others] = [arm, over].map(|line| line.quantity.scenarios(profile));
        let is_shared = |(_, name): &&(f64, &String)| own.contains(name) && others.contains(name);
        let shared: Vec<&(f64, &String)> = scenarios.iter().filter(is_shared).collect();
        let mut blocks: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for (x, scenario) in &shared {
            for (block, ratio) in quotients(&gather(arm, scenario), &gather(over, scenario)) {
                blocks.entry(block).or_default().push((*x, ratio));
            }
        }
        // A block that lacks a scenario says nothing of where.
        let whole = blocks.values().filter(|points| points.len() == shared.len());
        let passes: Vec<f64> = whole.clone().filter_map(|points| pass(points, *at, *when)).collect();
        let ratios = |place: usize| stats::median(whole.clone().map(|points| points[place].1).collect());
        let medians: Option<Vec<(f64, f64)>> =
            shared.iter().enumerate().map(|(place, (x, _))| Some((*x, ratios(place)?))).collect();
        let point = medians.and_then(|medians| pass(&medians, *at, *when));
        let ends = shared.first().zip(shared.last()).map_or((0.0, 0.0), |(first, last)| (first.0, last.0));
        // The medians pass where noise of single blocks does not lead: one that misplaces a point moves its own crossing by the whole distance to
        // the next. The blocks say how sure that is.
        let around = |interval: Interval, point: f64| {
            let (lo, hi) = (interval.lo.min(point), interval.hi.max(point));
            Interval { point, lo, hi, ..interval }
        };
        let measured = median_estimate(&passes, CONFIDENCE).zip(point).map(|(interval, point)| around(interval, point));
        Crossed { measured, predicted: None, ends }
    };
    let crossings = map.crossings.iter().map(crossed).collect();
    let is_there = points.iter().any(|point| point.ys.iter().any(Option::is_some));
    is_there.then(|| OnHost { host, round: round.folder.to_owned(), points, crossings })
}

/// The ratio of two values of each block that has both and in which one at least is known.
fn quotients(above: &Yield, below: &Yield) -> BTreeMap<u64, f64> {
    let ratio = |(block, a): (&u64, &f64)| Some((*block, a / below.pairs.get(block)?));
    above.pairs.iter().filter_map(ratio).filter(|(_, ratio)| !ratio.is_nan()).collect()
}

/// Where the ratio of `points`, in rising order of x, passes `at`: between the neighbors that leave the fewest points on the wrong side, the last of
/// such. `None` without points.
///
/// A ratio that falls to what lies above 1 is that of work x and of something that adds to it: what is added shrinks with x, and is interpolated on
/// a straight line between logarithms, or as one over x where the next point shows nothing added. Any other ratio itself is.
pub fn pass(points: &[(f64, f64)], at: f64, when: When) -> Option<f64> {
    let is_before = |ratio: f64| match when {
        When::Falls => ratio > at,
        When::Rises => ratio < at,
    };
    let misplaced = |cut: &usize| (0..).zip(points).filter(|(place, (_, y))| is_before(*y) != (place < cut)).count();
    let cut = (0..=points.len()).rev().min_by_key(misplaced).filter(|_| !points.is_empty())?;
    let (Some((x, y)), Some((next_x, next_y))) = (cut.checked_sub(1).and_then(|cut| points.get(cut)), points.get(cut))
    else {
        return Some(if cut == 0 { f64::NEG_INFINITY } else { f64::INFINITY });
    };
    let is_added = when == When::Falls && at > 1.0;
    if is_added && *next_y <= 1.0 {
        return Some((x * (y - 1.0) / (at - 1.0)).min(*next_x));
    }
    let level = |ratio: f64| if is_added { (ratio - 1.0).ln() } else { ratio.ln() };
    let share = (level(*y) - level(at)) / (level(*y) - level(*next_y));
    // Where an arm failed the ratio is infinite up to the next point.
    let share = if share.is_nan() { 1.0 } else { share };
    Some((x.ln() + share * (next_x.ln() - x.ln())).exp())
}

impl JudgedMap {
    /// What x is printed as.
    pub fn x_scale(&self) -> Scale {
        scale(&self.map.place)
    }

    /// What y is printed as.
    pub fn y_scale(&self) -> Scale {
        scale(&self.map.lines[0].quantity)
    }

    /// The sentence of each crossing that some host knows, with the figure of the newest: its interval, and what the rule says.
    pub fn sentences(&self) -> impl Iterator<Item = (String, String)> {
        self.map.crossings.iter().enumerate().filter_map(|(place, crossing)| {
            let sentence = crossing.text.replace("{x}", &self.range(place)?);
            Some((sentence, self.figure(&self.hosts[0], place)?))
        })
    }

    /// Where the crossing with this id is, from the least to the most over hosts.
    pub fn range_of(&self, id: &str) -> Option<String> {
        self.range(self.map.crossings.iter().position(|crossing| crossing.id == id)?)
    }

    /// "12 to 45 µs", "less than 10 µs", "20 ms to more than 100 ms".
    fn range(&self, place: usize) -> Option<String> {
        let found = |on: &OnHost| {
            let crossed = on.crossings.get(place)?;
            Some((crossed.measured?.point, crossed.ends))
        };
        self.in_words(self.hosts.iter().filter_map(found).collect())
    }

    /// "45 µs (41 µs to 52 µs), by the rule 50 µs".
    pub fn figure(&self, on: &OnHost, place: usize) -> Option<String> {
        let Crossed { measured, predicted, ends } = on.crossings.get(place)?;
        let measured = (*measured)?;
        let own = self.in_words(vec![(measured.point, *ends)])?;
        let end = |x: f64, none: &str| if x.is_finite() { self.rounded(x).concat() } else { none.to_owned() };
        let interval = match (measured.lo, measured.hi) {
            (lo, hi) if !figures::has_interval(&measured) || (lo.is_infinite() && hi.is_infinite()) => String::new(),
            (lo, hi) => format!(" ({} to {})", end(lo, "no lower bound"), end(hi, "no upper bound")),
        };
        let rule = predicted.and_then(|x| Some(format!(", by the rule {}", self.in_words(vec![(x, *ends)])?)));
        Some(own + &interval + &rule.unwrap_or_default())
    }

    /// From the least to the most of crossings, each with the ends of what was measured there.
    fn in_words(&self, mut found: Vec<(f64, (f64, f64))>) -> Option<String> {
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = |(x, (least, most)): &(f64, (f64, f64))| match *x {
            f64::NEG_INFINITY => format!("less than {}", self.rounded(*least).concat()),
            f64::INFINITY => format!("more than {}", self.rounded(*most).concat()),
            x => self.rounded(x).concat(),
        };
        let ends = (found.first()?, found.last()?);
        let (from, to) = (name(ends.0), name(ends.1));
        if from == to {
            return Some(from);
        }
        let (first, last) = (ends.0.0, ends.1.0);
        let is_alike = first.is_finite() && last.is_finite() && self.rounded(first)[1] == self.rounded(last)[1];
        let from = if is_alike { self.rounded(first)[0].clone() } else { from };
        Some(format!("{from} to {to}"))
    }

    /// A value of x in two digits, which is what a crossing is known to, and its unit.
    pub fn rounded(&self, x: f64) -> [String; 2] {
        let unit = if let Scale::Value { unit, .. } = self.x_scale() { unit } else { String::new() };
        let (divisor, symbol) = fmt::unit_for(&unit, x);
        let digits = fmt::rounded(x / divisor, 2);
        let with_symbol = fmt::join(&digits, symbol);
        [digits.clone(), with_symbol[digits.len()..].to_owned()]
    }
}

impl OnHost {
    /// Fills in what the prices of this host, in seconds, predict.
    pub fn predict(&mut self, map: &Map, price_s: impl Fn(&PriceOf, Way, usize) -> Option<f64>) {
        let base = map.base.as_ref().and_then(|base| map.line(base));
        // By line, not yet over the base.
        let mut by_rule: Vec<Vec<Option<f64>>> = Vec::new();
        for point in &mut self.points {
            let mut ys = vec![None; map.lines.len()];
            for (curve, handoffs) in map.curves.iter().zip(&point.handoffs) {
                let plain = |arm: &str| point.plain[map.line(arm)?];
                let predicted = || {
                    let second = fmt::conversion("s", fmt::unit_of(&map.lines.first()?.quantity.metric))?;
                    let (over, price) = (plain(&curve.over)?, price_s(&curve.price, curve.side, self.host)? * second);
                    Some(
                        over * match &curve.beside {
                            None => added((*handoffs)?, price, over),
                            Some(beside) => {
                                let beside = plain(beside)?;
                                overlap(beside, over - beside, (*handoffs)?, price)
                            }
                        },
                    )
                };
                if let Some(line) = map.line(&curve.arm).filter(|line| point.ys[*line].is_some()) {
                    ys[line] = predicted();
                }
            }
            let base = base.map_or(Some(1.0), |base| point.plain[base]);
            point.predicted = ys.iter().map(|y| Some((*y)? / base?)).collect();
            by_rule.push(ys);
        }
        for (crossed, crossing) in self.crossings.iter_mut().zip(&map.crossings) {
            let [own, others] = &crossing.lines;
            let ends = [own, others].map(|line| map.line(&line.arm));
            let [Some(arm), Some(over)] = ends else { continue };
            let is_of_y = own.quantity.metric == map.lines[arm].quantity.metric;
            let is_known = |line: usize| by_rule.iter().any(|ys| ys[line].is_some());
            if !is_of_y || !(is_known(arm) || is_known(over)) {
                continue;
            }
            let ratio = |(point, ys): (&Point, &Vec<Option<f64>>)| {
                Some((point.x, ys[arm].or(point.plain[arm])? / ys[over].or(point.plain[over])?))
            };
            let points: Vec<(f64, f64)> = self.points.iter().zip(&by_rule).filter_map(ratio).collect();
            crossed.predicted = pass(&points, crossing.at, crossing.when);
        }
    }
}
