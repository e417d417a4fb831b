//! What one number of a metric is of, as `scope` in claims.toml says.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::Error;
use crate::files::TomlFile;

/// The scope of a metric that `scope` does not name.
const PROCESS: &str = "process";
/// The scope of a parameter, by which everything may be divided.
const SETTING: &str = "setting";

/// The metrics of each scope.
#[derive(Debug, Default, Deserialize)]
pub struct Scopes {
    #[serde(default)]
    scope: BTreeMap<String, Vec<String>>,
}

impl Scopes {
    /// Reads the scopes of claims.toml; `name` stands in messages.
    ///
    /// # Errors
    /// If they are no lists of metrics.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| TomlFile { name, text }.fault(&error))
    }

    /// Whether one number of either metric is of the same thing, or one is a setting.
    pub fn are_alike(&self, metric: &str, per: &str) -> bool {
        let [above, below] = [metric, per].map(|metric| {
            let of = self.scope.iter().find(|(_, metrics)| metrics.iter().any(|named| named == metric));
            of.map_or(PROCESS, |(scope, _)| scope.as_str())
        });
        above == below || [above, below].contains(&SETTING)
    }
}
