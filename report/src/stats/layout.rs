//! Layouts: what the placement of code alone does to the speed of one program.

use std::collections::BTreeMap;

/// The standard deviation of an arm's log time from layout to layout, from the layouts and log ratios of A/A pairs, whose copies differ by
/// one layout. `None` with fewer than two layouts, or without a second pair in any, from which to tell noise.
///
/// Half of the mean square of the layouts' mean ratios, since two layouts meet in each, less what noise within the layouts adds to it. Going round
/// all layouts the ratios cancel out, so that their mean is known to be zero. Failed runs are left out.
pub fn sd(aa: &[(u64, f64)]) -> Option<f64> {
    let known: Vec<(u64, f64)> = aa.iter().copied().filter(|(_, ratio)| ratio.is_finite()).collect();
    let layouts = by_layout(&known);
    let free = known.len() - layouts.len();
    if layouts.len() < 2 || free == 0 {
        return None;
    }
    let (mut between, mut within, mut noise) = (0.0, 0.0, 0.0);
    for ratios in layouts.values() {
        let middle = ratios.iter().sum::<f64>() / ratios.len() as f64;
        between += middle * middle;
        within += ratios.iter().map(|ratio| (ratio - middle).powi(2)).sum::<f64>();
        noise += 1.0 / ratios.len() as f64;
    }
    let variance = (between - within / free as f64 * noise) / layouts.len() as f64 / 2.0;
    Some(variance.max(0.0).sqrt())
}

pub(super) fn by_layout(ratios: &[(u64, f64)]) -> BTreeMap<u64, Vec<f64>> {
    let mut layouts: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for &(layout, ratio) in ratios {
        layouts.entry(layout).or_default().push(ratio);
    }
    layouts
}
