//! One thread per file reads and applies.

use std::collections::HashSet;
use std::iter::repeat;
use std::sync::Arc;
use std::thread;

use super::{Done, Tally, Work, read_entries};
use crate::accounts::Books;
use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::input::Input;
use crate::parse::Reading;
use crate::session::Session;

/// Applies every input to `engine`, each on a thread of its own; a single one on the caller's.
pub(super) fn thread_per_file(engine: Engine, inputs: Vec<Input>, reading: Reading, work: impl Work) -> Done {
    let tally = per_file(repeat(&engine), inputs, reading, work)?;
    Ok((Arc::new(engine), tally))
}

/// Applies every input to an engine of its own and joins the engines afterwards.
pub(super) fn engine_per_file(first: Engine, inputs: Vec<Input>, reading: Reading, work: impl Work) -> Done {
    let mut engines = vec![first];
    engines.extend(inputs.iter().skip(1).map(|_| Engine::default()));
    let tally = per_file(&engines, inputs, reading, work)?;
    if engines.len() == 1
        && let Some(only) = engines.pop()
    {
        return Ok((Arc::new(only), tally));
    }
    let (mut joined, mut clients) = (Session::default(), HashSet::new());
    for session in engines.iter().map(Engine::session) {
        for &(client, _) in &session.accounts {
            if !clients.insert(client) {
                return Err(Error::SharedClient { client });
            }
        }
        joined.accounts.extend(session.accounts);
        joined.transactions.extend(session.transactions);
    }
    Ok((Arc::new(Engine::resume(joined)), tally))
}

/// Applies each input to the engine beside it, on threads if there are several.
fn per_file<'a>(
    engines: impl IntoIterator<Item = &'a Engine>,
    inputs: Vec<Input>,
    reading: Reading,
    work: impl Work,
) -> Result<Tally, Error> {
    let one_file = |(engine, input): (&Engine, Input)| {
        let mut tally = Tally::default();
        read_entries(input, reading, work, |entry| {
            work();
            tally.take(&entry, |row| engine.process(row));
            true
        })?;
        Ok(tally)
    };
    let mut work: Vec<_> = engines.into_iter().zip(inputs).collect();
    if work.len() == 1
        && let Some(only) = work.pop()
    {
        return one_file(only);
    }
    thread::scope(|scope| {
        let workers: Vec<_> = work.into_iter().map(|file| scope.spawn(move || one_file(file))).collect();
        let mut all = Tally::begun(workers.len());
        let tallies: Vec<_> = workers.into_iter().map(|worker| joined(worker.join()).flatten()).collect();
        for tally in tallies {
            all.append(tally?);
        }
        Ok(all)
    })
}
