//! A duet: one process that alternates two arms, each pair in random order.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::record::Pair;

/// Alternates `a` and `b`, `pairs` times, in an order that follows from `seed` and `block`. Each call returns the seconds it took.
///
/// # Errors
/// The first error of either.
pub fn alternate<E>(
    pairs: usize,
    seed: u64,
    block: u64,
    mut a: impl FnMut() -> Result<f64, E>,
    mut b: impl FnMut() -> Result<f64, E>,
) -> Result<Vec<Pair>, E> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(block));
    let mut times = Vec::with_capacity(pairs);
    for _ in 0..pairs {
        times.push(if rng.random() {
            let a_s = a()?;
            Pair { order: "ab", a_s, b_s: b()? }
        } else {
            let b_s = b()?;
            Pair { order: "ba", a_s: a()?, b_s }
        });
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn both_orders_occur_and_follow_from_the_seed() {
        let calls = RefCell::new(String::new());
        let call = |name: char, seconds: f64| {
            calls.borrow_mut().push(name);
            Ok::<f64, ()>(seconds)
        };
        let pairs = alternate(50, 1, 2, || call('a', 1.0), || call('b', 2.0)).unwrap();
        assert!(pairs.iter().all(|pair| (pair.a_s, pair.b_s) == (1.0, 2.0)));
        let orders: String = pairs.iter().map(|pair| pair.order).collect();
        assert_eq!(*calls.borrow(), orders);
        assert!(orders.contains("abba") && orders.contains("baab"));
        let again = alternate(50, 1, 2, || Ok::<f64, ()>(1.0), || Ok(2.0)).unwrap();
        assert_eq!(again, pairs);
        assert_ne!(alternate(50, 1, 3, || Ok::<f64, ()>(1.0), || Ok(2.0)).unwrap(), pairs);
    }
}
