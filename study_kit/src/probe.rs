//! How fast the machine is just now, in four figures and half a second: rounds of a machine that has become another one are not compared.
//!
//! Each figure is the time that one in twenty of many short slices stays below: what else happens on the machine makes a slice longer, and
//! the very shortest is luck. All of it stays on one processor, because whether a scheduler uses one or two changes a figure by half.

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::io::{Read, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use tokio::runtime::Builder;

/// How long each of the four is repeated.
const EACH: Duration = Duration::from_millis(100);
/// Steps of arithmetic in one slice.
const STEPS: u32 = 20_000;
/// Size of the buffers that are copied: beyond the share of the caches that a guest gets.
const BUFFER_BYTES: usize = 64 << 20;
/// How much of them is copied in one slice.
const COPY_BYTES: usize = 256 << 10;
/// Hand-overs there and back, or hops, in one slice: one alone takes one of two times, as its thread does or does not run first.
const TURNS: u32 = 8;

/// The probe as lines of facts.tsv: name, value and the reason for a missing value, tab-separated.
pub fn facts() -> Result<String> {
    let figures = || {
        stay_here().context("cannot stay on one processor")?;
        let figures = [
            ("probe_arithmetic_ns", arithmetic_ns()?),
            ("probe_memory_mb_per_s", memory_mb_per_s()?),
            ("probe_switch_us", switch_us()?),
            ("probe_hop_us", hop_us()?),
        ];
        Ok(figures.map(|(name, value)| format!("{name}\t{value:.4}\t\n")).concat())
    };
    let probing = thread::Builder::new().spawn(figures).context("no thread")?;
    let figures = probing.join().unwrap_or_else(|_| bail!("the probe panicked"))?;
    Ok(cores()? + &figures)
}

/// The processors that this process may use, by its affinity and its quota, and the cores among them.
fn cores() -> Result<String> {
    let count = thread::available_parallelism().context("the number of processors is not told")?.get();
    let cpus = allowed().context("the processors are not told")?.into_iter();
    let siblings = |cpu| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    let (cores, reason) = match cpus.map(siblings).collect::<Result<BTreeSet<_>, _>>() {
        Ok(cores) => (cores.len().min(count).to_string(), ""),
        Err(_) => (String::new(), "the kernel does not tell it"),
    };
    Ok(format!("cpu_count\t{count}\t\ncore_count\t{cores}\t{reason}\n"))
}

/// The numbers of the processors that this thread may use.
pub(crate) fn allowed() -> nix::Result<Vec<usize>> {
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true)).collect())
}

/// Keeps this thread, and those it starts, on the processor it runs on.
pub fn stay_here() -> nix::Result<()> {
    stay_on(&[sched_getcpu()?])
}

/// Keeps this thread, and those it starts, on these processors.
pub(crate) fn stay_on(cpus: &[usize]) -> nix::Result<()> {
    let mut set = CpuSet::new();
    cpus.iter().try_for_each(|&cpu| set.set(cpu))?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// Time of a shift, exclusive or and multiplication that wait for those before them, in ns.
fn arithmetic_ns() -> Result<f64> {
    let mut state = black_box(1_u64);
    let slice_s = slice_s(|| {
        // No compiler finds a shorter way to the last state.
        for _ in 0..STEPS {
            state = (state ^ (state >> 32)).wrapping_mul(6_364_136_223_846_793_005);
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
    let slice_s = slice_s(|| {
        target[at..at + COPY_BYTES].copy_from_slice(&source[at..at + COPY_BYTES]);
        at = (at + COPY_BYTES) % BUFFER_BYTES;
        black_box(&mut target);
        Ok(())
    })?;
    Ok(COPY_BYTES as f64 / slice_s / 1e6)
}

/// Time of a hand-over between two threads over a pipe, in us: half of a byte's way there and back.
fn switch_us() -> Result<f64> {
    let (mut there_in, mut there_out) = pipe()?;
    let (mut back_in, mut back_out) = pipe()?;
    let mut byte = [0];
    // The far side ends with the pipe, whose near side ends with the slices.
    let slice_s = thread::scope(|scope| {
        scope.spawn(move || while there_in.read_exact(&mut byte).is_ok() && back_out.write_all(&byte).is_ok() {});
        slice_s(move || {
            for _ in 0..TURNS {
                there_out.write_all(&byte)?;
                back_in.read_exact(&mut byte)?;
            }
            Ok(())
        })
    })?;
    Ok(slice_s * 1e6 / f64::from(2 * TURNS))
}

/// Time from handing a task to the blocking pool until its answer is there, in us.
fn hop_us() -> Result<f64> {
    let runtime = Builder::new_current_thread().build().context("no runtime")?;
    let slice_s = slice_s(|| {
        for _ in 0..TURNS {
            runtime.block_on(runtime.spawn_blocking(|| black_box(())))?;
        }
        Ok(())
    })?;
    Ok(slice_s * 1e6 / f64::from(TURNS))
}

/// What one in twenty of the slices stays below that fit into [`EACH`], in seconds.
fn slice_s(mut slice: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    let mut slices = Vec::new();
    while start.elapsed() < EACH || slices.is_empty() {
        let start = Instant::now();
        slice()?;
        slices.push(start.elapsed());
    }
    Ok(low(&mut slices).as_secs_f64())
}

/// The twentieth part of the way up through `slices`, which are not empty.
fn low(slices: &mut [Duration]) -> Duration {
    let rank = slices.len() / 20;
    *slices.select_nth_unstable(rank).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slice_in_twenty_is_shorter() {
        let mut slices: Vec<_> = (0..100).rev().map(Duration::from_millis).collect();
        assert_eq!(low(&mut slices), Duration::from_millis(5));
        assert_eq!(low(&mut slices[..1]), slices[0]);
    }
}
