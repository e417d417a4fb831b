//! Shares of blocks: the exact interval of a proportion.

use statrs::distribution::{Beta, ContinuousCDF};

/// The Clopper-Pearson interval of a share of which `met` of `n` were seen; the whole range without observations.
#[must_use]
pub fn interval(met: usize, n: usize, confidence: f64) -> (f64, f64) {
    #[expect(clippy::cast_precision_loss, reason = "numbers of blocks are small")]
    let (k, n) = (met as f64, n as f64);
    let tail = (1.0 - confidence) / 2.0;
    let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(p)).ok();
    let lo = if k == 0.0 { Some(0.0) } else { quantile(k, n - k + 1.0, tail) };
    // The first branch holds for no observations at all, too.
    let hi = if k >= n { Some(1.0) } else { quantile(k + 1.0, n - k, 1.0 - tail) };
    (lo.unwrap_or(0.0), hi.unwrap_or(1.0))
}
