//! The machine at hand: cores, clock, and how fast its divider is.

#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::{Barrier, OnceLock};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// What is known of the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    /// Hardware threads this process may use.
    pub threads: usize,
    /// Cores among them, as far as the machine tells: a hypervisor may show two threads of one core as two cores.
    pub physical: usize,
}

impl Cores {
    pub fn here() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let physical = cores_allowed().unwrap_or_else(num_cpus::get_physical);
        Cores { threads, physical: physical.clamp(1, threads) }
    }
}

/// Cores that the processors which this process may use belong to: fewer than those of the machine after `taskset`.
fn cores_allowed() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        use nix::sched::{CpuSet, sched_getaffinity};

        let allowed = sched_getaffinity(nix::unistd::Pid::this()).ok()?;
        let cpus = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true));
        let siblings = |cpu| format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let cores: Result<BTreeSet<_>, _> = cpus.map(|cpu| std::fs::read_to_string(siblings(cpu))).collect();
        cores.ok().map(|cores| cores.len())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Cycles that this processor's divider needs per root in vectors, from published tables of instruction timings; `None` for a processor
/// that is not in them.
pub fn cycles_per_root() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    {
        let cpuid = raw_cpuid::CpuId::new();
        let (vendor, features) = (cpuid.get_vendor_info()?, cpuid.get_feature_info()?);
        x86_cycles_per_root(vendor.as_str(), features.family_id(), features.model_id())
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// By family and model: a vector of four takes Zen 3 9 cycles, Skylake and its kin and Ice Lake 12.
#[cfg(target_arch = "x86_64")]
fn x86_cycles_per_root(vendor: &str, family: u8, model: u8) -> Option<f64> {
    match (vendor, family, model) {
        ("AuthenticAMD", 0x19, 0x00..=0x0f | 0x20..=0x5f) => Some(2.25),
        ("GenuineIntel", 0x06, 0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6 | 0x6a | 0x6c | 0x7d | 0x7e) => Some(3.0),
        _ => None,
    }
}

/// Clock in cycles per second while so many threads are busy, by additions that each wait for the one before; the mean over the threads.
///
/// Every thread counts its best of several stretches, so that an interruption does not count. `None` where there is no way to write
/// such additions, or a thread cannot be started.
pub fn frequency_hz(threads: usize) -> Option<f64> {
    const STRETCHES: usize = 20;
    const ADDITIONS: u64 = 4_000_000;
    // For as many as have started: nobody may wait for one that cannot be.
    let barrier = OnceLock::<Barrier>::new();
    let stretch = |_| {
        let start = Instant::now();
        dependent_additions(ADDITIONS).map(|()| start.elapsed())
    };
    let best = || {
        barrier.wait().wait();
        (0..STRETCHES).filter_map(stretch).min()
    };
    let times: Option<Vec<Duration>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map_while(|_| Builder::new().spawn_scoped(scope, best).ok()).collect();
        barrier.get_or_init(|| Barrier::new(handles.len()));
        handles.into_iter().map(|handle| handle.join().ok().flatten()).collect()
    });
    let times = times.filter(|times| times.len() == threads)?;
    let seconds: f64 = times.iter().map(Duration::as_secs_f64).sum();
    Some(ADDITIONS as f64 * times.len() as f64 / seconds)
}

/// So many additions, rounded up to sixteens, each of which needs the result of the one before: one cycle each. What comes after waits for them.
/// `None` where it cannot be written.
pub fn dependent_additions(count: u64) -> Option<()> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let (mut sum, one) = (0_u64, 1_u64);
        for _ in 0..count.div_ceil(16) {
            // SAFETY: additions in two registers; no memory and no stack.
            unsafe {
                std::arch::asm!(
                    ".rept 16",
                    #[cfg(target_arch = "x86_64")]
                    "add {sum}, {one}",
                    #[cfg(target_arch = "aarch64")]
                    "add {sum}, {sum}, {one}",
                    ".endr",
                    sum = inout(reg) sum, one = in(reg) one, options(nomem, nostack)
                );
            }
        }
        // SAFETY: a barrier touches nothing.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            std::arch::asm!("lfence", options(nomem, nostack));
            #[cfg(target_arch = "aarch64")]
            std::arch::asm!("isb", options(nomem, nostack));
        }
        std::hint::black_box(sum);
        Some(())
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = count;
        None
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_divider_is_known_by_family_and_model() {
        assert_eq!(x86_cycles_per_root("AuthenticAMD", 25, 1), Some(2.25), "Zen 3");
        assert_eq!(x86_cycles_per_root("AuthenticAMD", 25, 0x61), None, "Zen 4");
        assert_eq!(x86_cycles_per_root("GenuineIntel", 6, 0x9e), Some(3.0), "the published i7-8700K");
        assert_eq!(x86_cycles_per_root("Other", 25, 1), None);
    }
}
