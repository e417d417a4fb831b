//! What `hyperfine -N -r 1 --export-json` writes, in the dialects of 1.15 to 1.20 and of 2.0 (its "schema version 2"), and what is kept of it: the
//! time. Older rounds kept it whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value")]
pub struct Export {
    pub wall_s: f64,
}

impl TryFrom<Value> for Export {
    type Error = String;

    /// All that is not read here differs from version to version, and from machine to machine.
    fn try_from(export: Value) -> Result<Self, String> {
        let only = |value: &Value| value.as_array().filter(|all| all.len() == 1).map(|all| all[0].clone());
        let result = only(&export["results"]).unwrap_or_default();
        let run = only(&result["measurements"]).unwrap_or_default();
        let is_kept = export.as_object().is_some_and(|keys| keys.keys().eq(["wall_s"]));
        let (wall_s, exit_code) = match export.get("schema_version") {
            None if is_kept => (export.get("wall_s").cloned(), Some(Value::from(0))),
            None => (only(&result["times"]), only(&result["exit_codes"])),
            Some(version) if version == 2 => match &run["time_wall_clock"] {
                time if time["unit"] == "second" => (time.get("value").cloned(), run.get("exit_code").cloned()),
                time => return Err(format!("hyperfine's export has a time in {}: seconds are known", time["unit"])),
            },
            Some(version) => return Err(format!("hyperfine's export has schema version {version}: 2 is known")),
        };
        let Some((wall_s, exit_code)) = wall_s.and_then(|time| time.as_f64()).zip(exit_code) else {
            return Err(
                "this is no JSON export of one run by hyperfine -r 1 (known are 1.15 to 1.20 and 2.0)".to_owned()
            );
        };
        if exit_code != 0 {
            return Err(format!("hyperfine's export has the exit code {exit_code}: a failed run has no export"));
        }
        let is_time = wall_s.is_finite() && wall_s > 0.0;
        is_time.then_some(Export { wall_s }).ok_or_else(|| format!("hyperfine's export has the time {wall_s} s"))
    }
}
