//! Axes: where a value stands in pixels, and which values deserve a tick.

use crate::fmt;

/// A straight or logarithmic axis from `lo` to `hi` over the pixels `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    lo: f64,
    hi: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Axis {
    /// An axis from zero to a little beyond the largest value.
    pub fn from_zero(max: f64, from: f64, to: f64) -> Self {
        let max = if max.is_finite() && max > 0.0 { max } else { 1.0 };
        Self::up_to(max * 1.04, from, to)
    }

    /// An axis from zero to `hi`, which lies above.
    pub fn up_to(hi: f64, from: f64, to: f64) -> Self {
        Self { lo: 0.0, hi, from, to, log: false }
    }

    /// A logarithmic axis around positive values, with a margin of 4 % of its length at both ends.
    pub fn log(min: f64, max: f64, from: f64, to: f64) -> Self {
        let usable = min.is_finite() && max.is_finite() && min > 0.0 && max >= min;
        let (min, max) = if usable { (min, max) } else { (0.5, 2.0) };
        let pad = ((max / min).ln() * 0.04).max(0.02);
        Self { lo: min * (-pad).exp(), hi: max * pad.exp(), from, to, log: true }
    }

    /// The pixel of a value; values beyond the axis are held at its ends, so that nothing is drawn outside.
    pub fn at(&self, x: f64) -> f64 {
        let share = if self.log {
            if x > 0.0 { (x.ln() - self.lo.ln()) / (self.hi.ln() - self.lo.ln()) } else { 0.0 }
        } else {
            (x - self.lo) / (self.hi - self.lo)
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    /// Whether the value lies on the axis.
    pub fn holds(&self, x: f64) -> bool {
        x >= self.lo && x <= self.hi
    }

    /// Round values on the axis, at most about `most`, in rising order; at least two on a logarithmic axis.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        if !self.log {
            return straight_ticks(self.lo, self.hi, most);
        }
        let candidates: [&[f64]; 6] = [
            &[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            &[1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ];
        for mantissas in candidates {
            let ticks = self.log_ticks(mantissas);
            if ticks.len() <= most && ticks.len() >= 3 {
                return ticks;
            }
        }
        let decades = self.log_ticks(&[1.0]);
        if decades.len() > most {
            let step = decades.len().div_ceil(most);
            return decades.into_iter().step_by(step).collect();
        }
        // Too narrow for round mantissas: a straight ladder reads better than one lonely tick.
        straight_ticks(self.lo, self.hi, most.min(5))
    }

    /// Round values on the axis with their labels, and the unit that all of them share; empty where each names its own.
    ///
    /// Sizes are round in binary units. A logarithmic axis that runs through several units, from milliseconds to seconds, names the unit
    /// at every tick: 0.002 s would have to be counted out.
    pub fn labelled(&self, most: usize, unit: &str) -> (Vec<(f64, String)>, String) {
        let stored_bytes = match unit {
            "kib" => Some(1024.0),
            "bytes" => Some(1.0),
            _ => None,
        };
        let ticks = match fmt::unit_for(unit, self.hi).filter(|_| stored_bytes.is_some()) {
            Some(_) if self.log => self.binary_ticks(most, stored_bytes.unwrap_or(1.0)),
            Some(step) => {
                let ticks = straight_ticks(self.lo / step.divisor, self.hi / step.divisor, most.max(2));
                ticks.into_iter().map(|tick| tick * step.divisor).collect()
            }
            None => self.ticks(most),
        };
        let units: Option<Vec<fmt::Unit>> = ticks.iter().map(|tick| fmt::unit_for(unit, *tick)).collect();
        let own = units.filter(|units| self.log && units.iter().any(|step| step.symbol != units[0].symbol));
        let (labels, shared) = match own {
            Some(units) => {
                let own = |(tick, step): (&f64, fmt::Unit)| fmt::join(&fmt::plain(tick / step.divisor), step.symbol);
                (ticks.iter().zip(units).map(own).collect(), String::new())
            }
            None => tick_labels(&ticks, unit),
        };
        (ticks.into_iter().zip(labels).collect(), shared)
    }

    /// Powers of two bytes on the axis, at most about `most`; ordinary ticks where the axis is too short for two of them.
    fn binary_ticks(&self, most: usize, bytes: f64) -> Vec<f64> {
        let (first, last) = ((self.lo * bytes).log2().ceil(), (self.hi * bytes).log2().floor());
        if last - first < 1.0 {
            return self.ticks(most);
        }
        let most = most.max(2) as f64;
        let fits = |step: &f64| (last / step).floor() - (first / step).ceil() < most;
        let step = [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0].into_iter().find(fits).unwrap_or(50.0);
        let mut ticks = Vec::new();
        let mut power = (first / step).ceil() * step;
        while power <= last {
            ticks.push(power.exp2() / bytes);
            power += step;
        }
        if ticks.len() < 2 { vec![first.exp2() / bytes, last.exp2() / bytes] } else { ticks }
    }

    fn log_ticks(&self, mantissas: &[f64]) -> Vec<f64> {
        let mut ticks = Vec::new();
        let mut decade = self.lo.log10().floor();
        while decade <= self.hi.log10().ceil() && ticks.len() < 10_000 {
            ticks.extend(
                mantissas.iter().map(|mantissa| mantissa * 10_f64.powf(decade)).filter(|tick| self.holds(*tick)),
            );
            decade += 1.0;
        }
        ticks
    }
}

fn straight_ticks(lo: f64, hi: f64, most: usize) -> Vec<f64> {
    let rough = (hi - lo) / most as f64;
    if rough <= 0.0 || !rough.is_finite() {
        return vec![lo];
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(power * 10.0);
    let first = (lo / step - 1e-9).ceil();
    let mut ticks = Vec::new();
    let mut count = 0.0;
    while (first + count) * step <= hi * (1.0 + 1e-12) && ticks.len() <= most + 2 {
        ticks.push((first + count) * step);
        count += 1.0;
    }
    ticks
}

/// Labels for ticks that share one unit and as many decimals as the finest of them needs; the unit is given back apart.
pub fn tick_labels(ticks: &[f64], unit: &str) -> (Vec<String>, String) {
    let largest = ticks.iter().copied().fold(0.0_f64, |most, tick| most.max(tick.abs()));
    let (divisor, symbol) = match fmt::unit_for(unit, largest) {
        Some(step) => (step.divisor, step.symbol.to_owned()),
        None => (1.0, fmt::symbol_of(unit).to_owned()),
    };
    let labels = ticks.iter().map(|tick| fmt::plain(tick / divisor)).collect();
    (labels, symbol)
}
