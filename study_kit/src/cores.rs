//! How far apart the cores are just now: in a virtual machine the hypervisor moves them, and what threads hand to each other takes twice or four times as
//! long when it does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, Builder};
use std::time::Instant;

use crate::probe::{allowed, stay_on};

/// Trips of the line there and back in one slice, and the slices, whose median counts: 200 to 1,000 us in all.
const TRIPS: u64 = 100;
const SLICES: u64 = 25;
/// Looks at the line before a core gives up waiting for the other: some 50 ms, as the other may be the hypervisor's just then.
const PATIENCE: u64 = 100_000_000;

/// A counter on cache lines of its own: processors fetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

/// Time from one core to another of a cache line, in ns: half of its way there and back between the first and the last processor that this thread may use.
/// `None` with a single processor, or if the two do not meet.
pub fn core_to_core_ns() -> Option<f64> {
    let cpus = allowed().ok()?;
    let (first, last) = (*cpus.first()?, *cpus.last()?);
    if first == last {
        return None;
    }
    let (there, back) = (Line::default(), Line::default());
    let (there, back) = (&there, &back);
    thread::scope(|scope| {
        // The echo begins to spin on a processor where nobody has to start any more.
        let (ready, is_ready) = mpsc::channel();
        let echo = move || {
            let is_there = stay_on(&[last]).is_ok() && ready.send(()).is_ok();
            let answer = |trip| {
                let came = wait_for(there, trip);
                back.0.store(trip, Ordering::Release);
                came
            };
            is_there && (1..=TRIPS * SLICES).all(answer)
        };
        stay_on(&[first]).ok()?;
        Builder::new().spawn_scoped(scope, echo).ok()?;
        let time_ns = |slice: u64| {
            let start = Instant::now();
            for trip in slice * TRIPS + 1..=(slice + 1) * TRIPS {
                there.0.store(trip, Ordering::Release);
                wait_for(back, trip).then_some(())?;
            }
            Some(start.elapsed().as_secs_f64() * 1e9)
        };
        let slices_ns = is_ready.recv().ok().and_then(|()| (0..SLICES).map(time_ns).collect::<Option<Vec<f64>>>());
        stay_on(&cpus).ok()?;
        let mut slices_ns = slices_ns?;
        let middle = slices_ns.len() / 2;
        let (_, median_ns, _) = slices_ns.select_nth_unstable_by(middle, f64::total_cmp);
        Some(*median_ns / (2 * TRIPS) as f64)
    })
}

/// Looks at the line until it holds `trip`; false if it does not come. Without a pause between two looks: a hypervisor may take the core of a guest
/// that pauses often.
fn wait_for(line: &Line, trip: u64) -> bool {
    (0..PATIENCE).any(|_| line.0.load(Ordering::Acquire) == trip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_some_nanoseconds_between_two_cores() {
        let found = core_to_core_ns();
        let is_alone = allowed().unwrap().len() == 1;
        assert_eq!(found.is_none(), is_alone);
        assert!(found.is_none_or(|ns| (1.0..1e6).contains(&ns)), "{found:?}");
    }

    #[test]
    fn nobody_waits_for_ever() {
        assert!(!wait_for(&Line::default(), 1));
    }
}
