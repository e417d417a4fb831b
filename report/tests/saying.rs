//! Numbers as text: digits, units and words.

use report::fmt::{change, decimals, duration, metric_in_words, number, percent, unit_of, value};

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
        (percent(f64::INFINITY), "∞"),
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
