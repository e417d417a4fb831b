//! Several tests at once: Holm's adjustment.

/// The p-values adjusted by Holm's step-down procedure, in the order given.
#[must_use]
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (step, &index) in order.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "numbers of tests are small")]
        let factor = (p_values.len() - step) as f64;
        largest = largest.max((p_values[index] * factor).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
