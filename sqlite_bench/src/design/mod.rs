//! The ways to reach a database from async code that are compared, behind one trait.

mod access;
mod arm;
mod database;
mod published;

pub use access::{AccessError, Answer, Design, Inspection, Setup, blocking, failed};
pub use arm::{Arm, Role, UnknownArm, find};
pub use database::{Database, Databases, Put, hold_and_insert, in_memory, insert_and_hold, transact};
pub use published::{ARMS, Lock, OnThread};
