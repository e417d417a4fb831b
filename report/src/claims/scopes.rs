//! What one number of a metric is of, as `scope` in claims.toml says.

use std::collections::BTreeMap;

/// The scope of a metric that `scope` does not name.
const PROCESS: &str = "process";
/// The scope of a parameter, by which everything may be divided.
const SETTING: &str = "setting";

/// The scope of each metric by its name; a metric that is not named is of the whole process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scopes(BTreeMap<String, String>);

impl Scopes {
    /// From the metrics of each scope.
    pub fn new(metrics_by_scope: BTreeMap<String, Vec<String>>) -> Self {
        let named = metrics_by_scope.into_iter();
        Scopes(named.flat_map(|(scope, metrics)| metrics.into_iter().map(move |of| (of, scope.clone()))).collect())
    }

    /// The scopes of `metric` and `per` where they differ: a count of a whole process says nothing about a single archive. A setting fits all.
    pub fn unlike(&self, metric: &str, per: &str) -> Option<[&str; 2]> {
        let [above, below] = [metric, per].map(|metric| self.0.get(metric).map_or(PROCESS, String::as_str));
        (above != below && ![above, below].contains(&SETTING)).then_some([above, below])
    }
}
