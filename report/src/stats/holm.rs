//! Several tests at once: Holm's adjustment.

/// The p-values adjusted by Holm's step-down procedure, in the order given. One that is not a number counts as 1.
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().map(|&p_value| if p_value.is_nan() { 1.0 } else { p_value }).enumerate().collect();
    order.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (step, (index, p_value)) in order.into_iter().enumerate() {
        let factor = (p_values.len() - step) as f64;
        largest = largest.max((p_value * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
