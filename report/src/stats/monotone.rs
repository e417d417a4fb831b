//! The nearest monotone sequence.

use std::iter;

use super::median;

/// The falling sequence with the least sum of distances to `values`: neighbors that rise are pooled, and a pool takes its median (isotonic regression).
pub fn falling(values: &[f64]) -> Vec<f64> {
    let middle = |pool: &Vec<f64>| median(pool.clone());
    let mut pools: Vec<Vec<f64>> = Vec::new();
    for value in values {
        let mut pool = vec![*value];
        while let Some(before) = pools.pop_if(|before| middle(before) < middle(&pool)) {
            pool.extend(before);
        }
        pools.push(pool);
    }
    pools.iter().filter_map(|pool| Some(iter::repeat_n(middle(pool)?, pool.len()))).flatten().collect()
}
