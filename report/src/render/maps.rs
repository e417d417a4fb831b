//! What each design costs around the published settings: in the report, the evidence of a study, and on a terminal.

use std::collections::BTreeSet;
use std::fmt::Write as _; // Writing to a String cannot fail, so its results are dropped.
use std::slice;

use super::markdown::{Table, around, bullets, cell, heading, known, prose, round, text};
use crate::charts;
use crate::fmt;
use crate::judge::figures::{self, or_nothing};
use crate::judge::maps::{JudgedMap, Point};
use crate::page::view::StudyView;

/// The maps of a study: a part of its section in the report; nothing if none was measured.
pub fn section(view: &StudyView) -> String {
    let shown = || view.maps.iter().filter(|judged| judged.map.is_in_report);
    let host = |judged: &JudgedMap| view.host_name(judged.hosts[0].at.host);
    // The sentences of a map of several hosts name them.
    let hosts: BTreeSet<String> = shown().filter(|map| map.hosts.len() == 1).map(|map| cell(host(map))).collect();
    let measured = around("On ", fmt::listed(&Vec::from_iter(hosts)), ":\n\n");
    let each = |map: &JudgedMap| format!("{}\n\n{}", picture(view, map, ""), bullets(map.sentences(host(map))));
    around("### Map\n\n", measured + &shown().map(each).collect::<String>(), "")
}

/// The maps of a study by host: a section of its evidence; nothing if none was measured.
pub fn by_host(view: &StudyView) -> String {
    let each = |judged: &JudgedMap| {
        let JudgedMap { map, hosts } = judged;
        let x_label = map.x.label.replace('|', "/");
        let mut table = Table::new(&format!("Host | >{x_label} | >{} | Round", arms(judged)));
        let mut crossings = Table::new("Crossing | Host | >Where");
        for on in hosts {
            let host = cell(view.host_name(on.at.host));
            for point in &on.points {
                let values: Vec<String> = values(judged, point, true).iter().map(|value| text(value)).collect();
                table.row([slice::from_ref(&host), &values, &[round(&on.at.round)]].concat());
            }
            for (place, crossing) in map.crossings.iter().enumerate() {
                let what = prose(&crossing.text.replace("{x}", "x"));
                crossings.row([what, host.clone(), known(judged.figure(on, place))]);
            }
        }
        let (title, y, picture) = (prose(&map.text), prose(&map.y.label), picture(view, judged, "../../"));
        let tables = table.below("") + &crossings.below("");
        format!("**{title}** In the cells: {y}.\n\n{picture}\n\n{tables}")
    };
    around(&heading("maps", "## Maps"), view.maps.iter().map(each).collect::<String>(), "")
}

/// Maps for a terminal: the crossings, and y at each x on the host of the newest round.
pub fn in_text(studies: &[StudyView]) -> String {
    let mut out = String::new();
    for (view, judged) in studies.iter().flat_map(|view| view.maps.iter().map(move |map| (view, map))) {
        let on = &judged.hosts[0];
        let host = view.host_name(on.at.host);
        let _ = writeln!(out, "{}: {}", view.judged.study, judged.map.text.replace('`', ""));
        for sentence in judged.sentences(host) {
            let _ = writeln!(out, "  {}", sentence.replace('`', ""));
        }
        let mut table = Table::new(&format!("> | >{}", arms(judged)));
        for point in &on.points {
            table.row(values(judged, point, false));
        }
        let (y, x) = (&judged.map.y.label, &judged.map.x.label);
        let _ = write!(out, "  {y} by {x} on {host}:\n{}", table.in_text());
    }
    out
}

fn arms(judged: &JudgedMap) -> String {
    judged.map.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>().join(" | >")
}

/// x, and what each line shows there; `whole`: with its interval, and what the rule says.
fn values(judged: &JudgedMap, point: &Point, whole: bool) -> Vec<String> {
    let [x_scale, scale] = judged.scales();
    let short = |y: f64| figures::range_of(&scale, &[y]).unwrap_or_default();
    let y = |place: usize| {
        if judged.map.base == Some(place) {
            return "1".to_owned();
        }
        let rule = point.predicted[place].filter(|_| whole).map(|y| format!("; rule {}", short(y)));
        let y = |y| if whole { figures::printed(&scale, &y) } else { short(y.point) };
        or_nothing(point.ys[place], y) + &rule.unwrap_or_default()
    };
    let x = figures::range_of(&x_scale, &[point.x]).unwrap_or_default();
    [x].into_iter().chain((0..judged.map.lines.len()).map(y)).collect()
}

fn picture(view: &StudyView, judged: &JudgedMap, to: &str) -> String {
    // Brackets would end the title early.
    let title = prose(&judged.map.text).replace(['[', ']', '`'], "");
    format!("![{title}]({to}charts/{})", charts::map_file(view, judged))
}
