//! Histograms of a record: a compressed `HdrHistogram` V2 in base64, as docs/FORMAT.md section 2 defines it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// Reads a histogram as a record holds it.
pub fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|error| format!("it is no padded base64 ({error})"))?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("it is no compressed HdrHistogram V2 ({error})"))
}

/// The sum of several histograms; `None` of nothing, or if they cannot be added up.
pub fn sum(parts: &[Histogram<u64>]) -> Option<Histogram<u64>> {
    let (first, rest) = parts.split_first()?;
    let mut whole = first.clone();
    // Another process may have met a larger value than the first has room for.
    whole.auto(true);
    for part in rest {
        whole.add(part).ok()?;
    }
    Some(whole)
}

/// The value at each position of `grid`, which rises and counts in decades beyond: 2 is the 99th percentile, 3 the 99.9th.
///
/// It ends where fewer than one value lies beyond.
pub fn quantiles(histogram: &Histogram<u64>, grid: &[f64]) -> Vec<(f64, f64)> {
    let total = histogram.len() as f64;
    let mut recorded = histogram.iter_recorded();
    let mut step = recorded.next();
    let mut below = step.as_ref().map_or(0, count);
    let mut out = Vec::new();
    for &decades in grid.iter().take_while(|decades| 10_f64.powf(**decades) <= total * (1.0 + 1e-9)) {
        // Rounded a little down, so that half of two values is the first and not, by an error of arithmetic, the second.
        let wanted = (total * (1.0 - 10_f64.powf(-decades)) - 1e-6).ceil().max(1.0);
        while (below as f64) < wanted {
            let Some(next) = recorded.next() else { break };
            below += count(&next);
            step = Some(next);
        }
        if let Some(step) = &step {
            out.push((decades, histogram.highest_equivalent(step.value_iterated_to()) as f64));
        }
    }
    out
}

fn count(step: &hdrhistogram::iterators::IterationValue<u64>) -> u64 {
    step.count_since_last_iteration()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).expect("three digits are allowed");
        for value in values {
            histogram.record(value).expect("an automatic histogram takes every value");
        }
        histogram
    }

    #[test]
    fn quantiles_are_those_of_the_crate_and_end_where_no_value_lies_beyond() {
        let histogram = of((1..=1_000).map(|value| value * value));
        let grid: Vec<f64> = (0..=40).map(|step| f64::from(step) * 0.1).collect();
        let found = quantiles(&histogram, &grid);
        assert_eq!(found.len(), 31);
        for (decades, value) in found {
            let expected = histogram.value_at_quantile(1.0 - 10_f64.powf(-decades) - 1e-12);
            assert!((value - expected as f64).abs() < 0.5, "{decades}: {value} is not {expected}");
        }
        assert!(quantiles(&of([]), &grid).is_empty());
    }

    #[test]
    fn histograms_of_different_ranges_add_up() {
        let parts = [of([10, 20]), of([5_000_000_000])];
        let whole = sum(&parts).expect("two histograms");
        assert_eq!((whole.len(), whole.min()), (3, 10));
        assert!(whole.max() >= 5_000_000_000);
        assert!(sum(&[]).is_none());
    }
}
