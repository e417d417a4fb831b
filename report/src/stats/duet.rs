//! Duets: one process that alternates two arms gives one log ratio.

use super::median;
use crate::folder::record::{DuetPair, Order};

/// The log ratio of first to second arm that one process shows: the median over its pairs, because a stolen slice of time hits one pair and not
/// the others. `None` without pairs, or if a ratio has no logarithm.
pub fn log_ratio(pairs: &[DuetPair]) -> Option<f64> {
    let ratio = |pair: &DuetPair| Some((pair.a_s / pair.b_s).ln()).filter(|ratio| !ratio.is_nan());
    median(pairs.iter().map(ratio).collect::<Option<_>>()?).filter(|middle| !middle.is_nan())
}

/// How much larger the log ratio is in pairs that the first arm began: twice the cost of going first. `None` if one of the orders did not occur.
pub fn order_effect(pairs: &[DuetPair]) -> Option<f64> {
    let part = |order| {
        let chosen: Vec<DuetPair> = pairs.iter().copied().filter(|pair| pair.order == order).collect();
        log_ratio(&chosen)
    };
    let effect = part(Order::Ab)? - part(Order::Ba)?;
    (!effect.is_nan()).then_some(effect)
}
