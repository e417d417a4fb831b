//! Room for names beside lines.

use super::shape::{Point, width_of};

/// What is drawn already and should stay readable.
#[derive(Debug, Default)]
pub struct Obstacles {
    lines: Vec<(Point, Point)>,
    boxes: Vec<Rect>,
}

#[derive(Debug, Clone, Copy)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Obstacles {
    /// Keeps names off a line through `points`.
    pub fn line(&mut self, points: &[Point]) {
        self.lines.extend(points.windows(2).map(|pair| (pair[0], pair[1])));
    }

    /// Keeps names off a mark.
    pub fn mark(&mut self, (x, y): Point) {
        const R: f64 = 8.0;
        self.boxes.push(Rect { left: x - R, top: y - R, right: x + R, bottom: y + R });
    }

    /// The place near `at` within `frame` (left, top, right, bottom) where a text crosses the least: where its base
    /// line begins. The text keeps others off from then on.
    pub fn place(&mut self, text: &str, size: f64, at: Point, frame: (f64, f64, f64, f64)) -> Point {
        let width = width_of(text, size);
        let (left, top, right, bottom) = frame;
        let mut best: Option<(f64, Rect)> = None;
        for down in [0.0, -16.0, 16.0, 32.0, -32.0, 48.0, 64.0, 80.0] {
            for across in [8.0, -8.0 - width, 20.0, -20.0 - width, 34.0, -34.0 - width, -width / 2.0] {
                let x = (at.0 + across).clamp(left + 4.0, (right - width - 4.0).max(left + 4.0));
                let y = (at.1 + down).clamp(top + 4.0, bottom - size - 4.0);
                let rect = Rect { left: x, top: y, right: x + width, bottom: y + size };
                let far = (x + width / 2.0 - at.0).hypot(y + size / 2.0 - at.1);
                let cost = self.crossed(rect) * 1000.0 + far;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, rect));
                }
            }
        }
        let rect = best.map_or(Rect { left: at.0, top: at.1, right: at.0, bottom: at.1 }, |(_, rect)| rect);
        self.boxes.push(rect);
        (rect.left, rect.top + size * 0.82)
    }

    fn crossed(&self, rect: Rect) -> f64 {
        let grown =
            Rect { left: rect.left - 3.0, top: rect.top - 2.0, right: rect.right + 3.0, bottom: rect.bottom + 2.0 };
        let lines = self.lines.iter().filter(|(from, to)| grown.is_crossed_by(*from, *to)).count();
        let boxes = self.boxes.iter().filter(|other| grown.overlaps(other)).count();
        f64::from(u32::try_from(lines + 3 * boxes).unwrap_or(u32::MAX))
    }
}

impl Rect {
    fn overlaps(&self, other: &Rect) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    /// Whether a part of the line lies within: what is left of it after each side has cut off its own.
    fn is_crossed_by(&self, from: Point, to: Point) -> bool {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (outward, room) in sides {
            if outward == 0.0 {
                if room < 0.0 {
                    return false;
                }
            } else if outward < 0.0 {
                enter = enter.max(room / outward);
            } else {
                leave = leave.min(room / outward);
            }
        }
        enter <= leave
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_moves_off_lines_and_other_names() {
        let mut obstacles = Obstacles::default();
        obstacles.line(&[(0.0, 106.0), (400.0, 106.0)]);
        let frame = (0.0, 0.0, 400.0, 300.0);
        let first = obstacles.place("name", 12.0, (200.0, 100.0), frame);
        assert!(first.1 < 106.0 || first.1 - 12.0 > 106.0, "{first:?}");
        let second = obstacles.place("name", 12.0, (200.0, 100.0), frame);
        assert_ne!(first, second);
    }
}
