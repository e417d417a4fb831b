//! Slopes on logarithmic axes.

/// Least-squares slope of log y on log x in one block; `None` with fewer than two distinct x, or a point that is not above zero and finite.
pub fn of_logs(points: &[(f64, f64)]) -> Option<f64> {
    let usable = |value: f64| value > 0.0 && value.is_finite();
    if !points.iter().all(|&(x, y)| usable(x) && usable(y)) {
        return None;
    }
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let mean = |pick: fn(&(f64, f64)) -> f64| logs.iter().map(pick).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let joint: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    // Not zero: rounding gives equal x a spread of their own.
    (spread > 1e-12).then(|| joint / spread)
}

/// The slope that changes y by the factor `1 + margin` while x goes from the smallest to the largest of `range`: the margin of a claimed
/// direction. Infinite for a range without extent or with an end that is not above zero, over which no slope can be told.
pub fn margin_over(range: (f64, f64), margin: f64) -> f64 {
    let extent = (range.1 / range.0).ln();
    if extent > 0.0 && extent.is_finite() { margin.ln_1p() / extent } else { f64::INFINITY }
}
