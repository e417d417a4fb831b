//! How far apart the cores are just now: in a virtual machine the hypervisor moves them, and what threads hand to each other takes twice or four times as
//! long when it does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use crate::probe::{allowed, stay_on};

/// Trips of the line there and back in one slice, and the slices, whose median counts: 125 to 1,250 us in all.
const TRIPS: u64 = 100;
const SLICES: u64 = 25;
/// How long both try in all, as the hypervisor may have the other core just then, and after how many looks at the line a core looks at the clock.
const PATIENCE: Duration = Duration::from_millis(50);
const LOOKS: u32 = 1_000;

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
    let until = Instant::now() + PATIENCE;
    let slices_ns = thread::scope(|scope| {
        // The echo begins to spin on a processor where nobody has to start any more.
        let (ready, is_ready) = mpsc::channel();
        let echo = move || {
            let is_there = stay_on(&[last]).is_ok() && ready.send(()).is_ok();
            let answer = |trip| {
                let came = wait_for(there, trip, until);
                back.0.store(trip, Ordering::Release);
                came
            };
            is_there && (1..=TRIPS * SLICES).all(answer)
        };
        stay_on(&[first]).ok()?;
        Builder::new().spawn_scoped(scope, echo).ok()?;
        is_ready.recv().ok()?;
        let time_ns = |slice: u64| {
            let start = Instant::now();
            let all = (slice * TRIPS + 1..=(slice + 1) * TRIPS).all(|trip| {
                there.0.store(trip, Ordering::Release);
                wait_for(back, trip, until)
            });
            all.then(|| start.elapsed().as_secs_f64() * 1e9)
        };
        (0..SLICES).map(time_ns).collect::<Option<Vec<f64>>>()
    });
    stay_on(&cpus).ok()?;
    let mut slices_ns = slices_ns?;
    let middle = slices_ns.len() / 2;
    let (_, median_ns, _) = slices_ns.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median_ns / (2 * TRIPS) as f64)
}

/// Looks at the line until it holds `trip`; false if it does not come in time. Without a pause between two looks: a hypervisor may take the core of a guest
/// that pauses often.
fn wait_for(line: &Line, trip: u64, until: Instant) -> bool {
    let look = || (0..LOOKS).any(|_| line.0.load(Ordering::Acquire) == trip);
    loop {
        if look() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_some_nanoseconds_between_two_cores() {
        let cpus = allowed().unwrap();
        // The hypervisor may have the other core at any one time.
        let found = (0..20).find_map(|_| core_to_core_ns());
        assert_eq!(found.is_none(), cpus.len() == 1);
        assert!(found.is_none_or(|ns| (1.0..1e6).contains(&ns)), "{found:?}");
        assert_eq!(allowed().unwrap(), cpus, "the thread may use what it might before");
    }

    #[test]
    fn nobody_waits_for_ever() {
        assert!(!wait_for(&Line::default(), 1, Instant::now() + Duration::from_millis(5)));
    }
}
