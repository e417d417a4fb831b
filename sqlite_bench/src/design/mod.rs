//! The ways to reach a database from async code that are compared, behind one trait.

mod access;
mod arm;
mod published;

pub use access::{
    AccessError, Answer, Database, Databases, Design, Inspection, Put, Setup, blocking, failed, hold_and_insert,
    in_memory, insert_and_hold, transact,
};
pub use arm::{Arm, Role, find};
pub use published::{ARMS, Lock, OnThread};
