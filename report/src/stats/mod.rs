//! Statistics: pure functions on numbers, exact where the method is exact.

pub mod binomial;
pub mod duet;
pub mod floor;
pub mod holm;
pub mod layout;
mod order;
pub mod share;
mod sign;
pub mod signed_rank;
pub mod slope;

pub use order::{median, reached_by};
pub use sign::median_estimate;
pub use signed_rank::{Interval, Pair, estimate};

/// Confidence of every interval that judges.
pub const CONFIDENCE: f64 = 0.95;
/// Confidence of the interval that must contain a planted size: a true one may miss it once in a hundred runs, not in twenty.
pub const PLANTED_CONFIDENCE: f64 = 0.99;
