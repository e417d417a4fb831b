//! What it would take to decide what a round leaves open.

use super::evidence::Evidence;
use crate::claims::{Aim, Kind, Part};
use crate::figures;
use crate::judged::{Price, Row, Scale};
use crate::rules::{Band, Count, Direction, computable};
use crate::stats::median;

/// What would decide the open ones among `rows`, which decide `part`; `None` if none of them is open for its interval.
pub(super) fn of(evidence: Evidence<'_>, part: &Part, rows: &[Row]) -> Option<Price> {
    let open = rows.iter().filter(|row| row.verdict.count() == Count::Undecided);
    let mut needed = open.filter_map(|row| Some((row.estimate?.n, blocks(row, &part.kind)?)));
    let first = needed.next()?;
    let (ran, blocks) = needed.fold(first, |most, one| if one.1 > most.1 { one } else { most });
    let cases = part.quantity.cases(evidence.profile);
    let walls = cases.iter().map(|(scenario, arm)| evidence.recorded(&part.quantity, scenario, arm, "process_s"));
    let a_block: f64 = walls.filter_map(median).sum();
    Some(Price { blocks, more_s: (blocks - ran as f64) * a_block })
}

/// So many blocks bring a row to a verdict if estimate and noise stay as they are, by the width of intervals, which falls with the root of the number;
/// infinitely many if its estimate lies on the bound. `None` where it has no interval or no bounds.
fn blocks(row: &Row, kind: &Kind) -> Option<f64> {
    let estimate = figures::shown(row).filter(computable)?;
    let band = match (row.margin, row.claimed) {
        (Some(margin), _) => Band::negligible(margin),
        (None, claimed) => claimed?.band(),
    };
    let is_factor = matches!(row.scale, Scale::Ratio { .. } | Scale::Slope { range: Some(_), .. });
    let on_scale = |x: f64| if is_factor { x.ln() } else { x };
    let [point, lo, hi, least, most] = [estimate.point, estimate.lo, estimate.hi, band.lo, band.hi].map(on_scale);
    let is_down = matches!(kind, Kind::Slope { aim: Aim::Direction(Direction::Down), .. });
    let [point, lo, hi] = if is_down { [-point, -hi, -lo] } else { [point, lo, hi] };
    // A claimed effect is decided by being none, too, be it a loss or not.
    let is_up = matches!(kind, Kind::Slope { aim: Aim::Direction(Direction::Up), .. });
    let is_effect = is_up || is_down || matches!(kind, Kind::Ratio { .. } | Kind::Every { .. });
    // How narrow the interval has to become, as a share of what it is.
    let share = match point {
        _ if point > most => (point - most) / (point - lo),
        _ if is_effect => (most - point) / (hi - point),
        _ if point < least => (least - point) / (hi - point),
        _ => ((point - least) / (point - lo)).min((most - point) / (hi - point)),
    };
    // Neither the interval nor the floor, which is as wide as what copies show, may hide the effect.
    let floor = row.floor.filter(|floor| is_effect && point > most && point < floor.ln_1p());
    let by_floor = floor.map_or(f64::INFINITY, |floor| point / floor.ln_1p());
    let n = estimate.n as f64;
    Some((n / share.min(by_floor).powi(2)).ceil().max(n))
}
