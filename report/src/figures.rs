//! A judged row as text, shared by the report, the README's table, the charts and `report verdicts`.

use crate::fmt;
use crate::judged::{Counts, Estimate, Judged, Range, Row, Scale, Side, Verdict};

/// Stands where there is nothing to print.
pub const NOTHING: &str = "-";
/// The unit of what is printed in percent.
const FRACTION: &str = "fraction";

/// The estimate with its interval, without n: "1.31 [1.28, 1.35]", "184 [160, 201] ns"; a single figure stands alone.
pub fn estimate(row: &Row) -> String {
    let is_factor = matches!(row.scale, Scale::Ratio { .. } | Scale::Slope { range: Some(_), .. });
    or_nothing(shown(row), |estimate| printed(unit(&row.scale), is_factor, &estimate))
}

/// The estimate as it is printed: that of a slope over a range as the factor between its ends.
pub fn shown(row: &Row) -> Option<Estimate> {
    let estimate = row.estimate?;
    let Scale::Slope { range: Some(Range { from, to, .. }), .. } = &row.scale else {
        return Some(estimate);
    };
    let factor = |slope: f64| (slope * (to / from).ln()).exp();
    Some(Estimate { point: factor(estimate.point), lo: factor(estimate.lo), hi: factor(estimate.hi), ..estimate })
}

/// The same of a ratio by itself.
pub fn times(estimate: &Estimate) -> String {
    printed("", true, estimate)
}

/// The same as in a sentence, without its unit: "4.0 (3.0 to 4.9)"; `None` if there is no figure.
pub fn spoken(row: &Row) -> Option<String> {
    let estimate = shown(row).filter(|estimate| estimate.point.is_finite())?;
    let (print, _) = printer(unit(&row.scale), &estimate);
    let Estimate { point, lo, hi, .. } = estimate;
    let has_ends = has_interval(&estimate) && lo.is_finite() && hi.is_finite();
    let interval = if has_ends { format!(" ({} to {})", print(lo), print(hi)) } else { String::new() };
    Some(print(point) + &interval)
}

/// "8 of 8": the blocks in which an outcome was as claimed.
pub fn met(estimate: &Estimate) -> String {
    format!("{} of {}", fmt::decimals((estimate.point * estimate.n as f64).round(), 0), estimate.n)
}

/// A factor is open below at 0, which a failed run of the numerator's rival leaves; everything else at -inf.
fn printed(unit: &str, is_factor: bool, estimate: &Estimate) -> String {
    let Estimate { point, lo, hi, .. } = *estimate;
    let (print, symbol) = printer(unit, estimate);
    let interval = if has_interval(estimate) {
        let is_open = lo == f64::NEG_INFINITY || (is_factor && lo <= 0.0);
        let lo = if is_open { "no lower bound".to_owned() } else { print(lo) };
        let hi = if hi == f64::INFINITY { "no upper bound".to_owned() } else { print(hi) };
        format!(" [{lo}, {hi}]")
    } else {
        String::new()
    };
    let figure = if point.is_finite() { print(point) } else { "no figure (failed runs)".to_owned() };
    // A unit stands behind numbers only.
    let symbol = if point.is_finite() || has_interval(estimate) { symbol } else { "" };
    fmt::join(&(figure + &interval), symbol)
}

/// Whether the estimate has an interval at all; one sample, or too few, has none.
pub fn has_interval(estimate: &Estimate) -> bool {
    estimate.n > 1 && estimate.level < 1.0 && !estimate.lo.is_nan() && !estimate.hi.is_nan()
}

/// Prints every number of one estimate with the same decimals, as many as the width of its interval bears, and the unit of them all.
fn printer<'a>(unit: &'a str, estimate: &Estimate) -> (impl Fn(f64) -> String, &'a str) {
    let (divisor, symbol) = match unit {
        FRACTION => (0.01, "%"),
        unit => fmt::unit_for(unit, estimate.point),
    };
    let (point, width) = (estimate.point / divisor, (estimate.hi - estimate.lo) / divisor);
    // Two significant digits of the width, but no more than four of the estimate; three of it where the interval has no width, or is open.
    let has_width = has_interval(estimate) && width.is_finite() && width > 0.0;
    let places = match has_width.then(|| fmt::places(width, 2)) {
        Some(places) if point == 0.0 => places,
        Some(places) => places.min(fmt::places(point, 4)),
        None => fmt::places(point, 3),
    };
    (move |x| fmt::decimals_or_power(x / divisor, places), symbol)
}

/// The unit in which an estimate is stored; empty for a factor.
fn unit(scale: &Scale) -> &str {
    match scale {
        Scale::Ratio { .. } | Scale::Slope { .. } => "",
        Scale::Value { unit, .. } => unit,
        Scale::Share { .. } | Scale::Blocks { .. } => FRACTION,
    }
}

/// What the estimate is of: "async ÷ sync, work time", "explained share of T2".
pub fn what(scale: &Scale) -> String {
    match scale {
        Scale::Ratio { numerator, denominator, metric } => {
            format!("{numerator} ÷ {denominator}, {}", fmt::metric_in_words(metric))
        }
        Scale::Value { metric, of, per, .. } => {
            let per = per.as_ref().map(|per| format!(" per {}", fmt::metric_in_words(per))).unwrap_or_default();
            format!("{} of {of}{per}", fmt::metric_in_words(metric))
        }
        Scale::Slope { of, range: None } => format!("slope of {of}"),
        Scale::Slope { of, range: Some(range) } => {
            let of_what = match fmt::unit_of(&range.metric) {
                "count" => String::new(),
                _ => format!(" ({})", fmt::metric_in_words(&range.metric)),
            };
            format!("change of {of} {}{of_what}", ends(range))
        }
        Scale::Share { of } => format!("share of {of}"),
        Scale::Blocks { criterion } => format!("blocks with {criterion}"),
    }
}

/// "from 1 ms to 100 ms", "from 24 to 96 tasks".
fn ends(Range { metric, from, to }: &Range) -> String {
    let unit = fmt::unit_of(metric);
    let [from, to] = [from, to].map(|end| fmt::round_value(*end, unit));
    let counted = if unit == "count" { format!(" {}", fmt::metric_in_words(metric)) } else { String::new() };
    format!("from {from} to {to}{counted}")
}

/// The short form of [`what`] that stands before a figure: "async ÷ sync", "share of T2's effect", or nothing for a value.
pub fn lead(scale: &Scale) -> String {
    match scale {
        Scale::Ratio { numerator, denominator, .. } => format!("{numerator} ÷ {denominator}"),
        Scale::Value { .. } => String::new(),
        Scale::Slope { range: None, .. } => "slope".to_owned(),
        Scale::Slope { of, range: Some(_) } => format!("{of} changes by a factor of"),
        Scale::Share { of } => format!("share of {of}"),
        Scale::Blocks { .. } => "in".to_owned(),
    }
}

/// The whole figure of a row: "async ÷ sync 1.31 [1.28, 1.35], n = 12; 1.75 s against 1.33 s"; `None` without an estimate.
pub fn figure(row: &Row) -> Option<String> {
    let estimate = row.estimate.as_ref()?;
    let failed = if row.failed > 0 { format!("; {}", failed(row.failed)) } else { String::new() };
    Some(led(row, &figure_of(row, estimate)) + &failed)
}

/// The figure without its number of blocks: "async ÷ sync 1.31 [1.28, 1.35]; 1.75 s against 1.33 s".
pub fn short(row: &Row) -> Option<String> {
    let estimate = row.estimate.as_ref()?;
    let figure = match &row.scale {
        Scale::Blocks { .. } => figure_of(row, estimate),
        _ => self::estimate(row),
    };
    Some(led(row, &figure) + &of_what(row))
}

/// A figure between what it is of and the medians behind it.
fn led(row: &Row, figure: &str) -> String {
    [&lead(&row.scale), figure].join(" ").trim_start().to_owned() + &sides_behind(row)
}

/// " (read period)": which time the medians of a ratio are, unless they are how long something took.
fn of_what(row: &Row) -> String {
    match &row.scale {
        Scale::Ratio { metric, .. } if !row.sides.is_empty() && fmt::is_other_time(metric) => {
            format!(" ({})", fmt::metric_in_words(metric))
        }
        _ => String::new(),
    }
}

/// "; 1.75 s against 1.33 s", in the order of the ratio. A value is its own median, and those of one scenario say nothing of a slope, which has
/// its range instead.
fn sides_behind(row: &Row) -> String {
    match (&row.scale, row.sides.as_slice()) {
        (Scale::Slope { range: Some(range), .. }, _) => format!(", {}", ends(range)),
        (Scale::Value { .. } | Scale::Slope { .. }, _) | (_, []) => String::new(),
        _ => format!("; {}", sides(row)),
    }
}

/// The medians in the order of the ratio: "1.75 s against 1.33 s"; empty if unknown.
pub fn sides(row: &Row) -> String {
    match row.sides.as_slice() {
        [a, b] => format!("{} against {}", side_value(a), side_value(b)),
        _ => named_sides(row),
    }
}

fn figure_of(row: &Row, estimate: &Estimate) -> String {
    let figure = self::estimate(row);
    if matches!(row.scale, Scale::Blocks { .. }) && estimate.n > 0 && estimate.point.is_finite() {
        let blocks = if estimate.n == 1 { "block" } else { "blocks" };
        return format!("{} {blocks} ({figure})", met(estimate));
    }
    format!("{figure}, {}", sample_size(estimate))
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

/// Medians with the names of the arms: "async 1.75 s, sync 1.33 s"; empty if unknown.
pub fn named_sides(row: &Row) -> String {
    let said = |side: &Side| format!("{} {}", side.arm, side_value(side));
    row.sides.iter().map(said).collect::<Vec<_>>().join(", ")
}

fn side_value(side: &Side) -> String {
    if side.median.is_finite() { fmt::value(side.median, fmt::unit_of(&side.metric)) } else { "failed".to_owned() }
}

/// What is said of a value that may not be there.
pub fn or_nothing<T>(value: Option<T>, said: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), said)
}

/// A figure with its mark apart, which would otherwise read as a part of its last number.
pub fn marked(figure: String, mark: &str) -> String {
    if mark.is_empty() { figure } else { format!("{figure} {mark}") }
}

/// "3 hold, 1 not, 3 open".
pub fn count_in_words(Counts { holds, does_not_hold, undecided, .. }: &Counts) -> String {
    format!("{holds} hold, {does_not_hold} not, {undecided} open")
}

/// The floor as a percentage, or `-` for a quantity that has none.
pub fn floor(row: &Row) -> String {
    or_nothing(row.floor, fmt::percent)
}

/// The coverage of the interval: 0.039 is "96.1 %"; `None` for a single figure.
pub fn coverage(estimate: &Estimate) -> Option<String> {
    has_interval(estimate).then(|| fmt::percent(1.0 - estimate.level))
}

/// "1 failed run", "3 failed runs".
pub fn failed(count: usize) -> String {
    fmt::plural(count, "failed run", "failed runs")
}

/// Our figure for the one-line summary of a form: that of the row which decided it, with its part and scenario if there are several.
pub fn form_figure(found: &Judged) -> Option<String> {
    let row = found.deciding_row()?;
    let figure = figure(row)?;
    let place =
        [row.part.as_str(), row.scenario.as_str()].into_iter().filter(|part| !part.is_empty() && *part != "all");
    let place: Vec<&str> = place.filter(|_| found.rows.len() > 1).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    Some(marked(figure + &place, found.mark))
}

/// The cause for the summary; `None` where nothing was decided, or no effect was found that asks for one.
pub fn form_cause(found: &Judged) -> Option<String> {
    let stated = found.stated_causes();
    let unknown = has_effect(found).then(|| "cause unknown".to_owned());
    if stated.is_empty() { unknown } else { Some(stated.join("; ")) }
}

/// Whether the verdict states an effect, so that a reader asks for its cause.
fn has_effect(found: &Judged) -> bool {
    use Verdict::{Happens, Holds, HoldsLarger, HoldsSizeOpen, HoldsSmaller, Opposite};
    let stated = [Holds, HoldsLarger, HoldsSizeOpen, HoldsSmaller, Opposite, Happens];
    // That something can be done asks for no cause, unless one was named.
    let asks = matches!(found.kind, "ratio" | "every") || found.kind == "outcome" && !found.causes.is_empty();
    asks && stated.contains(&found.verdict)
}
