//! A task whose panics are kept instead of taking its thread along.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::TaskError;

/// What a task may be.
pub(super) trait Task: Fn(usize) -> f64 + Send + Sync + 'static {}
impl<F: Fn(usize) -> f64 + Send + Sync + 'static> Task for F {}

/// A task that may be called from every thread.
pub(super) struct Guard<F>(Arc<Inner<F>>);

struct Inner<F> {
    task: F,
    panics: Mutex<Vec<(usize, String)>>,
}

impl<F> Clone for Guard<F> {
    fn clone(&self) -> Self {
        Guard(Arc::clone(&self.0))
    }
}

impl<F: Task> Guard<F> {
    pub(super) fn new(task: F) -> Self {
        Guard(Arc::new(Inner { task, panics: Mutex::default() }))
    }

    /// Runs the task with this number; what it returns is worthless if it panicked.
    pub(super) fn call(&self, number: usize) -> f64 {
        // Nothing of a task that panicked is looked at afterwards.
        catch_unwind(AssertUnwindSafe(|| (self.0.task)(number))).unwrap_or_else(|payload| {
            let message = text(payload.as_ref());
            self.0.panics.lock().unwrap_or_else(PoisonError::into_inner).push((number, message));
            f64::NAN
        })
    }

    /// The results, unless a task panicked.
    pub(super) fn finish(&self, results: Vec<f64>) -> Result<Vec<f64>, TaskError> {
        let mut panics = self.0.panics.lock().unwrap_or_else(PoisonError::into_inner);
        let count = panics.len();
        match panics.drain(..).next() {
            None => Ok(results),
            Some((task, message)) => Err(TaskError::Panicked { count, task, message }),
        }
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
