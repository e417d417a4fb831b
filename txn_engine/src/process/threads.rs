//! One thread per file reads and applies.

use std::collections::HashSet;
use std::iter::{self, repeat};
use std::thread;

use super::{Done, Job, Tally, read_entries};
use crate::books::Books;
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::input::Input;
use crate::session::Session;

/// Applies every input to `engine`, each on a thread of its own; a single one on the caller's.
pub(super) fn thread_per_file(engine: Engine, inputs: Vec<Input>, job: Job) -> Done {
    let tally = per_file(repeat(&engine), inputs, job)?;
    Ok((Box::new(engine), tally))
}

/// Applies every input to an engine of its own and joins the engines afterwards.
pub(super) fn engine_per_file(first: Engine, inputs: Vec<Input>, job: Job) -> Done {
    let others: Vec<Engine> = inputs.iter().skip(1).map(|_| Engine::default()).collect();
    let tally = per_file(iter::once(&first).chain(&others), inputs, job)?;
    if others.is_empty() {
        return Ok((Box::new(first), tally));
    }
    let (mut joined, mut clients) = (Session::default(), HashSet::new());
    for engine in iter::once(&first).chain(&others) {
        let session = engine.session();
        for &(client, _) in &session.accounts {
            if !clients.insert(client) {
                return Err(Error::SharedClient { client });
            }
        }
        joined.accounts.extend(session.accounts);
        joined.transactions.extend(session.transactions);
    }
    Ok((Box::new(Engine::resume(joined)), tally))
}

/// Applies each input to the engine beside it, on threads if there are several.
fn per_file<'a>(engines: impl Iterator<Item = &'a Engine>, inputs: Vec<Input>, job: Job) -> Result<Tally, Error> {
    let one_file = |(engine, input): (&Engine, Input)| {
        let mut tally = Tally::default();
        read_entries(input, job.setup.reading, |entry| {
            tally.take(&entry, |row| engine.process(row));
            true
        })?;
        Ok(tally)
    };
    let mut work: Vec<_> = engines.zip(inputs).collect();
    if work.len() == 1
        && let Some(only) = work.pop()
    {
        return one_file(only);
    }
    thread::scope(|scope| {
        let workers: Vec<_> = work.into_iter().map(|file| scope.spawn(move || one_file(file))).collect();
        let mut all = job.begun();
        let tallies: Vec<_> = workers.into_iter().map(|worker| joined(worker.join()).flatten()).collect();
        for tally in tallies {
            all.append(tally?);
        }
        Ok(all)
    })
}
