//! What share of an effect a control explains.

use super::signed_rank::{Interval, interval_rank, walsh_averages};

/// The share s of the `mirror` log effects that the `control` log effects of the same blocks amount to, with its exact interval: every s for which
/// the signed-rank test does not reject that control - s x mirror is centred on zero. Each sum of two such differences changes its sign where s is the
/// share that its two blocks show, so only these shares can be limits. A failed run leaves the signs of its sums open, which widens the interval.
///
/// `None` where the mirror's effect does not differ from zero by the same test. With too few blocks for a test the share stands alone, between infinite
/// limits, as long as most of the mirror's sums agree in direction.
pub fn explained(control: &[f64], mirror: &[f64], confidence: f64) -> Option<Interval> {
    let n = control.len().min(mirror.len());
    let sums = Sums::of_blocks(&control[..n], &mirror[..n]);
    let (point_lo, point_hi) = sums.accepted(sums.known / 2)?;
    let point = f64::midpoint(point_lo, point_hi);
    let Some((rank, level)) = interval_rank(n, confidence) else {
        return Some(Interval { point, lo: f64::NEG_INFINITY, hi: f64::INFINITY, n, level: 1.0 });
    };
    let (lo, hi) = sums.accepted(n * (n + 1) / 2 - rank)?;
    Some(Interval { point, lo, hi, n, level })
}

/// The sums over two blocks (or twice one) of `control - s x mirror`, as s grows from minus to plus infinity.
struct Sums {
    /// Shares at which a sum passes zero, sorted, and whether it falls (the mirror's sum is positive) or rises there.
    turns: Vec<(f64, bool)>,
    /// Sums above and below zero at every s: the mirror has no effect in these blocks.
    always: (usize, usize),
    /// Sums without a failed run.
    known: usize,
}

impl Sums {
    fn of_blocks(control: &[f64], mirror: &[f64]) -> Self {
        let mut sums = Sums { turns: Vec::new(), always: (0, 0), known: 0 };
        // Half a sum: it has the same sign, and turns at the same share.
        let halves = walsh_averages(control).zip(walsh_averages(mirror));
        for (c, m) in halves.filter(|(c, m)| c.is_finite() && m.is_finite()) {
            sums.known += 1;
            if m == 0.0 {
                sums.always.0 += usize::from(c > 0.0);
                sums.always.1 += usize::from(c < 0.0);
            } else {
                // Plus zero, so that no share is -0 and all that are zero turn together.
                sums.turns.push((c / m + 0.0, m > 0.0));
            }
        }
        sums.turns.sort_by(|a, b| a.0.total_cmp(&b.0));
        sums
    }

    /// The smallest and largest share at which at most `limit` sums lie above zero and at most `limit` below.
    ///
    /// `None` if the mirror's own sums pass that test: then every share, however large, would do.
    fn accepted(&self, limit: usize) -> Option<(f64, f64)> {
        let falling = self.turns.iter().filter(|(_, falls)| *falls).count();
        if falling.max(self.turns.len() - falling) <= limit {
            return None;
        }
        let is_accepted = |share: &f64| {
            let (mut above, mut below) = self.always;
            // At its own turn a sum is zero, on neither side.
            for (turn, falls) in self.turns.iter().filter(|(turn, _)| turn.total_cmp(share).is_ne()) {
                if (turn > share) == *falls { above += 1 } else { below += 1 }
            }
            above <= limit && below <= limit
        };
        let mut shares = self.turns.iter().map(|(share, _)| *share).filter(is_accepted);
        let first = shares.next()?;
        Some((first, shares.next_back().unwrap_or(first)))
    }
}
