//! What share of an effect a control explains.

use super::signed_rank::{Interval, interval_rank, middle};

/// The share s of the `mirror` log effects that the `control` log effects of the same blocks amount to, with its exact interval.
///
/// The interval holds every s for which the signed-rank test does not reject that control - s x mirror is centred on zero.
/// That test only asks how many of the ratios (c_i + c_j) / (m_i + m_j) lie above s, so its limits are two of these ratios, as the
/// limits of the plain interval are two of the Walsh averages. `None` where the mirror has no effect to be explained: a sum of two of
/// its log effects is not above zero (after turning it round if it is negative as a whole), or a run failed.
#[must_use]
pub fn explained(control: &[f64], mirror: &[f64], confidence: f64) -> Option<Interval> {
    let n = control.len().min(mirror.len());
    if n == 0 || control.iter().chain(mirror).any(|value| !value.is_finite()) {
        return None;
    }
    let direction = mirror[..n].iter().sum::<f64>().signum();
    let mut ratios = Vec::with_capacity(n * (n + 1) / 2);
    for i in 0..n {
        for j in i..n {
            let effect = direction * (mirror[i] + mirror[j]);
            if effect <= 0.0 {
                return None;
            }
            ratios.push(direction * (control[i] + control[j]) / effect);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let point = middle(&ratios);
    Some(match interval_rank(n, confidence) {
        Some((rank, level)) => Interval { point, lo: ratios[rank - 1], hi: ratios[ratios.len() - rank], n, level },
        None => Interval { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n, level: 1.0 },
    })
}
