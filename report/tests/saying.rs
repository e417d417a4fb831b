//! Numbers, and judged rows as text: digits, units and words.

use report::figures::{NOTHING, coverage, estimate, figure, floor, short};
use report::fmt::{change, decimals, duration, metric_in_words, number, percent, unit_of, value};
use report::judged::{Estimate, Range, Row, Scale, Side, Verdict};

#[test]
fn values_take_the_unit_that_fits_their_size() {
    for (x, unit, expected) in [
        (1.234_5, "s", "1.23 s"),
        (0.012_34, "s", "12.3 ms"),
        (184.2, "ns", "184 ns"),
        (2_500.0, "us", "2.50 ms"),
        (0.000_000_5, "s", "500 ns"),
        (0.0, "s", "0 s"),
        (85_900.0, "kib", "83.9 MiB"),
        (512.0, "bytes", "512 B"),
        (2_000_100.0, "count", "2,000,100"),
        (1_234_567.8, "per_s", "1,234,568/s"),
        (1270.4, "mb_per_s", "1,270 MB/s"),
        (12.34, "percent", "12.3 %"),
        (3.5, "B/txn", "3.50 B/txn"),
        // Rounding up to the next digit adds no digit.
        (0.999_9, "s", "1.00 s"),
    ] {
        assert_eq!(value(x, unit), expected);
    }
    assert_eq!((number(9.996, 3).as_str(), decimals(-0.000_1, 2).as_str()), ("10.0", "0.00"));
}

#[test]
fn huge_tiny_and_unreadable_numbers_stay_short() {
    assert_eq!(number(1.234e18, 3), "1.23 × 10^18");
    assert_eq!(number(4.0e-9, 2), "4.0 × 10^−9");
    assert_eq!(decimals(f64::INFINITY, 2), "∞");
    assert_eq!(decimals(f64::NAN, 2), "not a number");
    assert!(value(1e300, "s").len() < 24);
}

#[test]
fn percentages_and_changes_carry_one_decimal_at_most_two() {
    for (x, expected) in [(0.05, "5 %"), (0.023_4, "2.3 %"), (0.003_9, "0.39 %")] {
        assert_eq!(percent(x), expected);
    }
    assert_eq!((change(1.187).as_str(), change(0.9).as_str()), ("+18.7 %", "−10.0 %"));
    assert_eq!(duration(7_500.0), "2 h 5 min");
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

fn ratio(point: f64, lo: f64, hi: f64, n: usize, level: f64) -> Row {
    let scale = Scale::Ratio { numerator: "a".into(), denominator: "b".into(), metric: "work_s".into() };
    row(scale, point, lo, hi, n, level)
}

#[test]
fn a_ratio_names_its_arms_interval_n_and_absolute_values() {
    let row = ratio(1.312, 1.28, 1.354, 12, 0.042);
    assert_eq!(figure(&row), "a ÷ b 1.312 [1.280, 1.354], n = 12; 1.75 s against 12.0 ms");
    assert_eq!((coverage(&row).as_str(), floor(&row).as_str()), ("95.8 %", "2.3 %"));
}

#[test]
fn open_ends_and_single_figures_say_so() {
    assert_eq!(estimate(&ratio(2.0, 1.5, f64::INFINITY, 8, 0.039)), "2.00 [1.50, no upper bound]");
    assert_eq!(estimate(&ratio(0.5, 0.0, 0.7, 8, 0.039)), "0.50 [no lower bound, 0.70]");
    let single = ratio(1.2, 1.2, 1.2, 1, 1.0);
    assert_eq!(figure(&single), "a ÷ b 1.20, single run; 1.75 s against 12.0 ms");
    assert_eq!(figure(&Row { estimate: None, ..single }), NOTHING);
}

#[test]
fn values_share_one_unit_and_shares_are_percentages() {
    let time = Scale::Value { metric: "work_s".into(), of: "channel".into(), per: None, unit: "ns".into() };
    assert_eq!(estimate(&row(time, 1_840.0, 900.0, 2_010.0, 12, 0.042)), "1.8 [0.9, 2.0] µs");
    let share = figure(&row(Scale::Share { of: "T2".into() }, 0.873, 0.7, 1.02, 12, 0.042));
    assert!(share.starts_with("share of T2 87 [70, 102] %, n = 12"), "{share}");
    let blocks = row(Scale::Blocks { criterion: "failed requests".into() }, 0.875, 0.47, 1.0, 8, 0.05);
    assert_eq!(figure(&Row { sides: vec![], ..blocks }), "in 7 of 8 blocks (88 [47, 100] %)");
}

#[test]
fn a_slope_of_a_direction_is_the_factor_between_its_ends() {
    let of = |range| Scale::Slope { of: "async ÷ sync".to_owned(), range };
    let delays = Range { metric: "batch_delay_ms".to_owned(), from: 1.0, to: 100.0 };
    let falls = row(of(Some(delays)), -0.15, -0.2, -0.1, 8, 0.039);
    assert_eq!(short(&falls), "async ÷ sync changes by a factor of 0.50 [0.40, 0.63], from 1 ms to 100 ms");
    let open = row(
        of(Some(Range { metric: "rows_count".to_owned(), from: 1e3, to: 1e4 })),
        1.0,
        f64::NEG_INFINITY,
        2.0,
        8,
        0.039,
    );
    assert_eq!(short(&open), "async ÷ sync changes by a factor of 10 [no lower bound, 100], from 1,000 to 10,000 rows");
    assert_eq!(short(&row(of(None), 0.987, 0.971, 1.008, 8, 0.039)), "slope 0.987 [0.971, 1.008]");
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
