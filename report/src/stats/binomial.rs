//! Shares of blocks: the exact interval of a proportion.

use statrs::distribution::{Beta, ContinuousCDF};

/// The Clopper-Pearson interval of a share of which `met` of `n` were seen; a limit that cannot be computed is the open end of the range, 0 or 1.
pub fn interval(met: usize, n: usize, confidence: f64) -> (f64, f64) {
    if met > n {
        return (0.0, 1.0);
    }
    let (k, n) = (met as f64, n as f64);
    let tail = (1.0 - confidence) / 2.0;
    let quantile =
        |a: f64, b: f64, p: f64| Beta::new(a, b).ok()?.try_inverse_cdf(p).ok().filter(|share| share.is_finite());
    let lo = if k == 0.0 { Some(0.0) } else { quantile(k, n - k + 1.0, tail) };
    let hi = if k >= n { Some(1.0) } else { quantile(k + 1.0, n - k, 1.0 - tail) };
    (lo.unwrap_or(0.0), hi.unwrap_or(1.0))
}
