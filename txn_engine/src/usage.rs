//! What this process is like now, as far as the system tells.

#[derive(Debug, Clone, Copy, Default)]
pub struct Process {
    /// Resident memory, in KiB.
    pub rss_kib: u64,
    /// Highest resident memory, in KiB.
    pub peak_rss_kib: u64,
    pub threads: u64,
    /// Signals that are ignored: bit n - 1 is signal n.
    pub ignored: u64,
}

/// Memory maps of this process; 0 elsewhere than on Linux.
pub fn maps() -> usize {
    // Only counted: a library that reads all 65,000 of them takes megabytes, which would then stand in the peak.
    memchr::memchr_iter(b'\n', &std::fs::read("/proc/self/maps").unwrap_or_default()).count()
}

/// Of this process; `None` elsewhere than on Linux.
pub fn of_this_process() -> Option<Process> {
    #[cfg(target_os = "linux")]
    {
        let status = procfs::process::Process::myself().ok()?.status().ok()?;
        let (threads, ignored) = (status.threads, status.sigign);
        Some(Process { rss_kib: status.vmrss?, peak_rss_kib: status.vmhwm?, threads, ignored })
    }
    #[cfg(not(target_os = "linux"))]
    None
}
