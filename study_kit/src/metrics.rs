//! What was observed, by name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

/// Figures by name; each name ends in its unit (docs/FORMAT.md, section 2).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Metrics(BTreeMap<Cow<'static, str>, f64>);

impl Metrics {
    /// Without any.
    #[must_use]
    pub fn new() -> Self {
        Metrics::default()
    }

    /// Adds a figure. What could not be read, or is no number (the quantile of nothing), is left out.
    pub fn put(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.0.insert(name.into(), value);
        }
    }

    /// The figure of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// The same figures with `prefix` in front of their names.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        self.0.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)).collect()
    }
}

impl<N: Into<Cow<'static, str>>> Extend<(N, f64)> for Metrics {
    fn extend<I: IntoIterator<Item = (N, f64)>>(&mut self, figures: I) {
        for (name, value) in figures {
            self.put(name, value);
        }
    }
}

impl<N: Into<Cow<'static, str>>> FromIterator<(N, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (N, f64)>>(figures: I) -> Self {
        let mut metrics = Metrics::new();
        metrics.extend(figures);
        metrics
    }
}

impl<N: Into<Cow<'static, str>>, const COUNT: usize> From<[(N, f64); COUNT]> for Metrics {
    fn from(figures: [(N, f64); COUNT]) -> Self {
        figures.into_iter().collect()
    }
}

impl IntoIterator for Metrics {
    type Item = (Cow<'static, str>, f64);
    type IntoIter = std::collections::btree_map::IntoIter<Cow<'static, str>, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
