//! Axes: where a value stands in pixels, and which values deserve a tick.

/// A straight or logarithmic axis from `lo` to `hi` over the pixels `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    lo: f64,
    hi: f64,
    from: f64,
    to: f64,
    log: bool,
}

/// A value and the text beside it.
pub type Tick = (f64, String);

/// The mantissas of round numbers.
const ROUND: [f64; 3] = [1.0, 2.0, 5.0];

impl Axis {
    /// A straight axis from zero to a little beyond the largest of `values`.
    pub fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let most = values.fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        Self { lo: 0.0, hi: most * 1.06, from: 0.0, to: 1.0, log: false }
    }

    /// A logarithmic axis around positive `values` with a margin at both ends.
    pub fn log(values: impl Iterator<Item = f64>) -> Self {
        let (least, most) = extent(values);
        let margin = (most / least).powf(0.06).max(1.15);
        Self { lo: least / margin, hi: most * margin, from: 0.0, to: 1.0, log: true }
    }

    /// The same axis, made longer if it is so short that it has less than two round values.
    #[must_use]
    pub fn with_ticks(self) -> Self {
        if rounds(self.lo, self.hi).len() > 1 {
            return self;
        }
        let below = rounds(self.lo / 10.0, self.lo).last().copied().unwrap_or(self.lo);
        let above = rounds(self.hi, self.hi * 10.0).first().copied().unwrap_or(self.hi);
        Self { lo: below, hi: above, ..self }
    }

    /// The same axis over these pixels.
    #[must_use]
    pub fn over(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Where a value stands, also beyond the ends of the axis.
    pub fn at(&self, value: f64) -> f64 {
        let part = if self.log {
            (value / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        self.from + part * (self.to - self.from)
    }

    /// About six round values of a straight axis as plain numbers.
    pub fn plain_ticks(&self) -> Vec<Tick> {
        let step = rounds(self.hi / 7.0, self.hi).first().copied().unwrap_or(self.hi);
        let decimals = decimals_of(step);
        // Counted up in whole steps, so that no error adds up.
        (0..=8_u8)
            .map(|count| f64::from(count) * step)
            .filter(|tick| *tick <= self.hi)
            .map(|tick| (tick, grouped(tick, decimals)))
            .collect()
    }

    /// Round values of a logarithmic axis in seconds, with the unit in which each is short.
    pub fn time_ticks(&self) -> Vec<Tick> {
        const MOST: usize = 11;
        let all = rounds(self.lo * (1.0 - 1e-9), self.hi * (1.0 + 1e-9));
        // Over many decades only their beginnings.
        let powers = || all.iter().copied().filter(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9);
        let ticks: Vec<f64> = if all.len() > MOST { powers().collect() } else { all };
        let every = ticks.len().div_ceil(MOST).max(1);
        ticks.into_iter().step_by(every).map(|tick| (tick, time(tick))).collect()
    }
}

/// The least and the greatest of the values, or something around 1 without any.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(lo, hi), value| (lo.min(value), hi.max(value)));
    if least <= most { (least, most) } else { (0.5, 2.0) }
}

/// All round numbers from `lo` to `hi`.
fn rounds(lo: f64, hi: f64) -> Vec<f64> {
    let mut out = Vec::new();
    // The number with its exponent in decimal, so that it has no error.
    let mut power = lo.log10().floor();
    while power <= hi.log10() {
        let of_power = ROUND.iter().filter_map(|mantissa| format!("{mantissa}e{power}").parse::<f64>().ok());
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
        let axis = Axis::log([0.002, 2.0].into_iter());
        assert_eq!(
            labels(axis.time_ticks()),
            "2 ms | 5 ms | 10 ms | 20 ms | 50 ms | 100 ms | 200 ms | 500 ms | 1 s | 2 s"
        );
        let axis = Axis::log([1e-6, 1500.0].into_iter());
        assert_eq!(
            labels(axis.time_ticks()),
            "1 µs | 10 µs | 100 µs | 1 ms | 10 ms | 100 ms | 1 s | 10 s | 100 s | 1,000 s"
        );
    }

    #[test]
    fn an_axis_around_one_value_has_ticks() {
        for value in [1.0, 0.37, 2000.0, 5e-7] {
            assert!(Axis::log(std::iter::once(value)).with_ticks().time_ticks().len() > 1, "{value}");
        }
        assert!(Axis::log(std::iter::empty()).with_ticks().time_ticks().len() > 1);
    }

    #[test]
    fn rates_begin_at_zero_and_have_no_more_decimals_than_the_step() {
        assert_eq!(labels(Axis::from_zero([1980.0].into_iter()).plain_ticks()), "0 | 500 | 1,000 | 1,500 | 2,000");
        assert_eq!(labels(Axis::from_zero([3.77].into_iter()).plain_ticks()), "0 | 1 | 2 | 3");
        assert_eq!(
            labels(Axis::from_zero([0.3].into_iter()).plain_ticks()),
            "0.00 | 0.05 | 0.10 | 0.15 | 0.20 | 0.25 | 0.30"
        );
        assert_eq!(labels(Axis::from_zero(std::iter::empty()).plain_ticks()), "0.0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([grouped(0.0, 0), grouped(999.0, 0), grouped(1_234_567.5, 1)], ["0", "999", "1,234,567.5"]);
    }
}
