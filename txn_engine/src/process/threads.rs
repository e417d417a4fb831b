//! One thread per file reads and applies.

use std::sync::Arc;
use std::thread::{self, Builder};

use super::{Done, Tally, Work, read_entries};
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::input::Input;
use crate::parse::Reading;

/// Applies every input to `engine`, each on a thread of its own; a single one on the caller's.
pub(super) fn run(engine: Engine, mut inputs: Vec<Input>, reading: Reading, work: impl Work) -> Done {
    let one_file = |input| -> Result<Tally, Error> {
        let mut tally = Tally::default();
        read_entries(input, reading, work, |entry| {
            work();
            tally.take(&entry, |row| engine.process(row));
            true
        })?;
        Ok(tally)
    };
    let tally = if inputs.len() == 1
        && let Some(only) = inputs.pop()
    {
        one_file(only)
    } else {
        let one_file = &one_file;
        thread::scope(|scope| {
            let start = |input| Builder::new().spawn_scoped(scope, move || one_file(input)).map_err(Error::Thread);
            let workers = inputs.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
            let mut all = Tally::begun(workers.len());
            let tallies: Vec<_> = workers.into_iter().map(|worker| joined(worker.join()).flatten()).collect();
            for tally in tallies {
                all.append(tally?);
            }
            Ok(all)
        })
    }?;
    Ok((Arc::new(engine), tally))
}
