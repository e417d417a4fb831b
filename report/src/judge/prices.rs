//! Prices: what one handoff costs on the hosts that measured it.

use crate::claims::Quantity;
use crate::claims::handoffs::{Price, Way};
use crate::fmt;
use crate::judge::figures;
use crate::judge::judged::{Row, Scale};
use crate::judge::{Round, newest_of_hosts};

/// A price on all hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedPrice {
    pub price: Price,
    /// The one of the newest round first.
    pub hosts: Vec<OnHost>,
}

/// A price on one host.
#[derive(Debug, Clone, PartialEq)]
pub struct OnHost {
    pub host: usize,
    /// Path of the round, relative to the results root.
    pub round: String,
    pub rows: Vec<(Way, Row)>,
}

impl OnHost {
    /// What was measured this way.
    pub fn row(&self, way: Way) -> Option<&Row> {
        let row = self.rows.iter().find(|(own, _)| *own == way)?;
        Some(&row.1).filter(|row| row.estimate.is_some())
    }
}

impl JudgedPrice {
    /// What `host` says of it.
    pub fn on(&self, host: usize) -> Option<&OnHost> {
        self.hosts.iter().find(|on| on.host == host)
    }

    /// From the least to the most over hosts.
    pub fn range(&self, way: Way) -> Option<String> {
        figures::range(&self.hosts.iter().filter_map(|on| on.row(way)).collect::<Vec<_>>())
    }

    /// From the least to the most over hosts, so many times, in two digits.
    pub fn times(&self, way: Way, factor: f64) -> Option<String> {
        let rows: Vec<&Row> = self.hosts.iter().filter_map(|on| on.row(way)).collect();
        let Scale::Value { unit, .. } = &rows.first()?.scale else { return None };
        let points =
            || rows.iter().filter_map(|row| Some(row.estimate?.point * factor)).filter(|point| point.is_finite());
        let (lo, hi) = (points().reduce(f64::min)?, points().reduce(f64::max)?);
        let (divisor, symbol) = fmt::unit_for(unit, hi);
        let [lo, hi] = [lo, hi].map(|end| fmt::rounded(end / divisor, 2));
        Some(fmt::join(&if lo == hi { lo } else { format!("{lo} to {hi}") }, symbol))
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

/// The prices on all hosts, those that were measured at all: on each host by the newest round that measured it. The `rounds` are of all hosts, the
/// newest first.
pub fn judge(prices: &[Price], rounds: &[(usize, &Round)]) -> Vec<JudgedPrice> {
    let judged = prices.iter().map(|price| {
        let hosts = newest_of_hosts(rounds, |host, round| {
            in_round(price, round).map(|rows| OnHost { host, round: round.folder.to_owned(), rows })
        });
        JudgedPrice { price: price.clone(), hosts }
    });
    judged.filter(|judged| !judged.hosts.is_empty()).collect()
}

/// What a round measured of a price; `None` if it did not.
fn in_round(price: &Price, round: &Round) -> Option<Vec<(Way, Row)>> {
    let own = round.evidence.claims.prices.iter().find(|own| own.id == price.id)?;
    let row = |quantity: &Quantity| {
        let profile = round.evidence.profile;
        let scenario = quantity.scenarios(profile).first().filter(|_| quantity.is_measured(profile))?;
        round.row(quantity, scenario)
    };
    let rows: Vec<(Way, Row)> = own.sides.iter().filter_map(|(way, quantity)| Some((*way, row(quantity)?))).collect();
    (!rows.is_empty()).then_some(rows)
}
