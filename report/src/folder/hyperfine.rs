//! What `hyperfine -N -r 1 --export-json` writes, in the dialects of 1.15 to 1.20 and of 2.0 (its "schema version 2"), and what is kept of it: the
//! time. Older rounds kept it whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is kept of the export of one command that was run once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Export {
    pub wall_s: f64,
}

impl TryFrom<Value> for Export {
    type Error = String;

    fn try_from(export: Value) -> Result<Self, String> {
        let known = "this is no JSON export of one run by hyperfine -r 1 (known are 1.15 to 1.20 and 2.0)";
        let is_kept = export.as_object().is_some_and(|keys| keys.keys().eq(["wall_s"]));
        let (time, exit_code) = match &export["schema_version"] {
            _ if is_kept => (&export["wall_s"], &Value::from(0)),
            Value::Null => {
                let run = only(&export["results"]);
                (only(&run["times"]), only(&run["exit_codes"]))
            }
            version if *version == 2 => {
                let run = only(&only(&export["results"])["measurements"]);
                let time = &run["time_wall_clock"];
                if time["unit"] != "second" {
                    return Err(format!("hyperfine's export has a time in {}: seconds are known", time["unit"]));
                }
                (&time["value"], &run["exit_code"])
            }
            version => return Err(format!("hyperfine's export has schema version {version}: 2 is known")),
        };
        let wall_s = time.as_f64().ok_or(known)?;
        if *exit_code != 0 {
            return Err(format!("hyperfine's export has the exit code {exit_code}: a failed run has no export"));
        }
        if !wall_s.is_finite() || wall_s <= 0.0 {
            return Err(format!("hyperfine's export has the time {wall_s} s"));
        }
        Ok(Export { wall_s })
    }
}

/// The only one of a list; null of any other value.
fn only(list: &Value) -> &Value {
    match list.as_array().map(Vec::as_slice) {
        Some([only]) => only,
        _ => &Value::Null,
    }
}
