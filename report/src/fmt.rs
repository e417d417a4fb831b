//! Numbers as a reader wants them: sensible digits, units that fit the size, never a raw float.

/// Units of time in seconds and of size in bytes, the largest first.
const LADDERS: [[(f64, &str); 4]; 2] = [
    [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
    [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")],
];

/// The suffix of a metric's name that is its unit: `work_s` gives `s`, `rows_per_s` gives `per_s`; empty if it has none.
/// Of rates, megabytes per second have a unit of their own, since "1,270/s" would not say of what.
pub fn unit_of(metric: &str) -> &'static str {
    const UNITS: [&str; 11] = ["mb_per_s", "per_s", "percent", "ratio", "count", "bytes", "kib", "ms", "us", "ns", "s"];
    let is_of = |unit: &&str| metric.strip_suffix(unit).is_some_and(|stem| stem.is_empty() || stem.ends_with('_'));
    UNITS.into_iter().find(is_of).unwrap_or("")
}

/// Whether the name of a metric is words of which the last is a unit.
pub fn ends_in_unit(metric: &str) -> bool {
    metric.contains('_') && !unit_of(metric).is_empty()
}

/// `text` with a capital at its beginning.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A metric in words, without its unit: `work_s` is "work time", `minor_faults_count` is "minor faults".
pub fn metric_in_words(metric: &str) -> String {
    let unit = unit_of(metric);
    let stem = metric.strip_suffix(unit).unwrap_or(metric).trim_end_matches('_');
    let stem = stem.replace('_', " ").replace("rss", "RSS");
    match (unit, stem.as_str()) {
        ("s", "process") => "process wall time".to_owned(),
        ("s", "cpu") => "processor time".to_owned(),
        ("s", "core" | "thread") => format!("time of all {stem}s"),
        ("s", "work" | "wall" | "user" | "system") => format!("{stem} time"),
        ("mb_per_s", "") => "throughput".to_owned(),
        ("mb_per_s", of) if !of.ends_with("throughput") => format!("{of} throughput"),
        ("per_s", _) => format!("{stem} per second"),
        ("percent", _) => format!("{stem} (percent)"),
        ("ratio", _) => format!("{stem} ratio"),
        _ => stem,
    }
}

/// The printed unit that fits a value of `like` (in the stored unit `unit`), so that a row of values can share one: what a value is divided by
/// to be in it, and what stands behind the number, for example `(1e-3, "ms")`.
pub fn unit_for(unit: &str, like: f64) -> (f64, &str) {
    let Some((ladder, stored)) = ladder(unit) else { return (1.0, symbol_of(unit)) };
    let size = (like * stored).abs();
    // Zero and unreadable values keep the stored unit: "0 s" says more than "0 ns".
    let is_readable = size > 0.0 && size.is_finite();
    let fits = |(step, _): &(f64, &str)| if is_readable { size >= step * 0.9995 } else { *step <= stored };
    let (step, symbol) = ladder.into_iter().find(fits).unwrap_or(ladder[3]);
    (step / stored, symbol)
}

/// The units of what `unit` is one of, and how much it is of the base of them.
fn ladder(unit: &str) -> Option<([(f64, &'static str); 4], f64)> {
    // What is given in larger sizes stays in them.
    let is_it = |(step, symbol): &&(f64, &str)| *symbol == symbol_of(unit) && *step <= 1024.0;
    LADDERS.into_iter().find_map(|units| Some((units, units.iter().find(is_it)?.0)))
}

/// What a value in `unit` is multiplied by to be in `other`; `None` of units that have nothing in common.
pub fn conversion(unit: &str, other: &str) -> Option<f64> {
    match (ladder(unit), ladder(other)) {
        (Some((units, from)), Some((others, to))) if units == others => Some(from / to),
        _ => (unit == other).then_some(1.0),
    }
}

/// What stands behind a number in a stored unit.
pub fn symbol_of(unit: &str) -> &str {
    match unit {
        "us" => "µs",
        "kib" => "KiB",
        "bytes" => "B",
        "count" | "ratio" => "",
        "percent" => "%",
        "per_s" => "/s",
        "mb_per_s" => "MB/s",
        other => other,
    }
}

/// A value with its unit: `(0.0123, "s")` is "12.3 ms", `(1331.2, "kib")` is "1.30 MiB"; an unknown unit is printed as given.
pub fn value(x: f64, unit: &str) -> String {
    let (divisor, symbol) = unit_for(unit, x);
    // A whole number is printed as one, unless it is too long to be read.
    let is_whole = symbol.is_empty() && x.fract() == 0.0 && x.abs() < 1e12;
    join(&if is_whole { decimals(x, 0) } else { number(x / divisor, 3) }, symbol)
}

/// The same of a round value, without trailing zeros: `(10.0, "ms")` is "10 ms".
pub fn round_value(x: f64, unit: &str) -> String {
    let (divisor, symbol) = unit_for(unit, x);
    join(&plain(x / divisor), symbol)
}

/// A number and a symbol with the space between them that the symbol asks for.
pub fn join(digits: &str, symbol: &str) -> String {
    let space = if symbol.is_empty() || symbol.starts_with('/') { "" } else { " " };
    [digits, space, symbol].concat()
}

/// A number with at least `significant` significant digits and no needless ones: 0.01234 (3) is "0.0123", 1234567 is "1,234,567".
pub fn number(x: f64, significant: usize) -> String {
    if needs_power(x) { scientific(x, significant) } else { decimals(x, places(x, significant)) }
}

/// Whether decimals would show nothing of the number, or more of them than can be read.
fn needs_power(x: f64) -> bool {
    x != 0.0 && x.is_finite() && !(1e-6..1e12).contains(&x.abs())
}

/// Decimal places that give `x` that many significant digits, at most 9.
pub fn places(x: f64, significant: usize) -> usize {
    if !x.is_finite() || x == 0.0 {
        return 0;
    }
    // `{:e}` rounds first, so that 9.996 with three digits counts as 10.0 and not as 10.00.
    let rounded = format!("{:.*e}", significant.saturating_sub(1), x.abs());
    let exponent = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok()).unwrap_or(0);
    let wanted = i64::try_from(significant).unwrap_or(3) - 1 - exponent;
    usize::try_from(wanted.clamp(0, 9)).unwrap_or(0)
}

/// A number with a fixed count of decimal places and thousands separators.
pub fn decimals(x: f64, places: usize) -> String {
    let text = match x.abs() {
        f64::INFINITY => return if x > 0.0 { "∞" } else { "−∞" }.to_owned(),
        1e15.. => return scientific(x, 3),
        size if size.is_nan() => return "not a number".to_owned(),
        size => format!("{size:.places$}"),
    };
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::from(if x < 0.0 && !is_zero(&text) { "−" } else { "" });
    for (position, digit) in whole.char_indices() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Whether printed digits show nothing of a number, which then has no sign.
pub fn is_zero(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

/// A round number without trailing zeros: 0.50 is "0.5", 100000 is "100,000".
pub fn plain(x: f64) -> String {
    match if needs_power(x) { scientific(x, 1) } else { decimals(x, places(x, 4)) } {
        text if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        text => text,
    }
}

/// `1.23 × 10^15`, for what no separator makes readable.
fn scientific(x: f64, significant: usize) -> String {
    let text = format!("{:.*e}", significant.saturating_sub(1), x);
    text.replace('-', "−").replacen('e', " × 10^", 1)
}

/// A fraction as a percentage: 0.0234 is "2.3 %", 0.05 is "5 %".
pub fn percent(fraction: f64) -> String {
    let x = fraction * 100.0;
    if !x.is_finite() {
        return decimals(x, 0);
    }
    let places = if x.abs() >= 99.95 || (x - x.round()).abs() < 0.005 { 0 } else { usize::from(x.abs() < 1.0) + 1 };
    format!("{} %", decimals(x, places))
}

/// A change as a signed percentage: 1.187 is "+18.7 %", 0.9 is "−10.0 %".
pub fn change(ratio: f64) -> String {
    let x = (ratio - 1.0) * 100.0;
    let sign = if x > 0.0 { "+" } else { "" };
    format!("{sign}{} %", decimals(x, usize::from(x.abs() < 100.0)))
}

/// Seconds of a whole measurement: "42 s", "3 min 20 s", "2 h 5 min".
pub fn duration(seconds: f64) -> String {
    let whole = |x: f64| decimals(x.floor(), 0);
    match seconds {
        3600.0.. => format!("{} h {} min", whole(seconds / 3600.0), whole(seconds % 3600.0 / 60.0)),
        60.0.. => format!("{} min {} s", whole(seconds / 60.0), whole(seconds % 60.0)),
        _ => value(seconds, "s"),
    }
}

/// From one printed number to another, whose unit is said once where it is the same: "80.1 to 107 µs".
pub fn range(from: &str, to: &str) -> String {
    match (from.rsplit_once(' '), to.rsplit_once(' ')) {
        _ if from == to => to.to_owned(),
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {to}"),
        _ => format!("{from} to {to}"),
    }
}

/// From one value to another in two digits, in the unit that suits the second: "12 to 45 µs", "45 µs".
pub fn rough([from, to]: [f64; 2], unit: &str) -> String {
    let (divisor, symbol) = unit_for(unit, to);
    let rounded = |x: f64| format!("{x:.1e}").parse().unwrap_or(x);
    let [from, to] = [from, to].map(|x| plain(rounded(x / divisor)));
    join(&range(&from, &to), symbol)
}

/// "1 claim", "9 claims".
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// "a, b and c".
pub fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// An anchor of what a link may hold: `("txn_engine", "T1")` is `txn_engine-t1`.
pub fn anchor(study: &str, id: &str) -> String {
    let name = if id.is_empty() { study.to_owned() } else { format!("{study}-{id}") };
    name.replace(|part: char| !part.is_ascii_alphanumeric() && part != '_', "-").to_ascii_lowercase()
}

/// Joins texts to lines that fit; a text that is too long by itself has a line of its own.
pub fn lines<T: AsRef<str>>(
    texts: impl Iterator<Item = T>,
    separator: &str,
    fits: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let longer = lines.last().map(|line| [line, separator, text.as_ref()].concat());
        match longer.filter(|line| fits(line)).zip(lines.last_mut()) {
            Some((longer, line)) => *line = longer,
            None => lines.push(text.as_ref().to_owned()),
        }
    }
    lines
}
