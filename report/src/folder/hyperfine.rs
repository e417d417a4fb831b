//! What `hyperfine -N -r 1 --export-json` writes, in the dialects of 1.15 to 1.20 and of 2.0 (its "schema version 2"), and what is kept of it: the
//! time. Older rounds kept it whole.

use serde::{Deserialize, Serialize};

/// What is kept of the export of one command that was run once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Dialect")]
pub struct Export {
    pub wall_s: f64,
}

/// What is used of each dialect; all else differs from version to version, and from machine to machine.
#[derive(Deserialize)]
#[serde(untagged, expecting = "this is no JSON export of one run by hyperfine -r 1 (known are 1.15 to 1.20 and 2.0)")]
enum Dialect {
    Kept(Kept),
    /// 2.0.
    Objects {
        schema_version: u32,
        results: [Objects; 1],
    },
    /// 1.15 to 1.20.
    Lists {
        results: [Lists; 1],
    },
}

/// As it is kept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    wall_s: f64,
}

#[derive(Deserialize)]
struct Objects {
    measurements: [Measurement; 1],
}

#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Seconds,
    exit_code: Option<i32>,
}

#[derive(Deserialize)]
struct Seconds {
    value: f64,
    unit: String,
}

#[derive(Deserialize)]
struct Lists {
    times: [f64; 1],
    exit_codes: [Option<i32>; 1],
}

impl TryFrom<Dialect> for Export {
    type Error = String;

    fn try_from(export: Dialect) -> Result<Self, String> {
        let (wall_s, exit_code) = match export {
            Dialect::Kept(Kept { wall_s }) => (wall_s, Some(0)),
            Dialect::Objects { schema_version: 2, results: [Objects { measurements: [run] }] } => {
                let Seconds { value, unit } = run.time_wall_clock;
                if unit != "second" {
                    return Err(format!("hyperfine's export has a time in {unit}: seconds are known"));
                }
                (value, run.exit_code)
            }
            Dialect::Objects { schema_version, .. } => {
                return Err(format!("hyperfine's export has schema version {schema_version}: 2 is known"));
            }
            Dialect::Lists { results: [Lists { times: [wall_s], exit_codes: [code] }] } => (wall_s, code),
        };
        if exit_code != Some(0) {
            return Err(format!("hyperfine's export has the exit code {exit_code:?}: a failed run has no export"));
        }
        if !wall_s.is_finite() || wall_s <= 0.0 {
            return Err(format!("hyperfine's export has the time {wall_s} s"));
        }
        Ok(Export { wall_s })
    }
}
