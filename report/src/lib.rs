//! From recorded samples to verdicts, a report and charts.
//!
//! It reads results folders and nothing else, and it is pure between its edges: the same folder gives the same bytes.
//!
//! - the program: [`cli`] (what can be typed), [`commands`] (what each does) and [`output`] (what is printed arrives);
//! - files in: [`results`] (a folder as a whole), [`cases`], [`claims`], [`page`], `scopes`, `sentence`, [`plan_file`], [`runs`], [`record`],
//!   [`hyperfine`], [`machine`], [`manifest`], all by way of [`files`];
//! - before measuring: [`plan`]; while it goes on: `append`, `log`, [`seals`]; after it: [`check`];
//! - deciding: [`dataset`] (the samples), [`stats`] (numbers in, estimates out), [`rules`] (intervals in, verdicts out), [`judge`] (claims meet samples),
//!   [`judged`] (what came of it), [`prices`], [`prediction`], [`host`] and [`rounds`] (which measurements are shown);
//! - pages out: [`view`] (what is shown of a study), [`figures`] and [`fmt`] (how it is said), [`render`], [`charts`], `publish`.

mod append;
pub mod cases;
pub mod charts;
pub mod check;
pub mod claims;
mod claims_file;
pub mod cli;
pub mod commands;
pub mod dataset;
pub mod error;
pub mod figures;
pub mod files;
pub mod fmt;
pub mod host;
pub mod hyperfine;
pub mod judge;
pub mod judged;
// The kit's files, as `output` below: the report is built without the kit.
#[path = "../../study_kit/src/line.rs"]
mod line;
mod log;
pub mod machine;
pub mod manifest;
#[path = "../../study_kit/src/output.rs"]
pub mod output;
pub mod page;
pub mod plan;
pub mod plan_file;
pub mod prediction;
pub mod prices;
mod publish;
pub mod record;
pub mod render;
pub mod results;
pub mod rounds;
pub mod rules;
pub mod runs;
mod scopes;
pub mod seals;
pub mod selection;
mod sentence;
pub mod stats;
pub mod view;
