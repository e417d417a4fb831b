#!/usr/bin/env bash
# Does:   describes the machine, its speed, limits and tools, before and after a measurement; sourced by measure.sh, which sets the variables.
# Reads:  /proc, /sys; the versions of the tools; FOLDER.work/ (binaries, seed).
# Writes: FOLDER.work/facts.tsv and from it machine.json by `report machine`, without host name, user name or absolute path.
# shellcheck shell=bash disable=SC2154  # study, program, report, record and work are set by measure.sh, waited_s by wait_for_quiet

# fact NAME VALUE REASON: one value; when it is empty, the reason says why it could not be read.
fact() { printf '%s\t%s\t%s\n' "$1" "$(printf '%s' "$2" | tr -d '\000-\037' | tr '\t' ' ')" "$3" >>"$facts"; }
# A container may hide a file, or show one that cannot be read.
kernel_value() { cat "$1" 2>/dev/null || true; }
first_match() { awk -F '[:=] *' -v key="$1" '$1 ~ "^" key "[ \t]*$" { print $2; exit }' "$2" 2>/dev/null || true; }

cpuinfo=/proc/cpuinfo
hardware() {
  local lscpu threads memory vendor flags idle idle_poll=''
  lscpu=$(lscpu 2>/dev/null || true)
  from_lscpu() { first_match "$1" <(printf '%s\n' "$lscpu"); }
  # Where lscpu fails for want of /sys, the kernel still tells what an x86 processor is.
  processor() { fact "$1" "$(from_lscpu "$2" | grep . || first_match "$3" "$cpuinfo")" 'neither lscpu nor the kernel tells it'; }
  processor cpu_model 'Model name' 'model name'
  processor cpu_family 'CPU family' 'cpu family'
  processor cpu_model_number Model model
  processor cpu_stepping Stepping stepping
  threads=$(kernel_value /sys/devices/system/cpu/smt/active)
  case $threads in 1) threads=on ;; 0) threads=off ;; esac
  fact smt "$threads" 'the kernel does not tell it'
  fact governor "$(kernel_value /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor)" 'the kernel offers no frequency scaling here'
  # A core that polls is woken by a store; one that sleeps in a virtual machine, by the hypervisor.
  idle=$(kernel_value /sys/devices/system/cpu/cpuidle/current_governor)
  [ "$idle" != haltpoll ] || idle_poll=$(kernel_value /sys/module/haltpoll/parameters/guest_halt_poll_ns)
  fact idle_governor "$idle" 'the kernel does not tell it'
  fact idle_poll_ns "$idle_poll" 'the governor haltpoll is not in use'
  vendor=$(from_lscpu 'Hypervisor vendor')
  # Only an x86 processor, which has flags, says whether there is one.
  flags=$(first_match flags "$cpuinfo")
  case "$vendor/ $flags " in
    "/  ") ;;
    /*' hypervisor '*) vendor='of an unknown vendor' ;;
    /*) vendor=none ;;
  esac
  fact hypervisor "$vendor" 'neither lscpu nor the kernel tells it'
  memory=$(first_match MemTotal /proc/meminfo)
  fact memory_kib "${memory%% *}" 'there is no /proc/meminfo'
}

system() {
  mkdir -p "$AWAIT_OR_NOT_DATA"
  fact os "$(first_match PRETTY_NAME /etc/os-release | tr -d '"')" 'there is no /etc/os-release'
  fact kernel "$(uname -srm)" ''
  fact libc "$(getconf GNU_LIBC_VERSION 2>/dev/null || true)" 'getconf does not tell it (not glibc)'
  fact data_filesystem "$(stat -f -c %T "$AWAIT_OR_NOT_DATA" 2>/dev/null || true)" 'stat does not tell it'
  fact nofile_soft_count "$(ulimit -Sn)" ''
  fact nofile_hard_count "$(ulimit -Hn)" ''
  fact max_map_count "$(kernel_value /proc/sys/vm/max_map_count)" 'the kernel has no such limit'
  fact somaxconn_count "$(kernel_value /proc/sys/net/core/somaxconn)" 'the kernel does not tell it'
  fact transparent_huge_pages "$(kernel_value /sys/kernel/mm/transparent_hugepage/enabled | sed 's/.*\[\(.*\)\].*/\1/')" 'the kernel has none'
}

# The variables that KEEP_VARIABLES lets through, with their values.
kept_variables() {
  local name kept=''
  for name in $KEEP_VARIABLES; do
    if printenv "$name" >/dev/null; then kept+="${kept:+ }$name=$(printenv "$name")"; fi
  done
  echo "${kept:-none}"
}

# What git says, whoever owns the files.
sources() {
  local status git=(git -c safe.directory="$ROOT")
  fact commit "$("${git[@]}" rev-parse --verify --quiet HEAD 2>/dev/null || true)" 'git does not tell it'
  # Only what the measurement rests on: a REPORT.md that is being written does not make the code another one.
  if status=$("${git[@]}" status --porcelain -- "$study" study_kit Cargo.toml Cargo.lock scripts .cargo Makefile 2>/dev/null); then
    fact dirty "$(if [ -n "$status" ]; then echo yes; else echo no; fi)" ''
  else fact dirty '' 'git does not tell it'; fi
}

tools() {
  local binary build layout
  fact rustc "$(rustc --version)" ''
  fact cargo "$(cargo --version)" ''
  fact cc "$(cc --version 2>/dev/null | head -n 1)" 'cc does not tell it'
  fact kept_variables "$(kept_variables)" ''
  fact cargo_lock_sha256 "$(sha256 Cargo.lock | cut -d ' ' -f 1)" ''
  for binary in "$work"/bin/*/*/"$program"; do
    layout=$(basename "${binary%/*}") build=$(basename "${binary%/*/*}")
    fact "binary_${build}_${layout}_sha256" "$(sha256 "$binary" | cut -d ' ' -f 1)" ''
    # Of several layouts the build has made sure that it is the same for all.
    if [ "$layout" = 1 ]; then fact "symbols_${build}_sha256" "$(symbols_sha256 "$binary")" ''; fi
  done
  sources
  fact hyperfine "$("$(find_hyperfine)" --version)" ''
  fact gnu_time "$("$(find_gnu_time || echo false)" --version 2>&1 | head -n 1)" 'GNU time is not installed'
  fact plan_seed "$(cat "$work/seed")" ''
}

# probe [SUFFIX]: how many processors a run may use, and how fast they are just now.
probe() {
  "$work/bin/release/0/$program" probe | awk -F '\t' -v suffix="${1:-}" '{ print $1 suffix "\t" $2 "\t" $3 }' >>"$facts" || die "'$program probe' failed"
}

# What others do to the machine: load, and the clock ticks that the hypervisor gives away.
disturbance() {
  fact "date_$1_utc" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" ''
  fact "load_$1" "$(kernel_value /proc/loadavg | cut -d ' ' -f 1)" 'the kernel does not tell it'
  ticks "$1"
}
ticks() {
  fact "steal_ticks_$1" "$(awk '$1 == "cpu" { print $9 }' /proc/stat 2>/dev/null || true)" 'there is no /proc/stat'
  fact "cpu_ticks_$1" "$(awk '$1 == "cpu" { for (i = 2; i <= 9; i++) sum += $i; print sum }' /proc/stat 2>/dev/null || true)" 'there is no /proc/stat'
}
steal_percent() {
  awk -F '\t' '{ last[$1] = $2 }
    END { all = last["cpu_ticks_after"] - last["cpu_ticks_before"]
      if (all > 0) printf "%.2f", 100 * (last["steal_ticks_after"] - last["steal_ticks_before"]) / all }' "$facts"
}

# describe before|resumed|after: what the machine is and does then goes into machine.json.
describe() {
  local facts=$work/facts.tsv
  # The last line of a name wins.
  case $1 in
    before) wait_for_quiet; : >"$facts"; hardware; system; tools; disturbance before; probe ;;
    # What happened during an interruption is none of the measurement's.
    resumed) wait_for_quiet; ticks before ;;
    after)
      disturbance after
      probe _after
      fact steal_percent "$(steal_percent)" 'there is no /proc/stat'
      fact resumed_count "$(count_lines "$work/resumed")" '' ;;
  esac
  [ "$1" = after ] || fact quiet_wait_s "$waited_s" ''
  "$report" machine "$record" "$facts" || die "machine.json could not be written (see above)"
}
