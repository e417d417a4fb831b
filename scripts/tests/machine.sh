#!/usr/bin/env bash
# Does:   tests what is said of machines that say little: containers that hide files of the kernel, processors that are none of x86, other systems.
# Reads:  scripts/.
# Writes: what expect.sh says.
# shellcheck disable=SC2016,SC2317  # the tests are called by their names, and what they print into files is code
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"
# shellcheck source=../machine.sh
source "$SCRIPTS/machine.sh"

# tool NAME CODE: a program of that name in a folder that comes first on PATH.
tool() { mkdir -p "$temp/bin"; printf '#!/bin/sh\n%s\n' "$2" >"$temp/bin/$1"; chmod +x "$temp/bin/$1"; }
# describe FUNCTION: its facts, into the file named by `out`.
describe() {
  # shellcheck disable=SC2034  # `fact` writes there
  local facts=$out
  : >"$out"
  AWAIT_OR_NOT_DATA=$temp/data PATH=$temp/bin:$PATH "$1"
}
# value NAME TEXT; unknown NAME: without a value, and with the reason.
value() { same "$2" "$(awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$out")"; }
unknown() { says "^$1"$'\t\t..*' || { echo "  $1 is known, or has no reason"; return 1; }; }

# says_the_kernel LINE...: what it tells of the processor.
says_the_kernel() { cpuinfo=$temp/cpuinfo; printf '%s\n' "$@" >"$cpuinfo"; }

test_what_a_container_hides_is_unknown_with_a_reason() {
  local name
  tool cat 'case $1 in /sys/* | /proc/*) exit 1 ;; esac; exec /bin/cat "$@"'
  tool lscpu 'exit 1'
  tool getconf 'exit 1'
  says_the_kernel
  describe hardware || return
  for name in cpu_model cpu_family cpu_model_number cpu_stepping smt governor idle_governor idle_poll_ns hypervisor; do unknown "$name" || return; done
  describe system || return
  for name in libc max_map_count somaxconn_count transparent_huge_pages; do unknown "$name" || return; done
}

test_the_kernel_tells_what_lscpu_does_not() {
  says_the_kernel $'cpu family\t: 25' $'model\t\t: 1' $'model name\t: AMD EPYC' $'stepping\t: 1' $'flags\t\t: fpu hypervisor'
  describe hardware || return
  value cpu_model 'AMD EPYC' && value cpu_family 25 && value cpu_model_number 1 && value cpu_stepping 1 && value hypervisor 'of an unknown vendor'
}

test_an_arm_processor_does_not_say_whether_it_is_virtual() {
  rm -r "${temp:?}/bin"
  tool lscpu 'printf "Vendor ID:  ARM\nModel name:  Neoverse-N1\nModel:  1\nStepping:  r3p1\nFlags:  fp asimd\n"'
  says_the_kernel $'processor\t: 0' $'Features\t: fp asimd'
  describe hardware || return
  value cpu_model Neoverse-N1 && value cpu_stepping r3p1 && unknown cpu_family && unknown hypervisor || return
  tool lscpu 'echo "Hypervisor vendor:  KVM"'
  describe hardware && value hypervisor KVM
}

test_an_x86_processor_does() {
  tool lscpu ':'
  says_the_kernel $'flags\t\t: fpu avx'
  describe hardware && value hypervisor none || return
  tool lscpu 'echo "Hypervisor vendor:  KVM"'
  describe hardware && value hypervisor KVM
}

test_git_tells_the_commit_whoever_owns_the_files() {
  local commit
  # shellcheck disable=SC2034,SC2030  # `sources` reads them
  (
    ROOT=$temp/theirs study=toy
    mkdir -p "$ROOT/scripts"
    cd "$ROOT" || exit
    describe sources && unknown commit && unknown dirty || exit
    git init --quiet .
    git -c user.name=them -c user.email=them@example.org commit --quiet --allow-empty -m first
    commit=$(git rev-parse HEAD)
    export GIT_TEST_ASSUME_DIFFERENT_OWNER=1
    describe sources && value commit "$commit" && value dirty no || exit
    touch scripts/new
    describe sources && value dirty yes
  )
}

test_another_system_is_refused_before_anything_is_built() {
  tool uname 'echo Darwin'
  tool cargo 'echo cargo was called; exit 9'
  refused() { PATH=$temp/bin:$PATH "$repo/scripts/$1" ${2:+"$2"} ${3:+"$3"} >"$out" 2>&1; }
  mkdir -p "$repo/toy/study"
  touch "$repo/toy/study/claims.toml"
  same 2 "$(exit_code refused setup.sh)" && says 'needs Linux, not Darwin' && ! says 'cargo was called' || return
  same 2 "$(exit_code refused measure.sh toy --plan)" && says 'needs Linux, not Darwin' && ! says 'cargo was called'
}

run_tests
