//! Numbers, and judged rows as text: digits, units and words.

use report::figures::{self, coverage, estimate, floor, short};
use report::fmt::{change, decimals, duration, metric_in_words, number, percent, unit_of, value};
use report::judged::{Estimate, Range, Row, Scale, Side, Verdict};

#[test]
fn numbers_have_the_unit_and_the_digits_that_fit_their_size() {
    for (said, expected) in [
        (value(1.234_5, "s"), "1.23 s"),
        (value(0.012_34, "s"), "12.3 ms"),
        (value(184.2, "ns"), "184 ns"),
        (value(2_500.0, "us"), "2.50 ms"),
        (value(0.000_000_5, "s"), "500 ns"),
        (value(0.0, "s"), "0 s"),
        (value(85_900.0, "kib"), "83.9 MiB"),
        (value(512.0, "bytes"), "512 B"),
        (value(2_000_100.0, "count"), "2,000,100"),
        (value(1_234_567.8, "per_s"), "1,234,568/s"),
        (value(1270.4, "mb_per_s"), "1,270 MB/s"),
        (value(12.34, "percent"), "12.3 %"),
        (value(3.5, "B/txn"), "3.50 B/txn"),
        // Rounding up to the next digit adds no digit.
        (value(0.999_9, "s"), "1.00 s"),
        (number(9.996, 3), "10.0"),
        (number(1.234e18, 3), "1.23 × 10^18"),
        (number(4.0e-9, 2), "4.0 × 10^−9"),
        (decimals(-0.000_1, 2), "0.00"),
        (decimals(f64::INFINITY, 2), "∞"),
        (decimals(f64::NAN, 2), "not a number"),
        (percent(0.05), "5 %"),
        (percent(0.023_4), "2.3 %"),
        (percent(0.003_9), "0.39 %"),
        (change(1.187), "+18.7 %"),
        (change(0.9), "−10.0 %"),
        (duration(7_500.0), "2 h 5 min"),
    ] {
        assert_eq!(said, expected);
    }
    assert!(value(1e300, "s").len() < 24);
}

#[test]
fn the_unit_of_a_metric_is_the_end_of_its_name() {
    let metrics = ["work_s", "rows_per_s", "mb_per_s", "latency_p99_us", "bytes", "odd"];
    assert_eq!(metrics.map(unit_of), ["s", "per_s", "mb_per_s", "us", "bytes", ""]);
    for (metric, words) in [
        ("peak_rss_kib", "peak RSS"),
        ("minor_faults_count", "minor faults"),
        ("mb_per_s", "throughput"),
        ("ideal_mb_per_s", "ideal throughput"),
        ("throughput_mb_per_s", "throughput"),
    ] {
        assert_eq!(metric_in_words(metric), words);
    }
}

fn row(scale: Scale, point: f64, lo: f64, hi: f64, n: usize, level: f64) -> Row {
    let side = |arm: &str, median| Side { arm: arm.into(), metric: "work_s".into(), median };
    Row {
        part: String::new(),
        scenario: "big".into(),
        scale,
        estimate: Some(Estimate { point, lo, hi, n, level }),
        sides: vec![side("a", 1.75), side("b", 0.012)],
        floor: Some(0.023),
        margin: Some(0.02),
        claimed: None,
        verdict: Verdict::Holds,
        failed: 0,
    }
}

fn figure(row: &Row) -> String {
    figures::figure(row).expect("it has an estimate")
}

fn ratio(point: f64, lo: f64, hi: f64, n: usize, level: f64) -> Row {
    let scale = Scale::Ratio { numerator: "a".into(), denominator: "b".into(), metric: "work_s".into() };
    row(scale, point, lo, hi, n, level)
}

#[test]
fn a_figure_names_its_arms_interval_blocks_and_absolute_values() {
    let closed = ratio(1.312, 1.28, 1.354, 12, 0.042);
    let single = ratio(1.2, 1.2, 1.2, 1, 1.0);
    let open = "no figure (failed runs) [no lower bound, no upper bound]";
    let time = Scale::Value { metric: "work_s".into(), of: "channel".into(), per: None, unit: "ns".into() };
    let share = row(Scale::Share { of: "T2".into() }, 0.873, 0.7, 1.02, 12, 0.042);
    let blocks = row(Scale::Blocks { criterion: "failed requests".into() }, 0.875, 0.47, 1.0, 8, 0.05);
    for (said, expected) in [
        (figure(&closed), "a ÷ b 1.312 [1.280, 1.354], n = 12; 1.75 s against 12.0 ms"),
        (coverage(&closed), "95.8 %"),
        (floor(&closed), "2.3 %"),
        (estimate(&ratio(2.0, 1.5, f64::INFINITY, 8, 0.039)), "2.00 [1.50, no upper bound]"),
        (estimate(&ratio(0.5, 0.0, 0.7, 8, 0.039)), "0.50 [no lower bound, 0.70]"),
        (estimate(&ratio(f64::INFINITY, 0.0, f64::INFINITY, 8, 0.039)), open),
        (figure(&single), "a ÷ b 1.20, single run; 1.75 s against 12.0 ms"),
        // Values share one unit, and shares are percentages.
        (estimate(&row(time, 1_840.0, 900.0, 2_010.0, 12, 0.042)), "1.8 [0.9, 2.0] µs"),
        (figure(&Row { sides: vec![], ..share }), "share of T2 87 [70, 102] %, n = 12"),
        (figure(&Row { sides: vec![], ..blocks }), "in 7 of 8 blocks (88 [47, 100] %)"),
    ] {
        assert_eq!(said, expected);
    }
    assert_eq!(figures::figure(&Row { estimate: None, ..single }), None);
}

#[test]
fn a_slope_of_a_direction_is_the_factor_between_its_ends() {
    let of = |range| Scale::Slope { of: "async ÷ sync".to_owned(), range };
    let over = |metric: &str, from, to| Some(Range { metric: metric.to_owned(), from, to });
    let infinite = f64::NEG_INFINITY;
    for (range, (point, lo, hi), expected) in [
        (
            over("batch_delay_ms", 1.0, 100.0),
            (-0.15, -0.2, -0.1),
            "async ÷ sync changes by a factor of 0.50 [0.40, 0.63], from 1 ms to 100 ms",
        ),
        (
            over("rows_count", 1e3, 1e4),
            (1.0, infinite, 2.0),
            "async ÷ sync changes by a factor of 10 [no lower bound, 100], from 1,000 to 10,000 rows",
        ),
        (None, (0.987, 0.971, 1.008), "slope 0.987 [0.971, 1.008]"),
    ] {
        assert_eq!(short(&row(of(range), point, lo, hi, 8, 0.039)).as_deref(), Some(expected));
    }
}

#[test]
fn an_estimate_has_as_many_digits_as_its_interval_is_narrow() {
    for (point, lo, hi, expected) in [
        (1.312_34, 0.9, 1.9, "1.3 [0.9, 1.9]"),
        (1.312_34, 1.29, 1.33, "1.312 [1.290, 1.330]"),
        (1.312_34, 1.2, 1.45, "1.31 [1.20, 1.45]"),
        // No more than four of its own, and none of what has no width.
        (1.312_34, 1.312_3, 1.312_4, "1.312 [1.312, 1.312]"),
        (1.312_34, 1.312_34, 1.312_34, "1.31 [1.31, 1.31]"),
        (48.23, 31.0, 75.0, "48 [31, 75]"),
        (1_234.5, 900.0, 2_000.0, "1,234 [900, 2,000]"),
    ] {
        assert_eq!(estimate(&ratio(point, lo, hi, 12, 0.042)), expected);
    }
}
