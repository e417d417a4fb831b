//! What pictures are made of: axes with their ticks, wrapped text, and a card that stays well formed.

use report::charts::canvas::{Canvas, Style, wrap};
use report::charts::scale::Axis;

/// The labels of an axis in order, and the unit that they share.
fn labels(axis: Axis, unit: &str) -> (String, String) {
    let (ticks, symbol) = axis.labelled(unit);
    (ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(", "), symbol)
}

#[test]
fn axes_of_any_width_have_between_two_and_eight_ticks() {
    for (min, max) in [(0.97, 1.04), (0.8, 1.5), (0.5, 9.0), (1e-3, 1e6), (1.0, 1.0), (1e-9, 1e12)] {
        let ticks = Axis::new([min, max], 0.0, 500.0).ticks();
        assert!((2..=8).contains(&ticks.len()), "{min} to {max}: {ticks:?}");
        assert!(ticks.is_sorted(), "{ticks:?}");
    }
}

#[test]
fn sizes_have_ticks_that_are_round_in_binary_units_and_an_axis_names_those_it_runs_through() {
    for (axis, unit, expected, symbol) in [
        (Axis::new([10_000.0, 1e9], 0.0, 500.0), "bytes", "32 KiB, 256 KiB, 2 MiB, 16 MiB, 128 MiB, 1 GiB", ""),
        (Axis::new([1024.0, 16_384.0], 0.0, 500.0), "kib", "1, 2, 4, 8, 16", "MiB"),
    ] {
        assert_eq!(labels(axis, unit), (expected.to_owned(), symbol.to_owned()));
    }
    let (times, symbol) = labels(Axis::new([100.0, 10_000.0], 0.0, 500.0), "ms");
    assert!(times.starts_with("100 ms, ") && times.ends_with(", 10 s") && symbol.is_empty(), "{times}");
    let (times, symbol) = labels(Axis::new([1.0, 90.0], 0.0, 500.0), "ms");
    assert!(!times.contains('m') && symbol == "ms", "{times}");
}

#[test]
fn no_value_is_drawn_outside_the_axis() {
    let axis = Axis::new([0.5, 2.0], 10.0, 90.0);
    for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -1.0, 1e300] {
        assert!((10.0..=90.0).contains(&axis.at(x)), "{x}");
    }
}

#[test]
fn odd_characters_leave_the_picture_well_formed() {
    let mut canvas = Canvas::default();
    canvas.text(10.0, 10.0, "a<b & \u{1}\"c\" > d", Style::PLAIN);
    let picture = canvas.finish(40.0, "<&>", "\u{0}");
    assert!(roxmltree::Document::parse(&picture).is_ok(), "{picture}");
}

#[test]
fn a_line_ends_at_a_space_and_not_between_a_figure_and_its_unit() {
    assert_eq!(wrap("from +26 to +28\u{a0}%", 12.0, 95.0), ["from +26 to", "+28\u{a0}%"]);
}
