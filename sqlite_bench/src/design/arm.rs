//! Designs by name.

use std::sync::Arc;

use anyhow::Context;
use strum::IntoStaticStr;

use super::access::{AccessError, Design, Setup};

/// What an arm is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// As published.
    Mirror,
    /// One thing changed.
    Control,
    /// What an expert would ship.
    Best,
    /// What looks like the solution and is not: its failures are findings.
    #[strum(serialize = "negative control")]
    NegativeControl,
}

/// Opens the databases of a design, with the tables and blocks of the start; within a runtime, because some designs start tasks.
type Open = fn(&Setup) -> Result<Arc<dyn Design>, AccessError>;

/// A design by name.
#[derive(Debug, Clone, Copy)]
pub struct Arm {
    /// Its name.
    pub name: &'static str,
    /// The document's name of it, if it has one.
    pub title: &'static str,
    /// What it is there for.
    pub role: Role,
    /// What it does, in a sentence.
    pub text: &'static str,
    /// Opens its databases.
    pub open: Open,
    /// Whether the oldest block goes when one is written.
    pub keeps_its_size: bool,
    /// Whether a write that was not acknowledged may have left a part of itself: every statement commits alone.
    pub commits_statements: bool,
}

impl Arm {
    /// An arm whose writes are whole or not there, and which keeps all of them.
    pub const fn new(role: Role, name: &'static str, text: &'static str, open: Open) -> Self {
        Arm { name, title: name, role, text, open, keeps_its_size: false, commits_statements: false }
    }

    /// With a name that the document gives it.
    #[must_use]
    pub const fn titled(self, title: &'static str) -> Self {
        Arm { title, ..self }
    }

    /// With every statement committed alone.
    #[must_use]
    pub const fn committing_statements(self) -> Self {
        Arm { commits_statements: true, ..self }
    }
}

/// The one of `arms` that is called `name`.
///
/// # Errors
/// If none is: lists them.
pub fn find(arms: &[&'static Arm], name: &str) -> anyhow::Result<&'static Arm> {
    let choices = || arms.iter().map(|arm| arm.name).collect::<Vec<_>>().join(", ");
    let found = arms.iter().find(|arm| arm.name == name);
    found.copied().with_context(|| format!("unknown arm '{name}': choose one of {}", choices()))
}
