//! What share of an effect a control explains.

use std::cmp::Ordering;

use super::signed_rank::{Interval, interval_rank, walsh_averages};

/// The share s of the `mirror` log effects that the `control` log effects of the same blocks amount to, with its exact interval: every s for which
/// the signed-rank test does not reject that control - s x mirror is centred on zero. Each sum of two such differences changes its sign where s is the
/// share that its two blocks show, so only these shares can be limits. A failed run leaves the signs of its sums open, which widens the interval.
///
/// `None` where the mirror's effect does not differ from zero by the same test. With too few blocks for a test the share stands alone, between infinite
/// limits, as long as most of the mirror's sums agree in direction.
pub fn explained(control: &[f64], mirror: &[f64], confidence: f64) -> Option<Interval> {
    let n = control.len().min(mirror.len());
    // Half a sum has the same sign, and turns at the same share.
    let halves = walsh_averages(&control[..n]).zip(walsh_averages(&mirror[..n]));
    let sums: Vec<(f64, f64)> = halves.filter(|(c, m)| c.is_finite() && m.is_finite()).collect();
    let (lo, hi) = accepted(&sums, sums.len() / 2)?;
    let point = f64::midpoint(lo, hi);
    let Some((rank, level)) = interval_rank(n, confidence) else {
        return Some(Interval { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n, level: 1.0 });
    };
    let (lo, hi) = accepted(&sums, n * (n + 1) / 2 - rank)?;
    Some(Interval { point, lo, hi, n, level })
}

/// The smallest and largest share s at which at most `limit` of the `sums` c - s x m lie above zero and at most `limit` below. `None` if the sums of
/// the mirror alone pass that test: then every share, however large, would do.
fn accepted(sums: &[(f64, f64)], limit: usize) -> Option<(f64, f64)> {
    let mirrors = |side| sums.iter().filter(|(_, m)| m.partial_cmp(&0.0) == Some(side)).count();
    if mirrors(Ordering::Greater).max(mirrors(Ordering::Less)) <= limit {
        return None;
    }
    // Plus zero, so that no share is -0 and all that are zero turn together.
    let turn = |(c, m): &(f64, f64)| c / m + 0.0;
    // At its own turn a sum is zero, on neither side.
    let side = |sum: &(f64, f64), share: f64| match sum.1 {
        0.0 => sum.0.partial_cmp(&0.0),
        m if m > 0.0 => Some(turn(sum).total_cmp(&share)),
        _ => Some(share.total_cmp(&turn(sum))),
    };
    let is_accepted = |share: &f64| {
        let on = |wanted| sums.iter().filter(|sum| side(sum, *share) == Some(wanted)).count();
        on(Ordering::Greater) <= limit && on(Ordering::Less) <= limit
    };
    let mut shares: Vec<f64> = sums.iter().filter(|(_, m)| *m != 0.0).map(turn).collect();
    shares.sort_by(f64::total_cmp);
    let mut shares = shares.into_iter().filter(is_accepted);
    let first = shares.next()?;
    Some((first, shares.next_back().unwrap_or(first)))
}
