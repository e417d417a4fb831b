//! Prices: a unit of work started, and its answer fetched.

use std::hint::black_box;
use std::thread;

use anyhow::{Result, anyhow};
use study_kit::Observation;
use study_kit::price::{Arm, Table, observe_answers};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// One unit after the other.
pub const START_ALONE: Table = &starts::<1>();
/// So many units at once, then all answers.
pub const START_64: Table = &starts::<64>();

const fn starts<const AT_ONCE: usize>() -> [Arm; 7] {
    [
        ("call", || observe_answers(AT_ONCE, |count| Ok((1..=count).map(work).sum()))),
        ("rayon", || {
            // From a thread of the pool, which does what no other thread has taken.
            observe_answers(AT_ONCE, |count| Ok(rayon::scope(|_| in_rounds(AT_ONCE, count, in_scope::<AT_ONCE>))))
        }),
        ("rayon_outside", || observe_answers(AT_ONCE, |count| Ok(in_rounds(AT_ONCE, count, in_scope::<AT_ONCE>)))),
        ("tokio_inside", || from_task(AT_ONCE, |number| tokio::spawn(async move { work(number) }))),
        ("tokio_outside", || {
            let runtime = multi_thread()?;
            observe_answers(AT_ONCE, |count| {
                runtime.block_on(in_tasks(AT_ONCE, count, |number| tokio::spawn(async move { work(number) })))
            })
        }),
        ("spawn_blocking", || from_task(AT_ONCE, |number| tokio::task::spawn_blocking(move || work(number)))),
        ("thread", || {
            observe_answers(AT_ONCE, |count| {
                let mut sum = 0;
                let mut threads = Vec::with_capacity(AT_ONCE);
                for first in (1..=count).step_by(AT_ONCE) {
                    threads.extend(round(AT_ONCE, first).map(|number| thread::spawn(move || work(number))));
                    for thread in threads.drain(..) {
                        sum += thread.join().map_err(|_| anyhow!("the thread panicked"))?;
                    }
                }
                Ok(sum)
            })
        }),
    ]
}

/// What a unit does: next to nothing.
#[inline(never)]
fn work(number: u64) -> u64 {
    black_box(number)
}

/// The numbers of the units that start together.
fn round(at_once: usize, first: u64) -> impl Iterator<Item = u64> {
    first..first + at_once as u64
}

fn in_rounds(at_once: usize, count: u64, round: impl Fn(u64) -> u64) -> u64 {
    (1..=count).step_by(at_once).map(round).sum()
}

/// A round of units in rayon's pool.
fn in_scope<const AT_ONCE: usize>(first: u64) -> u64 {
    let mut answers = [0; AT_ONCE];
    rayon::scope(|scope| {
        for (answer, number) in answers.iter_mut().zip(first..) {
            scope.spawn(move |_| *answer = work(number));
        }
    });
    answers.iter().sum()
}

/// Units that a task starts.
fn from_task(at_once: usize, start: impl Fn(u64) -> JoinHandle<u64> + Copy + Send + 'static) -> Result<Observation> {
    let runtime = multi_thread()?;
    observe_answers(at_once, |count| runtime.block_on(async { tokio::spawn(in_tasks(at_once, count, start)).await? }))
}

async fn in_tasks(at_once: usize, count: u64, start: impl Fn(u64) -> JoinHandle<u64>) -> Result<u64> {
    let mut sum = 0;
    let mut tasks = Vec::with_capacity(at_once);
    for first in (1..=count).step_by(at_once) {
        tasks.extend(round(at_once, first).map(&start));
        for task in tasks.drain(..) {
            sum += task.await?;
        }
    }
    Ok(sum)
}

fn multi_thread() -> Result<Runtime> {
    Ok(Builder::new_multi_thread().build()?)
}
