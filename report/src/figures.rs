//! A judged row as text, shared by the report, the README's table, the charts and `report verdicts`.

use crate::fmt;
use crate::judged::{Estimate, GoalStanding, JudgedClaim, Row, Scale, Side, Standing};

/// Stands where there is nothing to print.
pub const NOTHING: &str = "-";

/// The estimate with its interval, without n: "1.31 [1.28, 1.35]", "184 ns [160 ns, 201 ns]"; a single figure stands alone.
pub fn estimate(row: &Row) -> String {
    let Some(estimate) = &row.estimate else {
        return NOTHING.to_owned();
    };
    let print = printer(&row.scale, estimate);
    let figure = if estimate.point.is_finite() { print(estimate.point) } else { "no figure (failed runs)".to_owned() };
    if has_interval(estimate) { format!("{figure} {}", interval_with(&row.scale, estimate, &*print)) } else { figure }
}

/// The interval alone, "[1.28, 1.35]"; `None` for a single figure. An open end reads "no upper bound".
pub fn interval(row: &Row) -> Option<String> {
    let estimate = row.estimate.as_ref().filter(|estimate| has_interval(estimate))?;
    let print = printer(&row.scale, estimate);
    Some(interval_with(&row.scale, estimate, &*print))
}

/// Whether the estimate has an interval at all; one sample, or too few, has none.
pub fn has_interval(estimate: &Estimate) -> bool {
    estimate.n > 1 && estimate.level < 1.0 && !estimate.lo.is_nan() && !estimate.hi.is_nan()
}

fn interval_with(scale: &Scale, estimate: &Estimate, print: &dyn Fn(f64) -> String) -> String {
    // A ratio is open below at 0, which a failed run of the numerator's rival leaves; everything else at -inf.
    let open_below = estimate.lo == f64::NEG_INFINITY || (matches!(scale, Scale::Ratio { .. }) && estimate.lo <= 0.0);
    let lo = if open_below { "no lower bound".to_owned() } else { print(estimate.lo) };
    let hi = if estimate.hi == f64::INFINITY { "no upper bound".to_owned() } else { print(estimate.hi) };
    format!("[{lo}, {hi}]")
}

/// Prints every number of one estimate with the same unit and decimals.
fn printer(scale: &Scale, estimate: &Estimate) -> Box<dyn Fn(f64) -> String> {
    let width = if has_interval(estimate) { estimate.hi - estimate.lo } else { f64::INFINITY };
    match scale {
        Scale::Ratio { .. } | Scale::Slope { .. } => {
            let places = fmt::ratio_places(estimate.point, width);
            Box::new(move |x| {
                if x != 0.0 && x.abs() < 0.5 * 10_f64.powi(-i32::try_from(places).unwrap_or(3)) {
                    return fmt::number(x, 2);
                }
                if x.abs() >= 100.0 { fmt::number(x, 3) } else { fmt::decimals(x, places) }
            })
        }
        Scale::Value { unit, .. } => value_printer(unit, estimate.point),
        Scale::Share { .. } | Scale::Blocks { .. } => Box::new(fmt::percent),
    }
}

fn value_printer(unit: &str, like: f64) -> Box<dyn Fn(f64) -> String> {
    let Some(step) = fmt::unit_for(unit, like) else {
        let unit = unit.to_owned();
        return Box::new(move |x| fmt::value(x, &unit));
    };
    let places = fmt::places(like / step.divisor, 3);
    Box::new(move |x| fmt::join(&fmt::decimals(x / step.divisor, places), step.symbol))
}

/// What the estimate is of: "async ÷ sync, work time", "explained share of T2".
pub fn what(scale: &Scale) -> String {
    match scale {
        Scale::Ratio { numerator, denominator, metric } => {
            format!("{numerator} ÷ {denominator}, {}", fmt::metric_in_words(metric))
        }
        Scale::Value { metric, of, per, .. } => {
            format!("{} of {of}{}", fmt::metric_in_words(metric), divisor(per.as_deref()))
        }
        Scale::Slope { of } => format!("slope of {of}"),
        Scale::Share { of } => format!("share of {of}"),
        Scale::Blocks { criterion } => format!("blocks with {criterion}"),
    }
}

/// " per messages", or nothing for a value that is not divided.
pub fn divisor(per: Option<&str>) -> String {
    per.map(|per| format!(" per {}", fmt::metric_in_words(per))).unwrap_or_default()
}

/// The short form of [`what`] that stands before a figure: "async ÷ sync", "share of T2's effect", or nothing for a value.
pub fn lead(scale: &Scale) -> String {
    match scale {
        Scale::Ratio { numerator, denominator, .. } => format!("{numerator} ÷ {denominator}"),
        Scale::Value { .. } => String::new(),
        Scale::Slope { .. } => "slope".to_owned(),
        Scale::Share { of } => format!("share of {of}"),
        Scale::Blocks { .. } => "in".to_owned(),
    }
}

/// The whole figure of a row: "async ÷ sync 1.31 [1.28, 1.35], n = 12; 1.75 s against 1.33 s".
pub fn figure(row: &Row) -> String {
    let Some(estimate) = &row.estimate else {
        return NOTHING.to_owned();
    };
    let mut out = lead(&row.scale);
    if !out.is_empty() {
        out.push(' ');
    }
    out.push_str(&figure_of(row, estimate));
    let sides = sides(row);
    if !sides.is_empty() && !matches!(row.scale, Scale::Value { .. }) {
        out.push_str("; ");
        out.push_str(&sides);
    }
    if row.failed > 0 {
        out.push_str("; ");
        out.push_str(&failed(row.failed));
    }
    out
}

fn figure_of(row: &Row, estimate: &Estimate) -> String {
    let figure = self::estimate(row);
    if matches!(row.scale, Scale::Blocks { .. }) && estimate.n > 0 && estimate.point.is_finite() {
        let met = fmt::decimals((estimate.point * estimate.n as f64).round(), 0);
        return format!("{met} of {} ({figure})", fmt::plural(estimate.n, "block", "blocks"));
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

/// Medians of both sides with units, in the order of the ratio: "1.75 s against 1.33 s"; empty if unknown.
pub fn sides(row: &Row) -> String {
    match row.sides.as_slice() {
        [a, b] if a.metric == b.metric => format!("{} against {}", side_value(a), side_value(b)),
        sides => joined(sides, |side| format!("{} {}", side.arm, side_value(side))),
    }
}

/// Medians with the names of the arms: "async 1.75 s, sync 1.33 s"; empty if unknown.
pub fn named_sides(row: &Row) -> String {
    let one_metric = row.sides.windows(2).all(|pair| pair[0].metric == pair[1].metric);
    let metric =
        |side: &Side| if one_metric { String::new() } else { format!(" {}:", fmt::metric_in_words(&side.metric)) };
    joined(&row.sides, |side| format!("{}{} {}", side.arm, metric(side), side_value(side)))
}

fn joined(sides: &[Side], said: impl Fn(&Side) -> String) -> String {
    sides.iter().map(said).collect::<Vec<_>>().join(", ")
}

fn side_value(side: &Side) -> String {
    let value = || fmt::value(side.median, fmt::unit_of(&side.metric));
    if side.median.is_finite() { value() } else { "failed".to_owned() }
}

/// What is said of a value that may not be there.
pub fn or_nothing<T>(value: Option<T>, said: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), said)
}

/// The floor as a percentage, or `-` for a quantity that has none.
pub fn floor(row: &Row) -> String {
    or_nothing(row.floor, fmt::percent)
}

/// The coverage of the interval: 0.039 is "96.1 %"; `-` for a single figure.
pub fn coverage(row: &Row) -> String {
    or_nothing(row.estimate.filter(has_interval), |estimate| fmt::percent(1.0 - estimate.level))
}

/// "1 failed run", "3 failed runs".
pub fn failed(count: usize) -> String {
    fmt::plural(count, "failed run", "failed runs")
}

/// Our figure for the one-line summary of a claim: that of the row which decided it, with its scenario if there are several.
pub fn claim_figure(claim: &JudgedClaim) -> String {
    let Some(row) = claim.deciding_row() else {
        return NOTHING.to_owned();
    };
    let figure = figure(row);
    let mark = if figure == NOTHING || claim.mark.is_empty() { String::new() } else { format!(" {}", claim.mark) };
    if claim.rows.len() > 1 && row.scenario != "all" && figure != NOTHING {
        format!("{figure} ({}){mark}", row.scenario)
    } else {
        format!("{figure}{mark}")
    }
}

/// The cause for the summary; `-` where no effect was found that asks for one.
pub fn claim_cause(claim: &JudgedClaim) -> String {
    use crate::judged::Verdict::{Invalid, NotMeasured, NotTestable, NotTestableHere};
    let stands = claim.causes.iter().any(|cause| matches!(cause.standing, Standing::Cause | Standing::Part));
    // What is not believed needs no cause.
    let measured = !matches!(claim.verdict, Invalid | NotMeasured | NotTestable | NotTestableHere);
    if measured && (stands || has_effect(claim)) { claim.cause_in_short() } else { NOTHING.to_owned() }
}

/// Whether the verdict states an effect, so that a reader asks for its cause.
fn has_effect(claim: &JudgedClaim) -> bool {
    use crate::judged::Verdict::{Reproduced, ReproducedLarger, ReproducedSizeUndecided, ReproducedSmaller, Reversed};
    let stated = [Reproduced, ReproducedSmaller, ReproducedLarger, ReproducedSizeUndecided, Reversed];
    matches!(claim.kind, "ratio" | "outcome" | "every") && stated.contains(&claim.verdict)
}

/// A goal's standing over its rows as printed in tables; unmet ones stand out.
pub fn goal_standing(standing: GoalStanding) -> String {
    match standing {
        GoalStanding::Met | GoalStanding::NotMeasured => standing.into_str().to_owned(),
        GoalStanding::Missed | GoalStanding::Undecided => format!("**{}**", standing.into_str()),
    }
}
