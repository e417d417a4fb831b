//! What the tests share: writers of any kind, sinks that misbehave, archives made by hand, and a parser that believes only what makes the same bytes again.
#![allow(dead_code, reason = "each test uses a part")]

pub mod any;
pub mod archive;
#[cfg(feature = "async")]
pub mod awaited;
pub mod calls;
#[cfg(target_os = "linux")]
pub mod faults;
pub mod forged;
pub mod oracle;
pub mod plans;
pub mod sinks;
