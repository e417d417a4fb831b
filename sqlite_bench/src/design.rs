//! The ways to reach a database from async code that are compared, behind one trait.

use std::sync::Arc;

use anyhow::{Context, Result};
use strum::IntoStaticStr;

mod access;
mod published;

pub use access::{Answer, Database, Design, Setup, blocking, in_memory};
pub use published::{ARMS, Lock, OnThread, spawn_blocking};

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
}

/// Opens the databases of a design, with the tables and blocks of the start; within a runtime, because some designs start tasks.
type Open = fn(&Setup) -> Result<Arc<dyn Design>>;

#[derive(Debug, Clone, Copy)]
pub struct Arm {
    pub name: &'static str,
    /// The document's name of it, if it has one.
    pub title: &'static str,
    pub role: Role,
    pub text: &'static str,
    pub open: Open,
}

impl Arm {
    pub const fn new(role: Role, name: &'static str, text: &'static str, open: Open) -> Self {
        Arm { name, title: name, role, text, open }
    }
}

/// The one of `arms` that is called `name`; the error lists them.
pub fn find(arms: &[&'static Arm], name: &str) -> Result<&'static Arm> {
    let choices = || arms.iter().map(|arm| arm.name).collect::<Vec<_>>().join(", ");
    let found = arms.iter().find(|arm| arm.name == name);
    found.copied().with_context(|| format!("unknown arm '{name}': choose one of {}", choices()))
}
