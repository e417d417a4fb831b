//! A frame with a grid and both axes, and the names beside the ends of its lines.

use super::canvas::{
    Canvas, Color, END, GRID, MIDDLE, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, heading, mark, shorten, width_of,
};
use super::scale::Axis;

/// Height of the frame in pixels, at least, and the vertical distance that keeps two names apart.
const HEIGHT: f64 = 360.0;
pub const LABEL: f64 = 17.0;

/// What an axis shows: in words, in which unit its values are stored, and what it must hold.
#[derive(Debug, Clone)]
pub struct Shown<'a> {
    pub words: String,
    pub unit: &'a str,
    pub values: Vec<f64>,
}

impl Shown<'_> {
    pub fn axis(&self, from: f64, to: f64) -> Axis {
        let fold = |first, of: fn(f64, f64) -> f64| self.values.iter().copied().fold(first, of);
        let (least, most) = (fold(f64::INFINITY, f64::min), fold(0.0, f64::max));
        Axis::new(least, most, from, to)
    }

    /// The title of its axis with the printed unit: "work time (ms)".
    fn title(&self, symbol: &str) -> String {
        match symbol {
            // The words say "per second" and "percent" already.
            "" | "/s" | "%" => self.words.clone(),
            symbol => format!("{} ({symbol})", self.words),
        }
    }
}

fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, size: f64) -> f64 {
    texts.into_iter().map(|text| width_of(text.as_ref(), size)).fold(0.0, f64::max)
}

struct End<'a> {
    name: &'a str,
    position: usize,
    color: Color,
    at: (f64, f64),
}

pub struct Plot<'a> {
    pub canvas: Canvas,
    x: Axis,
    y: Axis,
    /// Its left and right pixels, and the top and bottom ones.
    pub columns: (f64, f64),
    pub rows: (f64, f64),
    room: f64,
    ends: Vec<End<'a>>,
    title: String,
    description: String,
}

impl<'a> Plot<'a> {
    /// The heading and the frame of a plot of what has these `names`, which stand `gap` pixels beside it.
    pub fn new(title: &str, note: String, (names, gap): (&[&str], f64), x: &Shown, y: &Shown) -> Self {
        let mut canvas = Canvas::default();
        let top = heading(&mut canvas, title, Some(note)) + 26.0;
        let bottom = top + HEIGHT.max(names.len() as f64 * LABEL);
        let y_axis = y.axis(bottom, top);
        let (ticks, symbol) = y_axis.labelled(y.unit);
        let room = widest(names, TEXT).min(WIDTH * 0.36);
        let left = PADDING + widest(ticks.iter().map(|(_, label)| label), SMALL) + 12.0;
        let right = WIDTH - PADDING - room - gap;
        for (tick, label) in &ticks {
            let y = y_axis.at(*tick);
            canvas.line((left, y), (right, y), GRID, 1.0);
            canvas.text(left - 8.0, y + 4.0, label, Style { anchor: END, ..Style::NOTE });
        }
        let x_axis = x.axis(left, right);
        let (ticks, x_symbol) = x_axis.labelled(x.unit);
        for (tick, label) in ticks {
            let x = x_axis.at(tick);
            canvas.line((x, top), (x, bottom), GRID, 1.0);
            canvas.text(x, bottom + 18.0, &label, Style { anchor: MIDDLE, ..Style::NOTE });
        }
        let (middle, style) = (f64::midpoint(left, right), Style { anchor: MIDDLE, ..Style::QUIET });
        canvas.text(middle, bottom + 40.0, &x.title(&x_symbol), style);
        canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
        canvas.line((left, top), (left, bottom), MUTED, 1.0);
        canvas.text(PADDING, top - 10.0, &y.title(&symbol), Style::QUIET);
        Plot {
            canvas,
            x: x_axis,
            y: y_axis,
            columns: (left, right),
            rows: (top, bottom),
            room,
            ends: Vec::new(),
            title: title.to_owned(),
            description: format!("{} against {} for {}", y.words, x.words, names.join(", ")),
        }
    }

    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    pub fn path(&mut self, points: &[(f64, f64)], color: Color, dash: &str) -> Vec<(f64, f64)> {
        let line: Vec<(f64, f64)> = points.iter().map(|point| self.at(*point)).collect();
        self.canvas.path(&line, color, dash);
        line
    }

    /// The same with a name beside its end, and the mark of its position.
    pub fn line(&mut self, name: &'a str, position: usize, (color, dash): (Color, &str), points: &[(f64, f64)]) {
        let line = self.path(points, color, dash);
        self.ends.extend(line.last().map(|at| End { name, position, color, at: *at }));
    }

    pub fn name(&mut self, x: f64, y: f64, name: &str) {
        self.canvas.text(self.columns.1 + x, y + 4.5, &shorten(name, TEXT, self.room + 1.0), Style::PLAIN);
    }

    /// The finished picture, each name beside the end of its line, moved apart where lines end close together.
    pub fn finish(mut self) -> String {
        let mut ends = std::mem::take(&mut self.ends);
        // By position where lines end on one spot: the order of drawing.
        ends.sort_by(|a, b| a.at.1.total_cmp(&b.at.1).then(a.position.cmp(&b.position)));
        let mut places: Vec<f64> = Vec::new();
        for End { at: (_, y), .. } in &ends {
            places.push(places.last().map_or(*y, |above| y.max(above + LABEL)));
        }
        // Names pushed below the frame move up again, the lowest first.
        let mut limit = self.rows.1 - LABEL / 2.0;
        for place in places.iter_mut().rev() {
            *place = place.min(limit);
            limit = *place - LABEL;
        }
        for (End { name, position, color, at: (x, y) }, place) in ends.into_iter().zip(places) {
            let (right, place) = (self.columns.1, place.max(self.rows.0 - LABEL));
            self.canvas.line((x + 6.0, y), (right + 10.0, place), GRID, 1.0);
            self.canvas.estimate((right + 12.0, place), mark(position), color);
            self.name(22.0, place, name);
        }
        self.canvas.finish(self.rows.1 + 40.0 + PADDING, &self.title, &self.description)
    }
}
