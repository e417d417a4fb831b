//! One thread per file reads and applies.

use std::collections::HashSet;
use std::thread;

use super::tally::{Done, Job, Tally, read_entries};
use crate::books::Books;
use crate::engine::Engine;
use crate::error::{Error, died};
use crate::input::Input;
use crate::session::Session;

/// Applies every input to `engine`, each on a thread of its own; a single one on the caller's.
pub(super) fn thread_per_file(engine: Engine, inputs: Vec<Input>, job: Job) -> Done<Engine> {
    let (mut all, tallies) = on_threads(inputs, job, |input| one_file(&engine, input, job))?;
    for tally in tallies {
        all.append(tally);
    }
    Ok((engine, all))
}

/// Applies every input to an engine of its own and joins the engines afterwards.
pub(super) fn engine_per_file(inputs: Vec<Input>, job: Job, session: Session) -> Done<Engine> {
    let mut engines: Vec<Engine> = inputs.iter().map(|_| Engine::default()).collect();
    if let Some(first) = engines.first_mut() {
        *first = Engine::resume(session);
    }
    let work = inputs.into_iter().zip(engines).collect();
    let (mut all, mut done) = on_threads(work, job, |(input, engine)| {
        let tally = one_file(&engine, input, job)?;
        Ok((engine, tally))
    })?;
    if done.len() == 1
        && let Some((engine, tally)) = done.pop()
    {
        all.append(tally);
        return Ok((engine, all));
    }
    let (mut joined, mut clients) = (Session::default(), HashSet::new());
    for (engine, tally) in done {
        let session = engine.session();
        for &(client, _) in &session.accounts {
            if !clients.insert(client) {
                return Err(Error::SharedClient { client });
            }
        }
        joined.accounts.extend(session.accounts);
        joined.transactions.extend(session.transactions);
        all.append(tally);
    }
    Ok((Engine::resume(joined), all))
}

fn one_file(engine: &Engine, input: Input, job: Job) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    read_entries(input, job.setup.reading, |entry| {
        tally.take(&entry, |row| engine.process(row));
        true
    })?;
    Ok(tally)
}

/// Runs `work` for each item, on threads if there are several; a tally with the number of threads, and the results in the order of the items.
fn on_threads<T: Send, R: Send>(
    items: Vec<T>,
    job: Job,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<(Tally, Vec<R>), Error> {
    if items.len() == 1 {
        let results: Result<_, Error> = items.into_iter().map(work).collect();
        return Ok((job.begun(), results?));
    }
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        let begun = job.begun();
        let results: Result<_, Error> =
            workers.into_iter().map(|worker| worker.join().map_err(|panic| died(&*panic))?).collect();
        Ok((begun, results?))
    })
}
