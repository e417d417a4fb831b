//! Axes: where a value stands in pixels, and which values deserve a tick.

use crate::fmt;

const MOST: usize = 7;

/// A logarithmic axis from `lo` to `hi` over the pixels `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    lo: f64,
    hi: f64,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis around positive values, with a margin of 4 % of its length at both ends.
    pub fn new(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let widest = |(min, max): (f64, f64), value| (min.min(value), max.max(value));
        let (min, max) = values.into_iter().fold((f64::INFINITY, 0.0), widest);
        let usable = min.is_finite() && max.is_finite() && min > 0.0 && max >= min;
        let (min, max) = if usable { (min, max) } else { (0.5, 2.0) };
        let pad = ((max / min).ln() * 0.04).max(0.02);
        Self { lo: min * (-pad).exp(), hi: max * pad.exp(), from, to }
    }

    pub fn at(&self, x: f64) -> f64 {
        let [x, lo, hi] = [x, self.lo, self.hi].map(f64::ln);
        // Values beyond the axis are held at its ends, what has no logarithm, too: nothing is drawn outside.
        let share = (x - lo) / (hi - lo);
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    /// Round values, at least two and about [`MOST`] at most, in rising order.
    pub fn ticks(&self) -> Vec<f64> {
        let candidates: [&[f64]; 6] = [
            &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            &[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ];
        let mut ladders = candidates.into_iter().map(|mantissas| self.log_ticks(mantissas));
        let decades = self.log_ticks(&[1.0]);
        let every = decades.len().div_ceil(MOST);
        ladders.find(|ticks| (3..=MOST).contains(&ticks.len())).unwrap_or_else(|| match every {
            // Too narrow for round mantissas: a straight ladder reads better than one lonely tick.
            0 | 1 => self.straight_ticks(5),
            every => decades.into_iter().step_by(every).collect(),
        })
    }

    /// The same with their labels, and the unit that all of them share; empty where each names its own, as percentages do and what runs through several
    /// units: 0.002 s would have to be counted out. Sizes are round in binary units.
    pub fn labelled(&self, unit: &str) -> (Vec<(f64, String)>, String) {
        let ticks = match unit {
            "kib" => self.binary_ticks(1024.0),
            "bytes" => self.binary_ticks(1.0),
            _ => self.ticks(),
        };
        let (divisor, symbol) = fmt::unit_for(unit, ticks.last().copied().unwrap_or_default());
        let is_named = unit == "percent" || ticks.iter().any(|tick| fmt::unit_for(unit, *tick).1 != symbol);
        let label = |tick| if is_named { fmt::round_value(tick, unit) } else { fmt::plain(tick / divisor) };
        let labels = ticks.iter().map(|tick| (*tick, label(*tick))).collect();
        (labels, if is_named { String::new() } else { symbol.to_owned() })
    }

    fn straight_ticks(&self, most: u8) -> Vec<f64> {
        let rough = (self.hi - self.lo) / f64::from(most);
        let power = 10_f64.powf(rough.log10().floor());
        let round = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
        let step = round.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(power * 10.0);
        let first = (self.lo / step - 1e-9).ceil();
        steps(first, 1.0).map(|count| count * step).take_while(|tick| *tick <= self.hi * (1.0 + 1e-12)).collect()
    }

    /// Powers of two bytes; ordinary ticks where the axis is too short for two of them. `bytes` is the size of the stored unit.
    fn binary_ticks(&self, bytes: f64) -> Vec<f64> {
        let (first, last) = ((self.lo * bytes).log2().ceil(), (self.hi * bytes).log2().floor());
        if last - first < 1.0 {
            return self.ticks();
        }
        let fits = |step: &f64| (last / step).floor() - (first / step).ceil() < MOST as f64;
        let step = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0].into_iter().find(fits).unwrap_or(50.0);
        let powers = steps((first / step).ceil() * step, step).take_while(|power| *power <= last);
        powers.map(|power| power.exp2() / bytes).collect()
    }

    fn log_ticks(&self, mantissas: &[f64]) -> Vec<f64> {
        let decades = steps(self.lo.log10().floor(), 1.0).take_while(|decade| *decade <= self.hi.log10().ceil());
        let ticks = decades.flat_map(|decade| mantissas.iter().map(move |mantissa| mantissa * 10_f64.powf(decade)));
        ticks.filter(|tick| (self.lo..=self.hi).contains(tick)).collect()
    }
}

/// `first` and what follows it at equal distances, without end.
fn steps(first: f64, distance: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(first), move |step| Some(step + distance))
}
