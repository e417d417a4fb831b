//! What was observed, by name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

/// Figures by name; each name ends in its unit (docs/FORMAT.md, section 2).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Metrics(BTreeMap<Cow<'static, str>, f64>);

impl Metrics {
    /// Adds a figure. What could not be read, or is no number (the quantile of nothing), is left out.
    pub fn put(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.0.insert(name.into(), value);
        }
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
}

impl<N: Into<Cow<'static, str>>> Extend<(N, f64)> for Metrics {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, figures: I) {
        figures.into_iter().for_each(|(name, value)| self.put(name, value));
    }
}

impl<N: Into<Cow<'static, str>>, const COUNT: usize> From<[(N, f64); COUNT]> for Metrics {
    fn from(figures: [(N, f64); COUNT]) -> Self {
        let mut metrics = Metrics::default();
        metrics.extend(figures);
        metrics
    }
}

impl IntoIterator for Metrics {
    type Item = (Cow<'static, str>, f64);
    type IntoIter = std::collections::btree_map::IntoIter<Cow<'static, str>, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
