//! Axes: from where to where, and which values deserve a tick.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// A value and the text beside it.
pub type Tick = (f64, String);

/// An axis, straight or logarithmic.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// From where to where.
    pub range: Range<f64>,
    /// The values that have a tick.
    pub ticks: Vec<Tick>,
    logarithmic: bool,
}

/// The library's own axes have ticks where we want none, or cannot be told where we do.
impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        #[expect(clippy::cast_possible_truncation, reason = "some thousand pixels")]
        let pixels = (self.part(*value) * f64::from(to - from)).round() as i32;
        from + pixels
    }

    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        // Light points would be lines between the ticks.
        let ticks = if hint.weight().allow_light_points() { &[] } else { self.ticks.as_slice() };
        ticks.iter().map(|(value, _)| *value).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl Axis {
    /// A straight axis of rates from zero to a little beyond the largest of `values`, with about six ticks.
    pub fn of_rates(values: impl Iterator<Item = f64>) -> Self {
        let most = values.fold(0.0, f64::max);
        let end = if most > 0.0 { most * 1.06 } else { 1.06 };
        let step = rounds(end / 7.0, end).first().copied().unwrap_or(end);
        // Counted up in whole steps, so that no error adds up.
        let values = (0..=8_u8).map(|count| f64::from(count) * step).filter(|tick| *tick <= end);
        let decimals = decimals_of(step);
        let ticks = values.map(|tick| (tick, grouped(tick, decimals))).collect();
        Axis { range: 0.0..end, ticks, logarithmic: false }
    }

    /// A logarithmic axis around times in seconds, each tick with the unit in which it is short; never with less than two.
    pub fn of_times(values: impl Iterator<Item = f64>) -> Self {
        const MOST: usize = 11;
        let mut range = around(values);
        if rounds(range.start, range.end).len() < 2 {
            let below = rounds(range.start / 10.0, range.start).last().copied();
            let above = rounds(range.end, range.end * 10.0).first().copied();
            range = below.unwrap_or(range.start)..above.unwrap_or(range.end);
        }
        let all = rounds(range.start * (1.0 - 1e-9), range.end * (1.0 + 1e-9));
        // Over many decades only their beginnings.
        let powers = || all.iter().copied().filter(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9);
        let ticks: Vec<f64> = if all.len() > MOST { powers().collect() } else { all };
        let every = ticks.len().div_ceil(MOST).max(1);
        let ticks = ticks.into_iter().step_by(every).map(|tick| (tick, time(tick))).collect();
        Axis { range, ticks, logarithmic: true }
    }

    /// A logarithmic axis around counts, which are its ticks as far as there is room.
    pub fn of_counts(counts: &[f64]) -> Self {
        /// Of the axis, for the text of a tick.
        const ROOM: f64 = 0.06;
        let range = around(counts.iter().copied());
        let apart = (range.end / range.start).powf(ROOM);
        let mut ticks: Vec<Tick> = Vec::new();
        // From the greatest down, where a logarithmic axis is narrow.
        for count in counts.iter().rev().copied() {
            if ticks.last().is_none_or(|(above, _)| count * apart <= *above) {
                ticks.push((count, grouped(count, 0)));
            }
        }
        Axis { range, ticks, logarithmic: true }
    }

    /// At which part of its length a value stands.
    pub fn part(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        if self.logarithmic { (value / start).ln() / (end / start).ln() } else { (value - start) / (end - start) }
    }

    /// The text of the tick at `value`.
    pub fn label(&self, value: f64) -> String {
        let found = self.ticks.iter().find(|(tick, _)| tick.total_cmp(&value).is_eq());
        found.map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

/// The range of positive values with a margin at both ends, or something around 1 without any.
fn around(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(lo, hi), value| (lo.min(value), hi.max(value)));
    let (least, most) = if least <= most { (least, most) } else { (0.5, 2.0) };
    let margin = (most / least).powf(0.06).max(1.15);
    least / margin..most * margin
}

/// All numbers 1, 2 and 5 times a power of ten from `lo` to `hi`.
fn rounds(lo: f64, hi: f64) -> Vec<f64> {
    let mut out = Vec::new();
    let mut power = lo.log10().floor();
    while power <= hi.log10() {
        // Read as decimal numbers, so that they have no error.
        let of_power = [1, 2, 5].iter().filter_map(|mantissa| format!("{mantissa}e{power}").parse::<f64>().ok());
        out.extend(of_power.filter(|value| (lo..=hi).contains(value)));
        power += 1.0;
    }
    out
}

/// Decimals that a round number needs.
fn decimals_of(value: f64) -> usize {
    (0..9).find(|decimals| format!("{value:.decimals$}").parse() == Ok(value)).unwrap_or(9)
}

/// A number with a comma between thousands.
pub fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    fraction.map_or(out.clone(), |fraction| format!("{out}.{fraction}"))
}

/// A round time in seconds in the unit in which it is short.
fn time(seconds: f64) -> String {
    let (value, unit) = [(1.0, "s"), (1e3, "ms"), (1e6, "µs")]
        .into_iter()
        .map(|(factor, unit)| (seconds * factor, unit))
        .find(|(value, _)| *value >= 0.9999)
        .unwrap_or((seconds * 1e9, "ns"));
    // Factors leave an error in the last digits.
    let value = (value * 1e3).round() / 1e3;
    format!("{} {unit}", grouped(value, decimals_of(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<Tick>) -> String {
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn times_are_in_the_unit_in_which_they_are_short() {
        let axis = Axis::of_times([0.002, 2.0].into_iter());
        assert_eq!(labels(axis.ticks), "2 ms | 5 ms | 10 ms | 20 ms | 50 ms | 100 ms | 200 ms | 500 ms | 1 s | 2 s");
        let axis = Axis::of_times([1e-6, 1500.0].into_iter());
        assert_eq!(labels(axis.ticks), "1 µs | 10 µs | 100 µs | 1 ms | 10 ms | 100 ms | 1 s | 10 s | 100 s | 1,000 s");
    }

    #[test]
    fn an_axis_around_one_value_has_ticks() {
        for value in [1.0, 0.37, 2000.0, 5e-7] {
            assert!(Axis::of_times(std::iter::once(value)).ticks.len() > 1, "{value}");
        }
        assert!(Axis::of_times(std::iter::empty()).ticks.len() > 1);
    }

    #[test]
    fn rates_begin_at_zero_and_have_no_more_decimals_than_the_step() {
        assert_eq!(labels(Axis::of_rates([1980.0].into_iter()).ticks), "0 | 500 | 1,000 | 1,500 | 2,000");
        assert_eq!(labels(Axis::of_rates([3.77].into_iter()).ticks), "0 | 1 | 2 | 3");
        assert_eq!(labels(Axis::of_rates([0.3].into_iter()).ticks), "0.00 | 0.05 | 0.10 | 0.15 | 0.20 | 0.25 | 0.30");
        assert_eq!(labels(Axis::of_rates(std::iter::empty()).ticks), "0.0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([grouped(0.0, 0), grouped(999.0, 0), grouped(1_234_567.5, 1)], ["0", "999", "1,234,567.5"]);
    }
}
