//! One thread per file reads and applies.

use std::collections::HashSet;
use std::thread;

use super::{Job, Tally, died, read_entries};
use crate::engine::Engine;
use crate::error::Error;
use crate::input::Input;
use crate::session::Session;

/// Applies every input to `engine`, each on a thread of its own; a single one on the caller's.
pub(super) fn thread_per_file(engine: &Engine, inputs: Vec<Input>, job: Job<'_>) -> Result<Tally, Error> {
    let (tallies, threads) = on_threads(inputs, job, |input| one_file(engine, input, job))?;
    let mut all = Tally { threads, ..Tally::new(job.log) };
    for tally in tallies {
        all.append(tally);
    }
    Ok(all)
}

/// Applies every input to an engine of its own and joins the engines afterwards.
pub(super) fn engine_per_file(inputs: Vec<Input>, job: Job<'_>, session: Session) -> Result<(Engine, Tally), Error> {
    let mut engines: Vec<Engine> = inputs.iter().map(|_| Engine::default()).collect();
    if let Some(first) = engines.first_mut() {
        *first = Engine::resume(session);
    }
    let work = inputs.into_iter().zip(engines).collect();
    let (done, threads) = on_threads(work, job, |(input, engine)| {
        let tally = one_file(&engine, input, job)?;
        Ok((engine, tally))
    })?;

    let mut done = done.into_iter();
    let Some((first, mut tally)) = done.next() else {
        return Ok((Engine::default(), Tally::new(job.log)));
    };
    tally.threads = threads;
    if done.len() == 0 {
        return Ok((first, tally));
    }
    let mut joined = first.into_session();
    let mut clients: HashSet<u16> = joined.accounts.iter().map(|&(client, _)| client).collect();
    for (engine, more) in done {
        let session = engine.into_session();
        for &(client, _) in &session.accounts {
            if !clients.insert(client) {
                return Err(Error::SharedClient { client });
            }
        }
        joined.accounts.extend(session.accounts);
        joined.transactions.extend(session.transactions);
        tally.append(more);
    }
    Ok((Engine::resume(joined), tally))
}

fn one_file(engine: &Engine, input: Input, job: Job<'_>) -> Result<Tally, Error> {
    let mut tally = Tally::new(job.log);
    read_entries(input, job.reading, |entry| {
        tally.take(&entry, |row| engine.process(row));
        true
    })?;
    Ok(tally)
}

/// Runs `work` for each item, on threads if there are several; the results in the order of the items, and the number of threads.
fn on_threads<T: Send, R: Send>(
    items: Vec<T>,
    job: Job<'_>,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<(Vec<R>, Option<u64>), Error> {
    if items.len() == 1 {
        let results: Result<_, Error> = items.into_iter().map(work).collect();
        return Ok((results?, job.threads()));
    }
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        let threads = job.threads();
        let results: Result<_, Error> =
            workers.into_iter().map(|worker| worker.join().map_err(|panic| died(&*panic))?).collect();
        Ok((results?, threads))
    })
}
