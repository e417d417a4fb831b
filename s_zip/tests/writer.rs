//! The writers from outside: any sequence of calls, sinks that fail, calls that are refused, and the format's rules.

#[allow(dead_code, reason = "shared with the other tests")]
#[path = "writer/any.rs"]
mod any;
#[path = "writer/archive.rs"]
mod archive;
#[path = "writer/calls.rs"]
mod calls;
#[path = "writer/failures.rs"]
mod failures;
#[path = "writer/oracle.rs"]
mod oracle;
#[path = "writer/plans.rs"]
mod plans;
#[cfg(feature = "async")]
#[path = "writer/policies.rs"]
mod policies;
#[path = "writer/promises.rs"]
mod promises;
#[path = "writer/properties.rs"]
mod properties;
#[path = "writer/readers.rs"]
mod readers;
#[path = "writer/refusals.rs"]
mod refusals;
#[path = "writer/scale.rs"]
mod scale;
#[allow(dead_code, reason = "shared with the other tests")]
#[path = "writer/sinks.rs"]
mod sinks;
