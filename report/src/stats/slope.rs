//! Slopes on logarithmic axes.

/// Least-squares slope of log y on log x over the points of one block.
///
/// `None` with fewer than two distinct x, or a point that is not above zero and finite.
#[must_use]
pub fn of_logs(points: &[(f64, f64)]) -> Option<f64> {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    if !points.iter().all(|&(x, y)| usable(x) && usable(y)) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of scenarios are small")]
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let mean = |pick: fn(&(f64, f64)) -> f64| logs.iter().map(pick).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let joint: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 1e-12).then(|| joint / spread)
}
