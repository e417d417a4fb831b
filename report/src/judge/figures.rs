//! A judged row as text, shared by the report, the README's table, the charts and `report verdicts`.

use std::collections::BTreeSet;

use crate::claims::Unit;
use crate::claims::rules::{Band, Over, computable};
use crate::fmt;
use crate::judge::judged::{Aside, Estimate, Range, Row, Scale, Side, Verdict};
use crate::stats::modes::Mode;

/// Stands where there is nothing to print.
pub const NOTHING: &str = "-";

/// How the numbers of one quantity are printed: in the unit of its authors, with the same decimals.
struct Printer<'a> {
    unit: Unit,
    /// What a value is divided by where it is printed as it is.
    divisor: f64,
    places: usize,
    symbol: &'a str,
}

impl<'a> Printer<'a> {
    /// For `values` of a quantity, as many decimals as a range of `width` bears; without one three significant digits.
    fn new(scale: &'a Scale, values: &[f64], width: Option<f64>) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (most, least) = (finite().fold(0.0, f64::max), finite().fold(f64::INFINITY, f64::min));
        let unit = match scale {
            Scale::Ratio { unit: Unit::Plain, .. } if most < 3.0 && least > 1.0 / 3.0 => Unit::Percent,
            Scale::Ratio { unit: Unit::Plain, .. } | Scale::Slope { range: Some(_), .. } => Unit::Times,
            Scale::Ratio { unit, .. } => *unit,
            _ => Unit::Plain,
        };
        let (divisor, symbol) = match (unit, scale) {
            (Unit::Percent | Unit::Inverse, _) | (_, Scale::Share { .. }) => (0.01, "%"),
            (Unit::Times, _) => (1.0, "times"),
            (_, Scale::Value { unit, .. }) => fmt::unit_for(unit, most.max(-least)),
            (_, Scale::Blocks { .. }) => (0.01, "% of blocks"),
            _ => (1.0, ""),
        };
        let mut printer = Printer { unit, divisor, places: 0, symbol };
        let numbers = || finite().map(|value| printer.number(value)).filter(|number| number.is_finite());
        let largest = numbers().map(f64::abs).fold(0.0, f64::max);
        let width = width.filter(|width| width.is_finite() && *width > 0.0);
        let range = width.unwrap_or_else(|| numbers().fold(0.0, f64::max) - numbers().fold(f64::MAX, f64::min));
        printer.places = match range {
            // A percent has one decimal at most, and none in a range of hosts unless it is small.
            _ if printer.is_change() => usize::from(largest < if width.is_some() { 10.0 } else { 3.0 }),
            range if range > 0.0 => fmt::places(range, 2).min(fmt::places(largest, 3)),
            _ => fmt::places(largest, 3),
        };
        printer
    }

    fn is_change(&self) -> bool {
        matches!(self.unit, Unit::Percent | Unit::Inverse)
    }

    /// The ends of a range as they are printed: what is inverse falls.
    fn in_order(&self, [lo, hi]: [String; 2]) -> [String; 2] {
        if self.unit == Unit::Inverse { [hi, lo] } else { [lo, hi] }
    }

    fn number(&self, value: f64) -> f64 {
        match self.unit {
            Unit::Percent => (value - 1.0) * 100.0,
            Unit::Inverse => (1.0 / value - 1.0) * 100.0,
            Unit::Plain | Unit::Times => value / self.divisor,
        }
    }

    fn print(&self, value: f64) -> String {
        let number = self.number(value);
        let is_long = self.places > 6 || number.abs() >= 1e12;
        let text = if is_long { fmt::number(number, 3) } else { fmt::decimals(number, self.places) };
        if self.is_change() && number > 0.0 && !fmt::is_zero(&text) { format!("+{text}") } else { text }
    }
}

/// The estimate with its interval: "+31 % (+28 to +35)"; a single figure stands alone. Of the slope of a ratio its ends: "+65 % at 1 ms, +2 % at 100 ms".
pub fn estimate(row: &Row) -> String {
    let Scale::Slope { range: Some(Range { metric, from, to, levels: Some((levels, unit)) }), .. } = &row.scale else {
        return or_nothing(shown(row), |estimate| printed(&row.scale, &estimate));
    };
    let scale = bare_ratio(*unit);
    let printer = Printer::new(&scale, levels, None);
    let level = |level: f64| fmt::join(&printer.print(level), printer.symbol);
    let [from, to] = [from, to].map(|end| fmt::round_value(*end, fmt::unit_of(metric)));
    format!("{} at {from}, {} at {to}", level(levels[0]), level(levels[1]))
}

/// The estimate as it is printed: that of a slope over a range as the factor between its ends.
pub fn shown(row: &Row) -> Option<Estimate> {
    let Estimate { point, lo, hi, .. } = row.estimate?;
    let [point, lo, hi] = [point, lo, hi].map(|value| on_scale(&row.scale, value));
    Some(Estimate { point, lo, hi, ..row.estimate? })
}

fn on_scale(scale: &Scale, value: f64) -> f64 {
    let Scale::Slope { range: Some(Range { from, to, .. }), .. } = scale else { return value };
    (value * (to / from).ln()).exp()
}

/// The same of a ratio by itself.
pub fn times(estimate: &Estimate) -> String {
    printed(&bare_ratio(Unit::Times), estimate)
}

fn bare_ratio(unit: Unit) -> Scale {
    let [numerator, denominator, metric] = [const { String::new() }; 3];
    Scale::Ratio { numerator, denominator, metric, unit }
}

/// From the least to the most of one quantity over hosts: "+5 to +42 %"; `None` without any.
pub fn range(rows: &[&Row]) -> Option<String> {
    let points = rows.iter().filter_map(|row| Some(shown(row)?.point).filter(|point| point.is_finite()));
    range_of(&rows.first()?.scale, &points.collect::<Vec<_>>())
}

/// More settings than this stand one by one in the evidence only, as longer words for a part do.
const MOST_SETTINGS: usize = 4;
pub const LONGEST_PART: usize = 60;

/// The ranges over hosts of several settings: of each part where the parts have names, else of all together; `None` without any.
pub fn ranges(settings: &[Vec<&Row>]) -> Option<String> {
    let name = |rows: &Vec<&Row>| rows[0].part_in_words(LONGEST_PART).to_owned();
    let named = |rows: &Vec<&Row>| Some(format!("{}: {}", name(rows), range(rows)?));
    let distinct: BTreeSet<String> = settings.iter().map(name).collect();
    let are_named = distinct.len() == settings.len() && !distinct.contains("") && settings.len() <= MOST_SETTINGS;
    let all = settings.concat();
    match settings {
        [] => None,
        [rows] => range(rows),
        _ if are_named => Some(settings.iter().filter_map(named).collect::<Vec<_>>().join("; ")),
        _ if all.iter().all(|row| are_alike(&row.scale, &all[0].scale)) => {
            Some(format!("{}, {} settings", range(&all)?, settings.len()))
        }
        _ => Some(format!("{} settings", settings.len())),
    }
}

/// From the least to the most of `points` of a quantity; `None` without any.
pub fn range_of(scale: &Scale, points: &[f64]) -> Option<String> {
    let (lo, hi) = (points.iter().copied().reduce(f64::min)?, points.iter().copied().reduce(f64::max)?);
    let printer = Printer::new(scale, points, None);
    let ends = printer.in_order([lo, hi].map(|end| printer.print(end)));
    Some(fmt::join(&fmt::range(&ends[0], &ends[1]), printer.symbol))
}

/// Whether figures of both scales can stand in one range.
pub fn are_alike(a: &Scale, b: &Scale) -> bool {
    match (a, b) {
        (Scale::Ratio { unit: a, .. }, Scale::Ratio { unit: b, .. }) => a == b,
        (Scale::Value { unit: a, .. }, Scale::Value { unit: b, .. }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// The published figure in the unit of its authors.
pub fn published(row: &Row) -> Option<String> {
    let Band { lo, hi } = row.figure?;
    let (sign, symbol) = match &row.scale {
        Scale::Ratio { unit: Unit::Times, .. } => ("", "times"),
        Scale::Ratio { .. } => ("+", "%"),
        Scale::Value { unit, .. } => ("", fmt::symbol_of(unit)),
        _ => ("", ""),
    };
    let print = |x: f64| format!("{}{}", if x > 0.0 { sign } else { "" }, fmt::plain(x));
    Some(fmt::join(&fmt::range(&print(lo), &print(hi)), symbol))
}

/// The published figure on the scale of the estimates, its ends in rising order.
pub fn published_on_scale(row: &Row) -> Option<Band> {
    let Band { lo, hi } = row.figure?;
    let [a, b] = match &row.scale {
        Scale::Ratio { unit: Unit::Inverse, .. } => [lo, hi].map(|x| 1.0 / (1.0 + x / 100.0)),
        Scale::Ratio { unit: Unit::Times, .. } | Scale::Value { .. } => [lo, hi],
        Scale::Ratio { .. } => [lo, hi].map(|x| 1.0 + x / 100.0),
        _ => return None,
    };
    Some(Band { lo: a.min(b), hi: a.max(b) })
}

/// Whether the published figure lies outside of the estimates of the hosts, and of `theirs`, those of the authors' own code.
pub fn is_outside(rows: &[&Row], theirs: &[f64]) -> bool {
    let points = || rows.iter().filter_map(|row| Some(shown(row)?.point)).chain(theirs.iter().copied());
    let Some(Band { lo, hi }) = rows.first().and_then(|row| published_on_scale(row)) else { return false };
    points().count() > 0 && (points().all(|point| point < lo) || points().all(|point| point > hi))
}

/// An estimate with its interval. A factor is open below at 0, which a failed run of the numerator's rival leaves; everything else at -inf.
pub fn printed(scale: &Scale, estimate: &Estimate) -> String {
    let Estimate { point, lo, hi, .. } = *estimate;
    let is_factor = matches!(scale, Scale::Ratio { .. } | Scale::Slope { range: Some(_), .. });
    let is_open = (lo == f64::NEG_INFINITY || (is_factor && lo <= 0.0), hi == f64::INFINITY);
    let width = (has_interval(estimate) && is_open == (false, false)).then(|| {
        let printer = Printer::new(scale, &[point], None);
        (printer.number(hi) - printer.number(lo)).abs()
    });
    let printer = Printer::new(scale, &[point], width);
    let number = || fmt::join(&printer.print(point), printer.symbol);
    let figure = if point.is_finite() { number() } else { "no figure (failed runs)".to_owned() };
    if !has_interval(estimate) {
        return figure;
    }
    let end = |end: f64, is_open: bool, open: &str| if is_open { open.to_owned() } else { printer.print(end) };
    let ends = [end(lo, is_open.0, "no lower bound"), end(hi, is_open.1, "no upper bound")];
    let [lo, hi] = printer.in_order(ends);
    format!("{figure} ({lo} to {hi})")
}

pub fn has_interval(estimate: &Estimate) -> bool {
    estimate.n > 1 && computable(estimate)
}

/// What the estimate is of: "async ÷ sync, work time", "explained share of T2".
pub fn what(scale: &Scale) -> String {
    match scale {
        Scale::Ratio { numerator, denominator, metric, .. } => {
            format!("{numerator} ÷ {denominator}, {}", fmt::metric_in_words(metric))
        }
        Scale::Value { metric, of, per, .. } => {
            let per = per.as_ref().map(|per| format!(" per {}", fmt::metric_in_words(per))).unwrap_or_default();
            format!("{} of {of}{per}", fmt::metric_in_words(metric))
        }
        Scale::Slope { of, range: None } => format!("slope of {of}"),
        // "from 1 ms to 100 ms (duration)", "from 24 to 96 tasks".
        Scale::Slope { of, range: Some(Range { metric, from, to, .. }) } => {
            let (unit, words) = (fmt::unit_of(metric), fmt::metric_in_words(metric));
            let [from, to] = [from, to].map(|end| fmt::round_value(*end, unit));
            let words = if unit == "count" { words } else { format!("({words})") };
            format!("change of {of} from {from} to {to} {words}")
        }
        Scale::Share { of } => format!("share of {of}"),
        Scale::Blocks { criterion } => format!("blocks with {criterion}"),
    }
}

/// The whole figure of a row: "+31 % (+28 to +35), n = 12; 1.75 s against 1.33 s"; `None` without an estimate.
pub fn figure(row: &Row) -> Option<String> {
    let estimate = row.estimate.as_ref()?;
    // A value is its own median, and those of one scenario say nothing of a slope.
    let has_sides = !matches!(row.scale, Scale::Value { .. } | Scale::Slope { .. }) && !row.sides.is_empty();
    let sides = if has_sides { format!("; {}", sides(row)) } else { String::new() };
    Some(format!("{}, {}{sides}{}", short(row)?, sample_size(estimate), failed(row)))
}

/// The figure with its interval; of an outcome "8 of 8 blocks".
pub fn short(row: &Row) -> Option<String> {
    let estimate = row.estimate.as_ref()?;
    Some(match &row.scale {
        Scale::Blocks { .. } if estimate.n > 0 && estimate.point.is_finite() => {
            let met = (estimate.point * estimate.n as f64).round();
            format!("{} of {} blocks", fmt::decimals(met, 0), estimate.n)
        }
        _ => self::estimate(row),
    })
}

/// "1.75 s against 1.33 s", in the order of the ratio; empty if unknown.
pub fn sides(row: &Row) -> String {
    match row.sides.as_slice() {
        [a, b] => format!("{} against {}", side_value(a), side_value(b)),
        _ => named_sides(row),
    }
}

/// "; 1 failed run", "; 3 failed runs"; empty without any.
pub fn failed(Row { failed, .. }: &Row) -> String {
    if *failed == 0 { String::new() } else { format!("; {}", fmt::plural(*failed, "failed run", "failed runs")) }
}

/// "n = 12", or that there is one run, or too few for an interval.
pub fn sample_size(estimate: &Estimate) -> String {
    match estimate.n {
        0 => "no sample".to_owned(),
        1 => "single run".to_owned(),
        n if has_interval(estimate) => format!("n = {n}"),
        n => format!("n = {n}, no interval"),
    }
}

/// "async 1.75 s, sync 1.33 s"; empty if unknown.
pub fn named_sides(row: &Row) -> String {
    let said = |side: &Side| format!("{} {}", side.arm, side_value(side));
    row.sides.iter().map(said).collect::<Vec<_>>().join(", ")
}

fn side_value(side: &Side) -> String {
    if side.median.is_finite() { fmt::value(side.median, fmt::unit_of(&side.metric)) } else { "failed".to_owned() }
}

/// "`async` has two modes, 169 ms to 182 ms in 9 runs and 329 ms to 369 ms in 3 runs", for each arm that has.
pub fn modes(row: &Row) -> impl Iterator<Item = String> {
    row.sides.iter().filter_map(|side| {
        let [low, high] = side.modes.as_ref()?;
        let value = |x: f64| fmt::value(x, fmt::unit_of(&side.metric));
        let said = |mode: &Mode| format!("{} to {} in {} runs", value(mode.lo), value(mode.hi), mode.n);
        Some(format!("`{}` has two modes, {} and {}", side.arm, said(low), said(high)))
    })
}

/// "3 blocks found the cores 190 to 240 ns apart, not 61 ns, and are set aside: +104 to +112 %", of blocks that found them nearer and of those that found
/// them farther; nothing if all count.
pub fn aside(row: &Row) -> impl Iterator<Item = String> {
    let (farther, nearer): (Vec<Aside>, Vec<Aside>) =
        row.aside.iter().partition(|block| block.apart_ns > block.usual_ns);
    [nearer, farther].into_iter().filter_map(|blocks| {
        let ns = |ns: f64| fmt::rough([ns; 2], "ns");
        let mut apart_ns: Vec<f64> = blocks.iter().map(|block| block.apart_ns).collect();
        apart_ns.sort_by(f64::total_cmp);
        let there = fmt::range(&ns(*apart_ns.first()?), &ns(*apart_ns.last()?));
        let are = if blocks.len() == 1 { "is" } else { "are" };
        let values = blocks.iter().map(|block| on_scale(&row.scale, block.value)).filter(|value| value.is_finite());
        let range = range_of(&row.scale, &values.collect::<Vec<_>>())?;
        let found = fmt::plural(blocks.len(), "block", "blocks") + " found the cores";
        Some(format!("{found} {there} apart, not {}, and {are} set aside: {range}", ns(blocks[0].usual_ns)))
    })
}

pub fn or_nothing<T>(value: Option<T>, said: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), said)
}

/// The floor as a percentage, or `-`.
pub fn floor(row: &Row) -> String {
    or_nothing(row.floor, fmt::percent)
}

/// 0.039 is "96.1 %"; `None` for a single figure.
pub fn coverage(estimate: &Estimate) -> Option<String> {
    has_interval(estimate).then(|| fmt::percent(1.0 - estimate.level))
}

/// "holds on 3 of 3, 1 unclear": a verdict over hosts.
pub fn over_in_words(Over { verdict, decided, unclear }: Over) -> String {
    let open = if unclear > 0 && decided > 0 { format!(", {unclear} unclear") } else { String::new() };
    let on = match verdict {
        Verdict::Depends | Verdict::NotTested => String::new(),
        Verdict::Unclear => format!(" on {unclear} of {unclear}"),
        Verdict::DoesNot => format!(", on {decided} of {decided}"),
        _ => format!(" on {decided} of {decided}"),
    };
    format!("{verdict}{on}{open}")
}
