//! How fast the machine is just now, in four figures and half a second: rounds of a machine that has become another one are not compared.
//!
//! Each figure is the best of many short slices, because whatever else happens on the machine only makes a slice longer.

use std::hint::black_box;
use std::io::{Read, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use tokio::runtime::Builder;

/// How long each of the four is repeated.
const EACH: Duration = Duration::from_millis(110);
/// Steps of arithmetic in one slice.
const STEPS: u32 = 50_000;
/// Size of the buffers that are copied: beyond the share of the caches that a guest gets.
const BUFFER_BYTES: usize = 64 << 20;
/// How much of them is copied in one slice.
const COPY_BYTES: usize = 1 << 20;
/// Hand-overs or hops in one slice.
const TURNS: u32 = 20;

/// The probe as lines of facts.tsv: name, value and an empty reason, tab-separated.
///
/// # Errors
/// When no pipe, thread or runtime can be made.
pub fn facts() -> Result<String> {
    let figures = [
        ("probe_arithmetic_ns", arithmetic_ns()?),
        ("probe_memory_mb_per_s", memory_mb_per_s()?),
        ("probe_switch_us", switch_us()?),
        ("probe_hop_us", hop_us()?),
    ];
    Ok(figures.map(|(name, value)| format!("{name}\t{value:.4}\t\n")).concat())
}

/// Time of a multiplication and addition that waits for the one before it, in ns.
fn arithmetic_ns() -> Result<f64> {
    let mut state = black_box(1_u64);
    let slice_s = best(|| {
        for _ in 0..STEPS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
        state = black_box(state);
        Ok(())
    })?;
    Ok(slice_s * 1e9 / f64::from(STEPS))
}

/// Bytes that one thread copies between two buffers, in MB/s.
fn memory_mb_per_s() -> Result<f64> {
    let source = vec![1_u8; BUFFER_BYTES];
    let mut target = vec![2_u8; BUFFER_BYTES];
    let mut at = 0;
    let slice_s = best(|| {
        target[at..at + COPY_BYTES].copy_from_slice(&source[at..at + COPY_BYTES]);
        at = (at + COPY_BYTES) % BUFFER_BYTES;
        black_box(&mut target);
        Ok(())
    })?;
    Ok(COPY_BYTES as f64 / slice_s / 1e6)
}

/// Time of a hand-over between two threads of one processor over a pipe, in us.
fn switch_us() -> Result<f64> {
    let (mut left_in, mut left_out) = pipe()?;
    let (mut right_in, mut right_out) = pipe()?;
    let slice_s = thread::scope(|scope| {
        let here = thread::Builder::new().spawn_scoped(scope, move || -> Result<f64> {
            // One processor for both, as the second thread inherits it: left to the scheduler, the figure would be one of two.
            let mut one = CpuSet::new();
            one.set(sched_getcpu()?)?;
            sched_setaffinity(Pid::from_raw(0), &one)?;
            let mut byte = [0];
            thread::Builder::new().spawn_scoped(scope, move || {
                // The far side ends when the pipe does.
                while left_in.read_exact(&mut byte).is_ok() && right_out.write_all(&byte).is_ok() {}
            })?;
            best(|| {
                for _ in 0..TURNS {
                    left_out.write_all(&byte)?;
                    right_in.read_exact(&mut byte)?;
                }
                Ok(())
            })
        })?;
        here.join().unwrap_or_else(|_| bail!("a thread of the probe panicked"))
    })?;
    Ok(slice_s * 1e6 / f64::from(2 * TURNS))
}

/// Time from a blocking task's start to its answer in a runtime, in us.
fn hop_us() -> Result<f64> {
    let runtime = Builder::new_current_thread().build().context("no runtime")?;
    let slice_s = best(|| {
        for _ in 0..TURNS {
            runtime.block_on(runtime.spawn_blocking(|| black_box(())))?;
        }
        Ok(())
    })?;
    Ok(slice_s * 1e6 / f64::from(TURNS))
}

/// The shortest of the slices that fit into [`EACH`], in seconds.
fn best(mut slice: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < EACH || best == Duration::MAX {
        let start = Instant::now();
        slice()?;
        best = best.min(start.elapsed());
    }
    Ok(best.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_fact_with_a_figure() {
        let facts = facts().unwrap();
        let mut names = Vec::new();
        for line in facts.lines() {
            let columns: Vec<_> = line.split('\t').collect();
            let [name, value, ""] = columns[..] else { panic!("no fact: {line:?}") };
            assert!(value.parse::<f64>().is_ok_and(|value| value.is_finite() && value > 0.0), "{line}");
            names.push(name);
        }
        assert_eq!(names, ["probe_arithmetic_ns", "probe_memory_mb_per_s", "probe_switch_us", "probe_hop_us"]);
    }

    #[test]
    fn the_best_slice_counts() {
        let mut slices = [3_u64, 1, 2].into_iter().cycle();
        let best_s = best(|| {
            thread::sleep(Duration::from_millis(slices.next().unwrap_or(1)));
            Ok(())
        });
        // A sleep is never shorter than asked for.
        assert!(best_s.unwrap() >= 0.001);
        assert!(best(|| bail!("broken")).is_err());
    }
}
