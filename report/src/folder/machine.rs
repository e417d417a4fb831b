//! machine.json: where the samples come from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::error::Error;
use crate::files::{self, Schema};
use crate::line::unrepeated;

/// The machine, its limits and tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub schema: Schema,
    /// Values by name; `None` is a value that could not be read.
    #[serde(deserialize_with = "unrepeated")]
    pub values: BTreeMap<String, Option<Value>>,
    #[serde(deserialize_with = "unrepeated")]
    pub reasons: BTreeMap<String, String>,
}

impl Machine {
    /// Reads machine.json; an error names `file` and what is not as docs/FORMAT.md says, or a null without a reason.
    pub fn parse(text: &str, file: &str) -> Result<Self, Error> {
        let machine: Machine = files::json(text, file, 1)?;
        let fault = |(name, value): (&String, &Option<Value>)| match value {
            None if !machine.reasons.contains_key(name) => Some(format!("{name} is null without a reason")),
            Some(Value::String(_) | Value::Number(_)) | None => None,
            Some(_) => Some(format!("{name} is neither text nor a number nor null")),
        };
        let fault = machine.values.iter().find_map(fault);
        fault.map_or(Ok(machine), |what| Err(Error::file(file, what)))
    }

    /// The machine by facts of a name, a value and a reason each, separated by tabs; `file` stands in messages. Of two facts of one name
    /// the last counts. An empty value could not be read.
    pub(crate) fn from_facts(text: &str, file: &str) -> Result<Self, Error> {
        let mut machine = Machine::default();
        for (index, line) in text.lines().enumerate() {
            let Some((name, rest)) = line.split_once('\t').filter(|(name, _)| !name.is_empty()) else {
                return Err(Error::line(file, index + 1, "this is no name, value and reason, separated by tabs"));
            };
            let (value, reason) = rest.split_once('\t').unwrap_or((rest, ""));
            let value = (!value.is_empty()).then(|| number_or_text(value));
            machine.reasons.remove(name);
            if value.is_none() {
                let reason = if reason.is_empty() { "it could not be read" } else { reason };
                machine.reasons.insert(name.to_owned(), reason.to_owned());
            }
            machine.values.insert(name.to_owned(), value);
        }
        Ok(machine)
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)?.as_ref()
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.as_f64()
    }
}

/// Text that looks like a plain number becomes a number; a longer text, such as a digest without letters, would lose digits.
fn number_or_text(value: &str) -> Value {
    let is_plain = value.len() <= 17 && value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let number = Some(value).filter(|_| is_plain).and_then(|value| serde_json::from_str::<Number>(value).ok());
    number.map_or_else(|| Value::from(value), Value::Number)
}
