//! What a stretch of work cost the process: time, faults, context switches, memory.

use std::iter::repeat_n;
use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;
use procfs::process::Process;

use crate::record::Metrics;

/// A stretch of work under way.
pub struct Span {
    before: Usage,
    start: Instant,
}

/// What it cost the process, all threads together.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub wall: Duration,
    before: Usage,
    after: Usage,
}

impl Span {
    pub fn start() -> Self {
        Span { before: usage(), start: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub fn end(self) -> Cost {
        let wall = self.start.elapsed();
        Cost { wall, before: self.before, after: usage() }
    }
}

impl Cost {
    /// The metrics that every study records of its span; the memory so far, too, where it can be read.
    pub fn metrics(&self) -> Metrics {
        let mut metrics = times(self.wall.as_secs_f64(), &self.before, &self.after);
        let counted = |count: fn(&Usage) -> i64| (count(&self.after) - count(&self.before)) as f64;
        metrics.extend([
            ("minor_faults_count", counted(Usage::minor_page_faults)),
            ("voluntary_switches_count", counted(Usage::voluntary_context_switches)),
            ("involuntary_switches_count", counted(Usage::involuntary_context_switches)),
        ]);
        metrics.put("peak_rss_kib", peak_rss_kib().map(kib));
        metrics
    }
}

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_SELF).expect("a process can always read its own usage")
}

/// Wall time and processor time between two readings.
pub(crate) fn times(wall_s: f64, before: &Usage, after: &Usage) -> Metrics {
    let [user_s, system_s] =
        [Usage::user_time, Usage::system_time].map(|time| seconds(time(after)) - seconds(time(before)));
    let cpu_s = user_s + system_s;
    Metrics::from([
        ("work_s", wall_s),
        ("user_s", user_s),
        ("system_s", system_s),
        ("cpu_s", cpu_s),
        ("cpu_percent", 100.0 * cpu_s / wall_s),
    ])
}

/// Processor time of this process so far, in the program and in the kernel together, in seconds.
pub fn processor_s() -> f64 {
    let usage = usage();
    seconds(usage.user_time()) + seconds(usage.system_time())
}

fn seconds(time: TimeVal) -> f64 {
    time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6
}

/// Highest resident memory of this process so far, in KiB; `None` without `/proc`. A process inherits `ru_maxrss` from the one that started it.
pub fn peak_rss_kib() -> Option<u64> {
    peak_rss_kib_of(std::process::id())
}

pub(crate) fn peak_rss_kib_of(process: u32) -> Option<u64> {
    Process::new(process.try_into().ok()?).ok()?.status().ok()?.vmhwm
}

/// Memory in KiB as a metric.
pub fn kib(memory: u64) -> f64 {
    memory as f64
}

/// Makes the allocator keep what is freed and use it again, as it does in a program that has run for a while: glibc gives the end of its heap back
/// to the kernel until it has seen a larger block go, which is never touched here. And the first small blocks to go wait in a cache, without which
/// an aligned block, such as a compressor's, does not fit into its old place: it is filled with 4 KiB.
pub fn settle_allocator() {
    const BLOCK_BYTES: usize = 16 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
    // The rests of an alignment of 64 bytes; glibc caches seven blocks of a size, and sizes are 16 bytes apart.
    let small: Vec<Vec<u8>> =
        (24..=120).step_by(16).flat_map(|bytes| repeat_n(bytes, 7)).map(Vec::with_capacity).collect();
    drop(std::hint::black_box(small));
}

/// Makes glibc take every block of a mebibyte and more from the kernel and give it back when it is freed, as in a process that does its work once.
/// Left alone it raises that threshold, and keeps blocks of some threads and not of others: equal arms of a duet would differ in page faults.
pub fn map_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a parameter of the allocator and touches no memory of ours.
    unsafe {
        nix::libc::mallopt(nix::libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// Makes glibc keep every block that is freed, as in a process that does its work over and over. To be called before there are other threads.
pub fn keep_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets parameters of the allocator and touches no memory of ours.
    unsafe {
        nix::libc::mallopt(nix::libc::M_ARENA_MAX, 1);
        nix::libc::mallopt(nix::libc::M_MMAP_MAX, 0);
        nix::libc::mallopt(nix::libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}
