//! Charts as SVG: pure functions of what was judged and sampled, the same bytes every time.

pub mod canvas;
mod claims;
mod map;
mod plot;
mod rule;
mod samples;
pub mod scale;

use std::collections::BTreeMap;

use crate::fmt::anchor;
use crate::judge::maps::JudgedMap;
use crate::page::view::StudyView;

/// Every chart by file name: `claims.svg` with what the answers quote of all studies, `rule.svg` if prices predict anything, `STUDY-claims.svg`,
/// `STUDY-map-ID.svg` for each map that was measured, and `STUDY-ID.svg` for each `[[chart]]` of a page of which anything was run.
pub fn all(studies: &[StudyView]) -> BTreeMap<String, String> {
    let mut charts = BTreeMap::from([("claims.svg".to_owned(), claims::draw_quoted(studies))]);
    charts.extend(rule::draw(studies).map(|chart| ("rule.svg".to_owned(), chart)));
    for view in studies {
        charts.insert(claims_of(view), claims::draw_all(view));
        for map in &view.maps {
            charts.insert(map_file(view, map), map::draw(map, view.origin.name(map.hosts[0].host)));
        }
        for chart in view.page.chart.iter().filter(|chart| view.can_draw(chart)) {
            charts.insert(chart.file_name(&view.judged.study), samples::draw(view, chart));
        }
    }
    charts
}

/// The name of the chart with the claims of a study.
pub fn claims_of(view: &StudyView) -> String {
    format!("{}.svg", anchor(&view.judged.study, "claims"))
}

/// The name of the chart of a map.
pub fn map_file(view: &StudyView, map: &JudgedMap) -> String {
    format!("{}.svg", anchor(&view.judged.study, &format!("map-{}", map.map.id)))
}
