//! machine.json: where the samples come from.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::files::{Schema, from_json};

/// The machine, its limits and tools.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub schema: Schema,
    /// Values by name; `None` where one could not be read.
    pub values: BTreeMap<String, Option<Value>>,
    /// Why a value could not be read.
    pub reasons: BTreeMap<String, String>,
}

impl Machine {
    /// Reads machine.json; `file` stands in messages.
    ///
    /// # Errors
    /// If it is not as docs/FORMAT.md says, or a null has no reason.
    pub fn parse(text: &str, file: &str) -> Result<Self, Error> {
        let machine: Machine = from_json(text, file)?;
        for (name, value) in &machine.values {
            match value {
                None if !machine.reasons.contains_key(name) => {
                    return Err(Error::file(file, format!("{name} is null without a reason")));
                }
                Some(Value::String(_) | Value::Number(_)) | None => {}
                Some(_) => return Err(Error::file(file, format!("{name} is neither text nor a number nor null"))),
            }
        }
        Ok(machine)
    }

    /// Whether both are of one kind: the same processor model and number of cores, known in both.
    pub fn is_like(&self, other: &Machine) -> bool {
        ["cpu_model", "cpu_count"].iter().all(|name| {
            let value = |machine: &Machine| machine.values.get(*name).cloned().flatten();
            value(self).is_some() && value(self) == value(other)
        })
    }
}
