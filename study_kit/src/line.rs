//! The line of JSON that a run appends and the report reads, as docs/FORMAT.md section 2 defines it.
//!
//! The report compiles this file, too, since it is built without the kit.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

const VERSION: u32 = 2;

/// The version of the format, `schema` in every file: no other than [`VERSION`] is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Schema;

impl TryFrom<u32> for Schema {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        if version == VERSION {
            Ok(Schema)
        } else {
            Err(format!("schema {version} is unknown: this program reads {VERSION}"))
        }
    }
}

impl From<Schema> for u32 {
    fn from(_: Schema) -> u32 {
        VERSION
    }
}

/// What a study wrote of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub schema: Schema,
    pub run: String,
    pub study: String,
    pub scenario: String,
    /// The arm, with suffix; the first arm of a duet.
    pub arm: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versus: Option<String>,
    pub seed: u64,
    pub block: u64,
    /// Fingerprint of the answer; empty if the arm has none to compare.
    pub digest: String,
    /// Values by name, each of which ends in its unit.
    #[serde(deserialize_with = "unrepeated")]
    pub metrics: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<DuetPair>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What rounds of older versions recorded beside their percentiles: nothing reads it any more.
    #[serde(skip_serializing)]
    pub histograms: Option<IgnoredAny>,
}

/// Reads a map, and refuses a key that stands twice: serde would keep the last value, other readers the first.
pub fn unrepeated<'de, T: Deserialize<'de>, D: Deserializer<'de>>(map: D) -> Result<BTreeMap<String, T>, D::Error> {
    struct Pairs<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Pairs<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = pairs.next_entry::<String, T>()? {
                if map.contains_key(&key) {
                    return Err(A::Error::custom(format!("the key '{key}' stands twice in one object")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    map.deserialize_map(Pairs(PhantomData))
}

/// One alternation of a duet.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DuetPair {
    pub order: Order,
    pub a_s: f64,
    pub b_s: f64,
}

/// Which arm of a duet went first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    Ab,
    Ba,
}
