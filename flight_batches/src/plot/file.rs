//! Pictures as files, each written beside its place under another name and then moved there.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{BitMapElement, Circle, PathElement, Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

use super::PlotError;
use super::shape::{Anchor, Colour, FONT, PNG_SIZE_PER_EM, Picture, Point, Shape, WHITE, register};

/// Units of drawing per pixel of the page: the library counts in whole units, which would show as kinks.
const FINE: u32 = 4;
/// Units of drawing per pixel of a PNG, on each side: they are averaged, since the library's edges are not smooth.
const AVERAGED: u32 = 2;

/// How a backend takes text: the size that makes an em of 1, and how far below the upper edge of such a text its base
/// line is, in ems.
#[derive(Debug, Clone, Copy)]
struct Type {
    size_per_em: f64,
    base_line_per_em: f64,
}

const PNG_TYPE: Type = Type { size_per_em: PNG_SIZE_PER_EM, base_line_per_em: PNG_SIZE_PER_EM / 2.0 };
const SVG_TYPE: Type = Type { size_per_em: 1.24, base_line_per_em: 0.76 };

/// What the library that draws may say.
type Failure = Box<dyn Error + Send + Sync>;

/// Writes a picture as PNG, twice as large as its page so that it is sharp on fine screens.
pub fn png(picture: &Picture, path: &Path) -> Result<PathBuf, PlotError> {
    let pixels = pixels(picture).map_err(|reason| refused(path, &reason))?;
    let size = (picture.width * FINE / AVERAGED, picture.height * FINE / AVERAGED);
    replace(path, |temporary| {
        let area = BitMapBackend::new(temporary, size).into_drawing_area();
        let image = BitMapElement::with_owned_buffer((0, 0), size, pixels).ok_or("the picture is incomplete")?;
        area.draw(&image)?;
        area.present()?;
        Ok(())
    })
}

/// Writes a picture as SVG under the title `title`.
pub fn svg(picture: &Picture, title: &str, path: &Path) -> Result<PathBuf, PlotError> {
    let text = document(picture, title).map_err(|reason| refused(path, &reason))?;
    replace(path, |temporary| Ok(fs::write(temporary, &text)?))
}

fn refused(path: &Path, reason: &Failure) -> PlotError {
    PlotError::Draw { path: path.to_owned(), reason: reason.to_string().replace(['\n', '\r'], " ") }
}

/// The pixels of a PNG, three bytes each.
fn pixels(picture: &Picture) -> Result<Vec<u8>, Failure> {
    let (width, height) = (picture.width * FINE, picture.height * FINE);
    let mut fine = vec![0xff; width as usize * height as usize * 3];
    let area = BitMapBackend::with_buffer(&mut fine, (width, height)).into_drawing_area();
    paint(&area, picture, PNG_TYPE)?;
    drop(area);
    Ok(averaged(&fine, width as usize))
}

/// The text of an SVG.
fn document(picture: &Picture, title: &str) -> Result<String, Failure> {
    let (width, height) = (picture.width * FINE, picture.height * FINE);
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
    area.fill(&ink(WHITE))?;
    paint(&area, picture, SVG_TYPE)?;
    drop(area);
    // The units stay, the size on the page is that of the picture.
    Ok(text.replacen(
        &format!("width=\"{width}\" height=\"{height}\""),
        &format!("width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{title}\"", picture.width, picture.height),
        1,
    ))
}

fn paint<B: DrawingBackend>(area: &DrawingArea<B, Shift>, picture: &Picture, letters: Type) -> Result<(), Failure>
where
    B::ErrorType: 'static,
{
    register();
    for shape in &picture.shapes {
        match shape {
            Shape::Line { from, to, colour, width } => {
                let style = ShapeStyle::from(ink(*colour)).stroke_width(units(*width).unsigned_abs());
                area.draw(&PathElement::new(vec![unit(*from), unit(*to)], style))?;
            }
            Shape::Polygon { corners, colour } => {
                let corners: Vec<(i32, i32)> = corners.iter().map(|corner| unit(*corner)).collect();
                area.draw(&Polygon::new(corners, ink(*colour).filled()))?;
            }
            Shape::Disc { centre, radius, colour } => {
                area.draw(&Circle::new(unit(*centre), units(*radius), ink(*colour).filled()))?;
            }
            Shape::Text { at, text, size, colour, anchor } => {
                area.draw(&Text::new(
                    text.as_str(),
                    unit((at.0, at.1 - size * letters.base_line_per_em)),
                    style(*size, *colour, *anchor, letters),
                ))?;
            }
        }
    }
    area.present()?;
    Ok(())
}

fn style(size: f64, colour: Colour, anchor: Anchor, letters: Type) -> TextStyle<'static> {
    let size = size * letters.size_per_em * f64::from(FINE);
    let horizontal = match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    let font = FontDesc::new(FontFamily::Name(FONT), size, FontStyle::Normal);
    let mut style = TextStyle::from(font).pos(Pos::new(horizontal, VPos::Top));
    style.color = ink(colour).to_backend_color();
    style
}

fn ink((red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

fn unit((x, y): Point) -> (i32, i32) {
    (units(x), units(y))
}

#[expect(clippy::cast_possible_truncation, reason = "some ten thousand units")]
fn units(pixels: f64) -> i32 {
    (pixels * f64::from(FINE)).round() as i32
}

/// The means of squares of two by two pixels of an RGB picture whose lines are `width` long.
fn averaged(fine: &[u8], width: usize) -> Vec<u8> {
    let line = width * 3;
    let mut out = Vec::with_capacity(fine.len() / 4);
    for (upper, lower) in fine.chunks_exact(2 * line).map(|lines| lines.split_at(line)) {
        for (above, below) in upper.chunks_exact(6).zip(lower.chunks_exact(6)) {
            let (left, right) = above.split_at(3);
            if above == below && left == right {
                // Most of a plot.
                out.extend_from_slice(left);
            } else {
                let parts = |channel: usize| [above[channel], above[channel + 3], below[channel], below[channel + 3]];
                out.extend([0, 1, 2].map(|channel| mean(parts(channel))));
            }
        }
    }
    out
}

fn mean(parts: [u8; 4]) -> u8 {
    u8::try_from(parts.into_iter().map(u16::from).sum::<u16>() / 4).unwrap_or(u8::MAX)
}

/// Lets `write` make a file beside `path` and moves it there; what cannot be finished is removed.
fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<PathBuf, PlotError> {
    let failed = |source| PlotError::Write { path: path.to_owned(), source };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The end of the name stays: from it the library takes the format.
    let temporary = path.with_file_name(format!(".{}.{name}", std::process::id()));
    // Also what tells early, in the system's words, that nothing can be written here.
    File::create(&temporary).map_err(failed)?;
    let done = write(&temporary)
        .map_err(|reason| refused(path, &reason))
        .and_then(|()| fs::rename(&temporary, path).map_err(failed));
    if done.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    done.map(|()| path.to_owned())
}
