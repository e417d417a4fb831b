//! Prices: what one handoff costs on the hosts that measured it.

use std::collections::BTreeMap;

use crate::claims::Quantity;
use crate::claims::handoffs::{Law, Price, Way};
use crate::fmt;
use crate::judge::judged::{At, Row, Scale};
use crate::judge::{Round, figures, newest};

/// A price on all hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedPrice {
    pub price: Price,
    /// The one of the newest round first.
    pub hosts: Vec<OnHost>,
    /// Whether hosts whose idle cores poll stand apart, as waking a core that sleeps is most of many prices: on others they sleep.
    pub polling_apart: bool,
}

/// A price on one host.
#[derive(Debug, Clone, PartialEq)]
pub struct OnHost {
    pub at: At,
    pub rows: Vec<(Way, Row)>,
}

impl OnHost {
    pub fn row(&self, way: Way) -> Option<&Row> {
        self.rows.iter().find(|(own, _)| *own == way).map(|(_, row)| row)
    }
}

impl JudgedPrice {
    pub fn on(&self, host: usize) -> Option<&OnHost> {
        self.hosts.iter().find(|on| on.at.host == host)
    }

    /// The hosts that a range is over: those that measured the most ways, so that sync and async are of the same hosts.
    pub fn ranged(&self) -> impl Iterator<Item = &OnHost> {
        let asleep = || self.hosts.iter().filter(|on| !(self.polling_apart && on.at.polls));
        let ways = asleep().map(|on| on.rows.len()).max();
        asleep().filter(move |on| Some(on.rows.len()) == ways)
    }

    fn rows(&self, way: Way) -> Vec<&Row> {
        self.ranged().filter_map(|on| on.row(way)).collect()
    }

    pub fn range(&self, way: Way) -> Option<String> {
        figures::range(&self.rows(way))
    }

    /// The range over the hosts whose idle cores poll, which stand apart.
    pub fn polling_range(&self, way: Way) -> Option<String> {
        let apart = self.hosts.iter().filter(|on| self.polling_apart && on.at.polls);
        figures::range(&apart.filter_map(|on| on.row(way)).collect::<Vec<_>>())
    }

    /// From the least to the most over hosts, so many times, in two digits.
    pub fn times(&self, way: Way, factor: f64) -> Option<String> {
        let rows = self.rows(way);
        let Scale::Value { unit, .. } = &rows.first()?.scale else { return None };
        let points = || rows.iter().filter_map(|row| Some(row.estimate?.point * factor)).filter(|x| x.is_finite());
        Some(fmt::rough([points().reduce(f64::min)?, points().reduce(f64::max)?], unit))
    }

    /// What is said of its use, if anything; empty if a figure of it is not known.
    pub fn use_in_words(&self) -> String {
        self.price.use_in_words(|way, factor| self.times(way, factor)).unwrap_or_default()
    }

    /// What one handoff takes on `host`, in seconds; `None` where that is not known, or is no time.
    pub fn seconds(&self, host: usize, way: Way) -> Option<f64> {
        let row = self.on(host)?.row(way)?;
        let Scale::Value { unit, .. } = &row.scale else { return None };
        Some(row.estimate?.point * fmt::conversion(unit, "s")?)
    }
}

/// What one handoff takes on a host after so much work of the caller, both in seconds, in rising order of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Tariff {
    /// What a chart calls the price.
    pub short: String,
    points: Vec<(f64, f64)>,
}

impl Tariff {
    /// The price without work before it, and those after some that `host` knows; `None` where it does not know the first, or that is no time.
    pub fn on(host: usize, prices: &Prices, Law { price, side, .. }: &Law) -> Option<Self> {
        let (study, id) = price.split_once('.')?;
        let own = prices.get(study)?;
        let judged = own.iter().find(|judged| judged.price.id == id)?;
        let first = judged.seconds(host, *side)?;
        let later = own.iter().filter_map(|judged| {
            let after = judged.price.after.as_ref().filter(|after| after.of == id)?;
            Some((after.us * 1e-6, judged.seconds(host, *side)?))
        });
        let mut points: Vec<(f64, f64)> = std::iter::once((0.0, first)).chain(later).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Tariff { short: judged.price.short.clone(), points })
    }

    /// The price after so much work: on a straight line between two that were measured, after more than any the last.
    pub fn after(&self, work_s: f64) -> f64 {
        let above = self.points.partition_point(|(work, _)| *work <= work_s).max(1);
        let (from, low) = self.points[above - 1];
        self.points.get(above).map_or(low, |(to, high)| low + (high - low) * (work_s - from) / (to - from))
    }

    pub fn least_and_most(&self) -> [f64; 2] {
        let prices = || self.points.iter().map(|(_, price)| *price);
        [prices().fold(f64::INFINITY, f64::min), prices().fold(f64::NEG_INFINITY, f64::max)]
    }
}

/// The prices of all studies, by study.
pub type Prices = BTreeMap<String, Vec<JudgedPrice>>;

/// The prices that some host measured, on each by the newest that did of the `rounds` of all hosts, the newest first.
pub fn judge(prices: &[Price], rounds: &[&Round]) -> Vec<JudgedPrice> {
    let judged = prices.iter().map(|price| {
        let hosts = newest(rounds, |round| round.at.host, |round| in_round(price, round));
        JudgedPrice { price: price.clone(), hosts, polling_apart: false }
    });
    let judged: Vec<JudgedPrice> = judged.filter(|judged| !judged.hosts.is_empty()).collect();
    let polling_apart = judged.iter().flat_map(|judged| &judged.hosts).any(|on| !on.at.polls);
    judged.into_iter().map(|judged| JudgedPrice { polling_apart, ..judged }).collect()
}

/// What a round measured of a price; `None` if it did not.
fn in_round(price: &Price, round: &Round) -> Option<OnHost> {
    let own = round.claims.prices.iter().find(|own| own.id == price.id)?;
    let row = |(way, quantity): &(Way, Quantity)| {
        let row = round.row(quantity, round.asked(quantity).first()?);
        row.estimate.is_some().then_some((*way, row))
    };
    let rows: Vec<(Way, Row)> = own.sides.iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| OnHost { at: round.at.clone(), rows })
}
