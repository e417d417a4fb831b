//! The published comparison: arms one after the other under each hold, and the document's tables of what came of it.

mod comparison;
mod grid;
mod run;
mod tables;

pub use comparison::Comparison;
pub use run::{Row, measure};
pub use tables::tables;
