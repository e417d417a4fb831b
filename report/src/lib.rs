//! From recorded samples to verdicts, a report and charts.
//!
//! It reads results folders and nothing else, and it is pure between its edges: the same folder gives the same bytes. README.md beside it follows a
//! sample from a run to a page. The modules, in the order in which a sample meets them:
//!
//! - [`claims`]: what is judged, read from claims.toml, and the [rules](claims::rules) that turn an interval into a verdict;
//! - [`plan`]: which runs are made, fixed before the first;
//! - [`folder`]: the files of a round, written while it is measured and read when it is sealed;
//! - [`stats`]: numbers in, estimates out;
//! - [`judge`]: claims meet samples, round by round and host by host; prices, the rule and maps;
//! - [`page`]: page.toml, and what is known of a study when its pages are written;
//! - [`render`] and [`charts`]: the pages, with figures as [`fmt`] prints them;
//! - [`cli`] and [`commands`]: what can be typed, and what each command does; [`files`], [`error`] and [`output`] are its edges.

pub mod charts;
pub mod claims;
pub mod cli;
pub mod commands;
pub mod error;
pub mod files;
pub mod fmt;
pub mod folder;
pub mod judge;
// The kit's files: the report is built without the kit.
#[path = "../../study_kit/src/layout.rs"]
pub mod layout;
#[path = "../../study_kit/src/line.rs"]
mod line;
#[path = "../../study_kit/src/output.rs"]
pub mod output;
pub mod page;
pub mod plan;
pub mod render;
pub mod stats;
