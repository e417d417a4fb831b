//! What each design costs around the published settings: in the report, the evidence of a study, and on a terminal.

use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.

use super::markdown::{Table, bullets, cell, prose, text};
use crate::charts;
use crate::judge::figures::{self, or_nothing};
use crate::judge::maps::{JudgedMap, OnHost, Point};
use crate::page::view::StudyView;

/// The maps of a study: a part of its section in the report; nothing if none was measured.
pub fn section(view: &StudyView) -> String {
    let each = |judged: &JudgedMap| {
        let host = view.origin.name(judged.hosts[0].host);
        let said = |(sentence, figure)| format!("{sentence} ({host}: {figure}.)");
        format!("{}\n\n{}", image(view, judged, ""), bullets(judged.sentences().map(said)))
    };
    let maps: String = view.maps.iter().map(each).collect();
    if maps.is_empty() { maps } else { format!("### Map\n\n{}\n\n", maps.trim_end()) }
}

/// The maps of a study by host: a section of its evidence; nothing if none was measured.
pub fn by_host(view: &StudyView) -> String {
    let each = |judged: &JudgedMap| {
        let JudgedMap { map, hosts } = judged;
        let arms = map.lines.iter().map(|line| line.arm.as_str()).collect::<Vec<_>>().join(" | >");
        let mut table = Table::new(&format!("Host | >{} | >{arms} | Round", map.x.label.replace('|', "/")));
        let mut crossings = Table::new("Crossing | Host | >Where");
        for on in hosts {
            let host = cell(view.origin.name(on.host));
            let round = format!("[{}](../../results/{})", on.round.rsplit('/').next().unwrap_or_default(), on.round);
            for point in &on.points {
                let ys = (0..map.lines.len()).map(|line| y(judged, point, line, true));
                let first = [host.clone(), text(&x(judged, point))].into_iter();
                table.row(first.chain(ys.map(|y| text(&y))).chain([round.clone()]).collect::<Vec<_>>());
            }
            for (place, crossing) in map.crossings.iter().enumerate() {
                let (what, found) = (prose(&crossing.text.replace("{x}", "x")), judged.figure(on, place));
                crossings.row([what, host.clone(), or_nothing(found, |found| text(&found))]);
            }
        }
        let crossings = if map.crossings.is_empty() { String::new() } else { crossings.render() + "\n" };
        let (title, y) = (prose(&map.text), prose(&map.y.label));
        format!(
            "**{title}** In the cells: {y}.\n\n{}\n\n{}\n{crossings}",
            image(view, judged, "../../"),
            table.render()
        )
    };
    let maps: String = view.maps.iter().map(each).collect();
    if maps.is_empty() { maps } else { format!("<a id=\"maps\"></a>\n\n## Maps\n\n{maps}") }
}

/// Maps for a terminal: the crossings, and y at each x on the host of the newest round.
pub fn in_text(studies: &[StudyView]) -> String {
    let mut out = String::new();
    for (view, judged) in studies.iter().flat_map(|view| view.maps.iter().map(move |map| (view, map))) {
        let on = &judged.hosts[0];
        let host = view.origin.name(on.host);
        let _ = writeln!(out, "{}: {}", view.judged.study, judged.map.text.replace('`', ""));
        for (sentence, figure) in judged.sentences() {
            let _ = writeln!(out, "  {} ({host}: {figure})", sentence.replace('`', ""));
        }
        let _ = writeln!(out, "  {} by {} on {host}:", judged.map.y.label, judged.map.x.label);
        out.push_str(&columns(judged, on));
    }
    out
}

/// A row per x, a column per arm.
fn columns(judged: &JudgedMap, on: &OnHost) -> String {
    let arms = judged.map.lines.iter().map(|line| line.arm.clone());
    let mut rows = vec![std::iter::once(String::new()).chain(arms).collect::<Vec<_>>()];
    let cells = |point: &Point| {
        let ys = (0..judged.map.lines.len()).map(|line| y(judged, point, line, false));
        std::iter::once(x(judged, point)).chain(ys).collect::<Vec<_>>()
    };
    rows.extend(on.points.iter().map(cells));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("  {cell:>width$}"));
        cells.collect::<String>() + "\n"
    };
    rows.iter().map(line).collect()
}

fn x(judged: &JudgedMap, point: &Point) -> String {
    figures::range_of(&judged.x_scale(), &[point.x]).unwrap_or_default()
}

/// What a line shows at a point; `whole`: with its interval, and what the rule says.
fn y(judged: &JudgedMap, point: &Point, line: usize, whole: bool) -> String {
    if judged.map.base.as_ref() == Some(&judged.map.lines[line].arm) {
        return "1".to_owned();
    }
    let scale = judged.y_scale();
    let short = |y: f64| figures::range_of(&scale, &[y]).unwrap_or_default();
    let rule = point.predicted[line].filter(|_| whole).map(|y| format!("; rule {}", short(y))).unwrap_or_default();
    or_nothing(point.ys[line], |y| if whole { figures::printed(&scale, &y) } else { short(y.point) }) + &rule
}

fn image(view: &StudyView, judged: &JudgedMap, to: &str) -> String {
    // Brackets would end the alternative text early.
    let title = prose(&judged.map.text).replace(['[', ']', '`'], "");
    format!("![{title}]({to}charts/{})", charts::map_file(view, judged))
}
