//! A plot as shapes.

use super::axis::{Axis, Tick, grouped};
use super::chart::{Chart, Ideal, Quantity};
use super::label::Obstacles;
use super::legend;
use super::shape::{
    Anchor, FAINT, GRID, INK, MUTED, Picture, Point, Shape, colour, cross, dashes, mark, path, width_of,
};

/// Width of every picture in pixels of the page, the legend included.
const WIDTH: f64 = 1000.0;
/// Height of a picture whose legend is no higher than its plot.
const HEIGHT: f64 = 600.0;
/// Free space around everything.
const PADDING: f64 = 24.0;
/// From the upper edge to the frame: heading and description of the axis.
const ABOVE: f64 = 86.0;
/// From the frame to the lower edge: ticks and description of the axis.
const BELOW: f64 = 66.0;
/// Between the frame and the legend.
const GAP: f64 = 26.0;

/// Size of the heading.
const HEADING: f64 = 19.0;
/// Size of descriptions.
pub const TEXT: f64 = 13.5;
/// Size of ticks and of names in the plot.
pub const SMALL: f64 = 12.5;
/// Width of the lines.
pub const STROKE: f64 = 2.2;

/// A plot's frame and axes.
struct Plane {
    x: Axis,
    y: Axis,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Plane {
    fn at(&self, (x, y): Point) -> Point {
        (self.x.at(x), self.y.at(y))
    }
}

/// The whole picture of a chart.
pub fn picture(chart: &Chart) -> Picture {
    let y = match chart.quantity {
        Quantity::Throughput => Axis::from_zero(chart.cells().map(|cell| cell.value)),
        Quantity::Latency => Axis::log(chart.cells().map(|cell| cell.value)).with_ticks(),
    };
    let y_ticks = match chart.quantity {
        Quantity::Throughput => y.plain_ticks(),
        Quantity::Latency => y.time_ticks(),
    };
    let plan = legend::plan(chart, |ideal| is_out_of_range(ideal, y));
    let height = HEIGHT.max(ABOVE + plan.height + PADDING);
    let (top, bottom) = (ABOVE, height - BELOW);
    let left = PADDING + y_ticks.iter().map(|(_, label)| width_of(label, SMALL)).fold(0.0, f64::max) + 10.0;
    let right = WIDTH - PADDING - plan.width - GAP;
    let x = Axis::log(chart.requests.iter().copied()).over(left, right);
    let plane = Plane { x, y: y.over(bottom, top), left, top, right, bottom };

    let mut shapes = frame(chart, &plane, &y_ticks);
    shapes.extend(data(chart, &plane));
    shapes.extend(legend::shapes(&plan, (right + GAP, top)));
    Picture { width: whole(WIDTH), height: whole(height), shapes }
}

/// Whether no part of an ideal is in the range of the data.
fn is_out_of_range(ideal: &Ideal, y: Axis) -> bool {
    let y = y.over(0.0, 1.0);
    ideal.points.iter().all(|(_, rate)| y.at(*rate) > 1.0)
}

/// Heading, grid, ticks and descriptions.
fn frame(chart: &Chart, plane: &Plane, y_ticks: &[Tick]) -> Vec<Shape> {
    let &Plane { left, top, right, bottom, .. } = plane;
    let line = |from, to, colour| Shape::Line { from, to, colour, width: 1.0 };
    let mut shapes = vec![
        Shape::text((PADDING, 38.0), &chart.title, HEADING, INK, Anchor::Start),
        Shape::text((PADDING, top - 16.0), chart.quantity.axis(), TEXT, MUTED, Anchor::Start),
    ];
    for (tick, label) in y_ticks {
        let y = plane.y.at(*tick);
        shapes.push(line((left, y), (right, y), GRID));
        shapes.push(Shape::text((left - 8.0, y + SMALL * 0.36), label, SMALL, MUTED, Anchor::End));
    }
    // From the greatest down, where a logarithmic axis is narrow.
    let mut free = f64::INFINITY;
    for requests in chart.requests.iter().rev() {
        let x = plane.x.at(*requests);
        let label = grouped(*requests, 0);
        let half = width_of(&label, SMALL) / 2.0;
        shapes.push(line((x, top), (x, bottom), GRID));
        if x + half <= free {
            shapes.push(line((x, bottom), (x, bottom + 5.0), MUTED));
            shapes.push(Shape::text((x, bottom + 20.0), &label, SMALL, MUTED, Anchor::Middle));
            free = x - half - 6.0;
        }
    }
    shapes.push(line((left, bottom), (right, bottom), MUTED));
    shapes.push(line((left, top), (left, bottom), MUTED));
    let below = (f64::midpoint(left, right), bottom + 46.0);
    shapes.push(Shape::text(below, "concurrent requests (logarithmic)", TEXT, MUTED, Anchor::Middle));
    if chart.cells().next().is_none() {
        let middle = (f64::midpoint(left, right), f64::midpoint(top, bottom));
        shapes.push(Shape::text(middle, "no cell has a value to draw", TEXT, MUTED, Anchor::Middle));
    }
    shapes
}

/// Ideals, lines, marks and crosses, in this order.
fn data(chart: &Chart, plane: &Plane) -> Vec<Shape> {
    let mut obstacles = Obstacles::default();
    let lines: Vec<Vec<Point>> = chart
        .series
        .iter()
        .map(|series| series.cells.iter().map(|cell| plane.at((cell.requests, cell.value))).collect())
        .collect();
    for points in &lines {
        obstacles.line(points);
        for point in points {
            obstacles.mark(*point);
        }
    }
    let mut shapes = ideals(chart, plane, &mut obstacles);
    // Backwards: small batches have thin lines and small marks that do not cover all of larger ones on the same spot,
    // and the discs of the first type fit into the rings of the second.
    for (series, points) in chart.series.iter().zip(&lines).rev() {
        let width = STROKE * chart.boldness(series.size);
        shapes.extend(path(points, colour(series.size), width, dashes(series.kind)));
    }
    for (series, points) in chart.series.iter().zip(&lines).rev() {
        for point in points {
            shapes.extend(mark(series.kind, *point, colour(series.size), chart.boldness(series.size)));
        }
    }
    let failed = chart.cells().filter(|cell| cell.failed);
    shapes.extend(failed.flat_map(|cell| cross(plane.at((cell.requests, cell.value)))));
    shapes
}

/// What is in range of the lines of the delay alone, with their names.
fn ideals(chart: &Chart, plane: &Plane, obstacles: &mut Obstacles) -> Vec<Shape> {
    let clipped: Vec<(&Ideal, Vec<Point>)> = chart
        .ideals
        .iter()
        .map(|ideal| {
            let points: Vec<Point> = ideal.points.iter().map(|point| plane.at(*point)).collect();
            (ideal, clip(&points, plane.top))
        })
        .filter(|(_, points)| !points.is_empty())
        .collect();
    for (_, points) in &clipped {
        obstacles.line(points);
    }
    let mut shapes = Vec::new();
    for (ideal, points) in &clipped {
        shapes.extend(path(points, FAINT, 1.2, &[]));
        if let Some(end) = points.last() {
            let frame = (plane.left, plane.top, plane.right, plane.bottom);
            let label = format!("ideal, {}", ideal.whose);
            let at = obstacles.place(&label, SMALL, *end, frame);
            shapes.push(Shape::text(at, &label, SMALL, MUTED, Anchor::Start));
        }
    }
    shapes
}

/// The part of a line up to where it leaves the plot above for the first time.
fn clip(points: &[Point], top: f64) -> Vec<Point> {
    let inside = points.iter().take_while(|(_, y)| *y >= top).count();
    let mut kept = points[..inside].to_vec();
    if let (Some((x0, y0)), Some((x1, y1))) = (kept.last().copied(), points.get(inside)) {
        let part = (top - y0) / (y1 - y0);
        kept.push((x0 + part * (x1 - x0), top));
    }
    kept
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand pixels")]
fn whole(pixels: f64) -> u32 {
    pixels.ceil() as u32
}
