//! Charts as SVG: pure functions of what was judged, the same bytes every time.

pub mod canvas;
mod claims;
pub mod map;
mod plot;
mod rule;
pub mod scale;

use std::collections::BTreeMap;

use crate::fmt::anchor;
use crate::judge::maps::JudgedMap;
use crate::page::Piece;
use crate::page::view::StudyView;

/// Every chart by file name: what the answers quote, the rule, and the claims and maps of each study.
pub fn all(studies: &[StudyView]) -> BTreeMap<String, String> {
    let quoted = |view: &StudyView, id: &str| {
        let answered = view.page.answer.iter().flat_map(|answer| answer.setup.iter().chain(&answer.equal));
        let pieces = answered.flat_map(|sentence| &sentence.pieces);
        { pieces }.any(|piece| matches!(piece, Piece::Figure { claim, .. } if claim == id))
    };
    let mut charts = BTreeMap::from([("claims.svg".to_owned(), claims::draw(studies, quoted))]);
    charts.extend(rule::draw(studies).map(|chart| ("rule.svg".to_owned(), chart)));
    for view in studies {
        charts.insert(claims_of(view), claims::draw(std::slice::from_ref(view), |_, _| true));
        for map in &view.maps {
            charts.insert(map_file(view, map), map::draw(map, view.host_name(map.hosts[0].at.host)));
        }
    }
    charts
}

pub fn claims_of(view: &StudyView) -> String {
    format!("{}.svg", anchor(&view.judged.study, "claims"))
}

pub fn map_file(view: &StudyView, map: &JudgedMap) -> String {
    format!("{}.svg", anchor(&view.judged.study, &format!("map-{}", map.map.id)))
}
