//! Maps: what each arm costs over the range of x on the hosts that measured it, and where one passes another.

use super::pairs::Pairs;
use super::round::scale;
use super::{Round, newest};
use crate::claims::Of;
use crate::claims::handoffs::Beside;
use crate::claims::map::{Crossing, Curve, Line, Map, When};
use crate::judge::judged::{At, Estimate, Scale};
use crate::judge::prices::{Prices, Tariff};
use crate::judge::{figures, prediction::effect};
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
    pub at: At,
    /// In rising order of x.
    pub points: Vec<Point>,
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
    /// Of each line the median of y by itself, and by the price.
    plain: Vec<Option<f64>>,
    by_rule: Vec<Option<f64>>,
}

/// Where a ratio passes a value: at −∞ before the first point, at ∞ behind the last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crossed {
    pub measured: Option<Estimate>,
    pub predicted: Option<f64>,
    /// The first and the last x at which both arms were measured.
    pub ends: (f64, f64),
}

/// The maps that some host measured, on each by the newest that did of the `rounds` of all hosts, the newest first.
pub fn judge(maps: &[Map], rounds: &[&Round], prices: &Prices) -> Vec<JudgedMap> {
    let judged = maps.iter().map(|map| {
        let hosts = newest(rounds, |round| round.at.host, |round| in_round(map, round, prices));
        JudgedMap { map: map.clone(), hosts }
    });
    judged.filter(|judged| !judged.hosts.is_empty()).collect()
}

/// What a round measured of a map; `None` if it did not.
fn in_round(map: &Map, round: &Round, prices: &Prices) -> Option<OnHost> {
    let map = round.claims.maps.iter().find(|own| own.id == map.id)?;
    let tariffs: Vec<_> = map.curves.iter().map(|curve| Tariff::on(round.at.host, prices, &curve.law)).collect();
    let x = |scenario: &String| stats::median(round.gather(&map.place, scenario).values());
    let found = round.asked(&map.place).iter().filter_map(|scenario| Some((x(scenario)?, scenario)));
    let mut scenarios: Vec<(f64, &String)> = found.filter(|(x, _)| x.is_finite() && *x > 0.0).collect();
    scenarios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let gather = |scenario: &String| {
        let of_line = |Line { quantity, .. }: &Line| {
            let is_asked = round.asked(quantity).contains(scenario);
            if is_asked { round.gather(quantity, scenario) } else { Pairs::default() }
        };
        map.lines.iter().map(of_line).collect::<Vec<_>>()
    };
    let found: Vec<Vec<Pairs>> = scenarios.iter().map(|(_, scenario)| gather(scenario)).collect();
    let point = |(&(x, scenario), found): (&(f64, &String), &Vec<Pairs>)| {
        let y = |own: &Pairs| {
            let values = map.base.map_or_else(|| own.values(), |base| quotients(own, &found[base]));
            median_estimate(&values, CONFIDENCE)
        };
        let ys: Vec<Option<Estimate>> = found.iter().map(y).collect();
        let plain: Vec<Option<f64>> = found.iter().map(|own| stats::median(own.values())).collect();
        let by_rule = |line: usize| {
            let mut ruled = map.curves.iter().zip(&tariffs).filter_map(|(curve, price)| Some((curve, price.as_ref()?)));
            let (Curve { over, law, .. }, tariff) = ruled.find(|(curve, _)| curve.arm == line && ys[line].is_some())?;
            let over_y = plain[*over]?;
            let part = match &law.beside {
                None => 0.0,
                Some(Beside::Arm(part)) => plain[map.line(part)?]?,
                Some(Beside::Share { share }) => round.median(scenario, &map.lines[*over].arm, share)? * over_y,
            };
            let handoffs = law.handoffs.count(|metric, arm| round.median(scenario, arm, metric))?;
            let second = fmt::conversion("s", fmt::unit_of(&map.lines[line].quantity.metric))?;
            let price = tariff.after(over_y / second / handoffs) * second;
            Some(over_y * effect((over_y, part), handoffs, price))
        };
        let by_rule: Vec<Option<f64>> = (0..map.lines.len()).map(by_rule).collect();
        let over = map.base.map_or(Some(1.0), |base| plain[base]);
        let predicted = by_rule.iter().map(|y| Some((*y)? / over?)).collect();
        Point { x, ys, predicted, plain, by_rule }
    };
    let points: Vec<Point> = scenarios.iter().zip(&found).map(point).collect();
    let on_map = |&Crossing { arm, over, at, when, .. }: &Crossing| {
        let [own, others] = [arm, over].map(|line| round.scenarios(&map.lines[line].quantity));
        let shared = scenarios.iter().zip(&found).filter(|((_, name), _)| own.contains(name) && others.contains(name));
        let ratio = |found: &Vec<Pairs>| median_estimate(&quotients(&found[arm], &found[over]), CONFIDENCE);
        let ratios: Option<Vec<(f64, Estimate)>> = shared.map(|((x, _), found)| Some((*x, ratio(found)?))).collect();
        let ratios = ratios.unwrap_or_default();
        let measured = crossed(&ratios, at, when);
        let ends = ratios.first().zip(ratios.last()).map_or((0.0, 0.0), |(first, last)| (first.0, last.0));
        let y = |point: &Point, line: usize| point.by_rule[line].or(point.plain[line]);
        let ratio = |point: &Point| Some((point.x, y(point, arm)? / y(point, over)?));
        let is_ruled = points.iter().any(|point| point.by_rule[arm].or(point.by_rule[over]).is_some());
        let ruled: Vec<(f64, f64)> = points.iter().filter(|_| is_ruled).filter_map(ratio).collect();
        Crossed { measured, predicted: pass(&ruled, at, when), ends }
    };
    let crossings = map.crossings.iter().map(on_map).collect();
    let is_there = points.iter().any(|point| point.ys.iter().any(Option::is_some));
    is_there.then(|| OnHost { at: round.at.clone(), points, crossings })
}

/// The ratio of each block that has both and in which one at least is known.
fn quotients(above: &Pairs, below: &Pairs) -> Vec<f64> {
    Pairs::joined(&[above, below], |both| Some(both[0] / both[1]).filter(|ratio| !ratio.is_nan())).values()
}

/// Where the ratio of `points`, in rising order of x, passes `at`, with the interval that theirs leave: it lies behind each point whose interval is wholly
/// before `at`, and before each whose interval is wholly behind.
pub fn crossed(points: &[(f64, Estimate)], at: f64, when: When) -> Option<Estimate> {
    let [before, behind]: [fn(f64, f64) -> f64; 2] = match when {
        When::Falls => [f64::max, f64::min],
        When::Rises => [f64::min, f64::max],
    };
    let all: Vec<(f64, f64)> = points.iter().map(|(x, ratio)| (*x, ratio.point)).collect();
    let point = pass(&all, at, when)?;
    let mut limit = behind(0.0, f64::INFINITY);
    let nearest = points.iter().rev().map(|(x, ratio)| {
        limit = before(limit, behind(ratio.lo.max(0.0), ratio.hi));
        (*x, limit)
    });
    let mut nearest: Vec<(f64, f64)> = nearest.collect();
    nearest.reverse();
    let mut limit = before(0.0, f64::INFINITY);
    let farthest = points.iter().map(|(x, ratio)| {
        limit = behind(limit, before(ratio.lo.max(0.0), ratio.hi));
        (*x, limit)
    });
    let farthest: Vec<(f64, f64)> = farthest.collect();
    // Points that contradict each other, as bursts make them, leave open what lies between.
    let ends = [pass(&nearest, at, when)?, point, pass(&farthest, at, when)?];
    let (lo, hi) = (ends.into_iter().fold(f64::INFINITY, f64::min), ends.into_iter().fold(f64::NEG_INFINITY, f64::max));
    let (n, level) =
        points.iter().fold((usize::MAX, 0.0_f64), |(n, level), (_, ratio)| (n.min(ratio.n), level.max(ratio.level)));
    Some(Interval { point, lo, hi, n, level })
}

/// Where the ratio of `points`, in rising order of x, passes `at`: on the monotone sequence that is nearest to them, as noise moves a point to and fro and
/// the cost of a handoff only one way.
///
/// A ratio that falls to what lies above 1 is that of work x and of something that adds to it: the share that is added is interpolated on a straight line
/// between logarithms, but shrinks no faster than one over x, as a handoff after more work is no cheaper. Any other ratio itself is interpolated.
pub fn pass(points: &[(f64, f64)], at: f64, when: When) -> Option<f64> {
    let sign = if when == When::Falls { 1.0 } else { -1.0 };
    let falling: Vec<f64> = points.iter().map(|(_, ratio)| sign * ratio).collect();
    let ratios: Vec<f64> = stats::monotone::falling(&falling).into_iter().map(|ratio| sign * ratio).collect();
    let cut = ratios.partition_point(|ratio| sign * ratio > sign * at);
    if cut == points.len() {
        return points.last().map(|_| f64::INFINITY);
    }
    let Some(before) = cut.checked_sub(1) else { return Some(f64::NEG_INFINITY) };
    let ([x, next_x], [y, next_y]) = ([before, cut].map(|at| points[at].0), [before, cut].map(|at| ratios[at]));
    let is_added = when == When::Falls && at > 1.0;
    let at_least = if is_added { (x * (y - 1.0) / (at - 1.0)).min(next_x) } else { x };
    if is_added && next_y <= 1.0 {
        return Some(at_least);
    }
    let level = |ratio: f64| if is_added { (ratio - 1.0).ln() } else { ratio.ln() };
    let share = (level(y) - level(at)) / (level(y) - level(next_y));
    // Where an arm failed the ratio is infinite up to the next point.
    let share = if share.is_nan() { 1.0 } else { share };
    Some((x.ln() + share * (next_x.ln() - x.ln())).exp().max(at_least))
}

impl JudgedMap {
    /// What x and y are printed as.
    pub fn scales(&self) -> [Scale; 2] {
        [&self.map.place, &self.map.lines[0].quantity].map(scale)
    }

    /// The sentence of each crossing that some host knows: with the figure of the only host, or with the range over hosts and the figure of `here`,
    /// the newest.
    pub fn sentences(&self, here: &str) -> impl Iterator<Item = String> {
        self.map.crossings.iter().enumerate().filter_map(move |(place, crossing)| {
            let said = |x: &str| crossing.text.replace("{x}", x);
            if let [only] = self.hosts.as_slice() {
                return Some(said(&self.figure(only, place)?));
            }
            let (figure, _, rule) = self.parts(&self.hosts[0], place)?;
            let beside: Vec<String> = [figure].into_iter().chain(rule).collect();
            Some(format!("{} {here}: {}.", said(&self.range(place)?), beside.join(", ")))
        })
    }

    /// Where the crossing with this id is, from the least to the most over hosts.
    pub fn range_of(&self, id: &str) -> Option<String> {
        self.range(self.map.crossings.iter().position(|crossing| crossing.id == id)?)
    }

    /// "12 to 45 µs", "less than 10 µs", "20 ms to more than 100 ms": the range over hosts; over those whose idle cores sleep, if there are any, as
    /// waking a core is most of many handoffs.
    fn range(&self, place: usize) -> Option<String> {
        let all_poll = self.hosts.iter().all(|on| on.at.polls);
        let crossed = self.hosts.iter().filter(|on| on.at.polls == all_poll).filter_map(|on| on.crossings.get(place));
        self.in_words(crossed.filter_map(|crossed| Some((crossed.measured?.point, crossed.ends))).collect())
    }

    /// "45 µs (41 to 52 µs; by the rule 50 µs)".
    pub fn figure(&self, on: &OnHost, place: usize) -> Option<String> {
        let (figure, interval, rule) = self.parts(on, place)?;
        let beside = interval.into_iter().chain(rule).collect::<Vec<_>>().join("; ");
        Some(if beside.is_empty() { figure } else { format!("{figure} ({beside})") })
    }

    /// Its figure, its interval and what the rule says.
    fn parts(&self, on: &OnHost, place: usize) -> Option<(String, Option<String>, Option<String>)> {
        let Crossed { measured, predicted, ends } = on.crossings.get(place)?;
        let Estimate { point, lo, hi, .. } = (*measured)?;
        let interval = match (lo.is_finite(), hi.is_finite()) {
            _ if !figures::has_interval(measured.as_ref()?) => None,
            (true, true) => Some(fmt::range(&self.rounded(lo), &self.rounded(hi))),
            (true, false) => Some(format!("{} or more", self.rounded(lo))),
            (false, true) => Some(format!("{} or less", self.rounded(hi))),
            (false, false) => None,
        };
        // Of a crossing outside of what was measured the interval says more.
        let (figure, interval) = match interval {
            Some(interval) if point.is_infinite() => (interval, None),
            interval => (self.in_words(vec![(point, *ends)])?, interval),
        };
        let rule = predicted.and_then(|x| Some(format!("by the rule {}", self.in_words(vec![(x, *ends)])?)));
        Some((figure, interval, rule))
    }

    /// From the least to the most of crossings, each with the ends of what was measured there.
    fn in_words(&self, mut found: Vec<(f64, (f64, f64))>) -> Option<String> {
        let end = |(x, (least, most)): &(f64, (f64, f64))| if *x < 0.0 { *least } else { *most };
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| end(a).total_cmp(&end(b))));
        let name = |(x, (least, most)): &(f64, (f64, f64))| match *x {
            f64::NEG_INFINITY => format!("less than {}", self.rounded(*least)),
            f64::INFINITY => format!("more than {}", self.rounded(*most)),
            x => self.rounded(x),
        };
        let (first, last) = (found.first()?, found.last()?);
        let (from, to) = (name(first), name(last));
        let is_same_end = first.0.total_cmp(&last.0).is_eq();
        Some(match (first.0.is_finite(), last.0.is_finite()) {
            (true, true) => fmt::range(&from, &to),
            (false, true) => format!("{to} (less on some hosts)"),
            // Of several beyond one end the one that says the least.
            (false, false) if is_same_end && first.0 < 0.0 => to,
            (false, false) if is_same_end => from,
            _ => format!("{from} to {to}"),
        })
    }

    /// A value of x in two digits, which is what a crossing is known to.
    pub fn rounded(&self, x: f64) -> String {
        let unit = if let Of::Value { unit, .. } = &self.map.place.of { unit } else { "" };
        fmt::rough([x; 2], unit)
    }
}
