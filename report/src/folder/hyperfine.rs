//! What `hyperfine -N -r 1 --export-json` writes, in the dialects of 1.15, 1.20 and 2.0, and what is kept of it: the time. Older rounds kept it whole.
//!
//! Up to 1.20 a result has lists of times and exit codes; 1.18 added a list of peak memory, which is wrong for every command but the
//! first of a session and is not used here. 2.0 (its "schema version 2") has an object per run instead, whose measurements differ from
//! machine to machine; of these only the ones that are used here are looked at.

use serde::{Deserialize, Serialize};

/// What is kept of the export of one command that was run once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub struct Export {
    pub wall_s: f64,
}

/// As it is kept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    wall_s: f64,
}

/// 1.15 to 1.20.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    results: Vec<ListResult>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named because nothing unknown is accepted")]
struct ListResult {
    command: String,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    memory_usage_byte: Option<Vec<u64>>,
    exit_codes: Vec<Option<i32>>,
    parameters: Option<serde_json::Map<String, serde_json::Value>>,
}

/// 2.0.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named because nothing unknown is accepted")]
struct Objects {
    schema_version: u32,
    metadata: serde_json::Value,
    primary_metric: String,
    results: Vec<ObjectResult>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "named because nothing unknown is accepted")]
struct ObjectResult {
    command: String,
    name: Option<String>,
    measurements: Vec<Measurement>,
    parameters: Option<serde_json::Value>,
    environment: Option<serde_json::Value>,
    summary: serde_json::Value,
}

/// One run. Its other members depend on the machine: hardware counters are there or not.
#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Seconds,
    exit_code: Option<i32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seconds {
    value: f64,
    unit: String,
}

impl TryFrom<serde_json::Value> for Export {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        if value.get("wall_s").is_some() {
            let Kept { wall_s } = serde_json::from_value(value).map_err(|error| error.to_string())?;
            return Export::of(wall_s);
        }
        let dialect = if value.get("schema_version").is_some() { "2.0" } else { "1.15 to 1.20" };
        let unknown = |error: serde_json::Error| {
            format!("this is no JSON export of hyperfine {dialect} (known are 1.15 to 1.20 and 2.0): {error}")
        };
        let (wall_s, exit_code) = if dialect == "2.0" {
            let objects: Objects = serde_json::from_value(value).map_err(unknown)?;
            if objects.schema_version != 2 {
                return Err(format!("hyperfine's export has schema version {}: 2 is known", objects.schema_version));
            }
            let result = one(objects.results, "results")?;
            let Measurement { time_wall_clock: Seconds { value, unit }, exit_code } =
                one(result.measurements, "measurements")?;
            if unit != "second" {
                return Err(format!("hyperfine's export has a time in {unit}: seconds are known"));
            }
            (value, exit_code)
        } else {
            let lists: Lists = serde_json::from_value(value).map_err(unknown)?;
            let result = one(lists.results, "results")?;
            let exit_code = one(result.exit_codes, "exit codes")?;
            (one(result.times, "times")?, exit_code)
        };
        if exit_code != Some(0) {
            return Err(format!("hyperfine's export has the exit code {exit_code:?}: a failed run has no export"));
        }
        Export::of(wall_s)
    }
}

impl Export {
    fn of(wall_s: f64) -> Result<Self, String> {
        if !wall_s.is_finite() || wall_s <= 0.0 {
            return Err(format!("hyperfine's export has the time {wall_s} s"));
        }
        Ok(Export { wall_s })
    }
}

/// The only item: the command is run once.
fn one<T>(items: Vec<T>, what: &str) -> Result<T, String> {
    let wrong =
        |items: Vec<T>| format!("hyperfine's export has {} {what} instead of one: run it with -r 1", items.len());
    <[T; 1]>::try_from(items).map(|[item]| item).map_err(wrong)
}
