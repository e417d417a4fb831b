//! A frame with a grid and both axes, and the names beside the ends of its lines.

use super::canvas::{Canvas, GRID, MUTED, PADDING, SMALL, Style, TEXT, WIDTH, color, heading, mark, shorten, width_of};
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

pub struct Plot {
    pub canvas: Canvas,
    x: Axis,
    y: Axis,
    /// Its left and right pixels, and the top and bottom ones.
    pub columns: (f64, f64),
    pub rows: (f64, f64),
    names: Vec<String>,
    room: f64,
    /// The ends of lines, each with the position of its line.
    ends: Vec<((f64, f64), usize)>,
    title: String,
    description: String,
}

impl Plot {
    /// The heading and the frame of a plot of what has these `names`, which stand `gap` pixels beside it; `above` it is room for labels.
    pub fn new(title: &str, note: String, (names, gap, above): (Vec<String>, f64, f64), x: &Shown, y: &Shown) -> Self {
        let mut canvas = Canvas::default();
        let top = heading(&mut canvas, title, Some(note)) + 26.0 + above;
        let bottom = top + HEIGHT.max(names.len() as f64 * LABEL);
        let y_axis = Axis::new(y.values.iter().copied(), bottom, top);
        let (ticks, symbol) = y_axis.labelled(y.unit);
        let room = widest(&names, TEXT).min(WIDTH * 0.36);
        let left = PADDING + widest(ticks.iter().map(|(_, label)| label), SMALL) + 12.0;
        let right = WIDTH - PADDING - room - gap;
        for (tick, label) in &ticks {
            let y = y_axis.at(*tick);
            canvas.line((left, y), (right, y), GRID, 1.0);
            canvas.text(left - 8.0, y + 4.0, label, Style { anchor: "end", ..Style::NOTE });
        }
        let x_axis = Axis::new(x.values.iter().copied(), left, right);
        let (ticks, x_symbol) = x_axis.labelled(x.unit);
        for (tick, label) in ticks {
            let x = x_axis.at(tick);
            canvas.line((x, top), (x, bottom), GRID, 1.0);
            canvas.text(x, bottom + 18.0, &label, Style { anchor: "middle", ..Style::NOTE });
        }
        let (middle, style) = (f64::midpoint(left, right), Style { anchor: "middle", ..Style::QUIET });
        canvas.text(middle, bottom + 40.0, &x.title(&x_symbol), style);
        canvas.line((left, bottom), (right, bottom), MUTED, 1.0);
        canvas.line((left, top), (left, bottom), MUTED, 1.0);
        canvas.text(PADDING, top - 10.0 - above, &y.title(&symbol), Style::QUIET);
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
            names,
        }
    }

    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Draws the line with this position, in the pattern `dash`; its end.
    pub fn path(&mut self, position: usize, points: &[(f64, f64)], dash: &str) -> Option<(f64, f64)> {
        let line: Vec<(f64, f64)> = points.iter().map(|point| self.at(*point)).collect();
        self.canvas.path(&line, color(position), dash);
        line.last().copied()
    }

    /// The same without gaps, with its name beside its end.
    pub fn line(&mut self, position: usize, points: &[(f64, f64)]) {
        let end = self.path(position, points, "");
        self.ends.extend(end.map(|at| (at, position)));
    }

    pub fn name(&mut self, x: f64, y: f64, position: usize) {
        let name = shorten(&self.names[position], TEXT, self.room + 1.0);
        self.canvas.text(self.columns.1 + x, y + 4.5, &name, Style::PLAIN);
    }

    /// The finished picture, each name beside the end of its line, moved apart where lines end close together.
    pub fn finish(mut self) -> String {
        let mut ends = std::mem::take(&mut self.ends);
        // By position where lines end on one spot: the order of drawing.
        ends.sort_by(|((_, a), first), ((_, b), second)| a.total_cmp(b).then(first.cmp(second)));
        let mut places: Vec<f64> = Vec::new();
        for ((_, y), _) in &ends {
            places.push(places.last().map_or(*y, |above| y.max(above + LABEL)));
        }
        // Names pushed below the frame move up again, the lowest first.
        let mut limit = self.rows.1 - LABEL / 2.0;
        for place in places.iter_mut().rev() {
            *place = place.min(limit);
            limit = *place - LABEL;
        }
        for (((x, y), position), place) in ends.into_iter().zip(places) {
            let (right, place) = (self.columns.1, place.max(self.rows.0 - LABEL));
            self.canvas.path(&[(x + 6.0, y), (right + 6.0, place)], GRID, "1 3");
            self.canvas.estimate((right + 12.0, place), mark(position), color(position));
            self.name(22.0, place, position);
        }
        self.canvas.finish(self.rows.1 + 40.0 + PADDING, &self.title, &self.description)
    }
}
