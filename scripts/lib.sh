#!/usr/bin/env bash
# Does:   gives every script strict mode, the same environment and a few helpers; changes to the root of the repository.
# Reads:  scripts/config.sh.
# Writes: nothing.

set -Eeuo pipefail
# An error that nothing expected means "could not run"; the command that failed has said why.
trap 'exit 2' ERR
shopt -s inherit_errexit 2>/dev/null || true # bash before 4.4 (macOS) does not have it
unset CDPATH
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
SCRIPTS=$ROOT/scripts
case ${AWAIT_OR_NOT_DATA:-/} in /*) ;; *) AWAIT_OR_NOT_DATA=$PWD/$AWAIT_OR_NOT_DATA ;; esac
cd "$ROOT"
source "$SCRIPTS/config.sh"
export LC_ALL=C CARGO_TARGET_DIR=$ROOT/target
# Said aloud, because a measurement runs copies of the binaries, which cannot find target/ by where they are.
export AWAIT_OR_NOT_DATA=${AWAIT_OR_NOT_DATA:-$ROOT/target/data}

say() { printf '%s\n' "$*" >&2; }
# Exit code 2 is "could not run"; 1 is kept for "ran, and found failures".
die() { say "error: $*"; exit 2; }
# need TOOL REMEDY
need() { command -v "$1" >/dev/null || die "$1 was not found: $2"; }

# What would change the code under test or its allocator, threads or error paths must not leak in from outside.
ignored=''
for variable in $(compgen -e); do
  case $variable in
    RUSTFLAGS | CARGO_ENCODED_RUSTFLAGS | CARGO_BUILD_RUSTFLAGS | CARGO_BUILD_TARGET | CARGO_PROFILE_* | \
      CARGO_TARGET_*_RUSTFLAGS | RUST_BACKTRACE | RUST_LIB_BACKTRACE | RUST_MIN_STACK | TOKIO_WORKER_THREADS | \
      RAYON_NUM_THREADS | MALLOC_* | GLIBC_TUNABLES | LD_PRELOAD)
      ignored+=" $variable"
      unset "$variable" ;;
  esac
done
[ -z "$ignored" ] || [ "${FAST_BUILDS:-}" = yes ] || say "note: ignored, because it would change what is measured:$ignored"
# For who measures nothing (measure.sh refuses it for all but smoke): tests, lints and smoke share one build. It is called release, so
# that smoke finds it, checks what dev checks, and is hardly optimised: compiling takes longer than running, but for what fast.toml names.
cargo_options=() test_options=()
if [ "${FAST_BUILDS:-}" = yes ]; then
  export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=none
  export CARGO_PROFILE_RELEASE_OPT_LEVEL=0
  export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
  export CARGO_PROFILE_DEV_DEBUG=none
  # They follow the subcommand: cargo forgets a --config before it where another one follows, as in a row of builds.tsv.
  # shellcheck disable=SC2034  # for build.sh and test.sh
  cargo_options=(--config "$SCRIPTS/fast.toml") test_options=(--release)
fi

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
# One word for `hyperfine -N`, which splits its command as a POSIX shell does.
quote() { printf "'%s'" "${1//\'/\'\\\'\'}"; }
count_lines() { if [ -f "$1" ]; then wc -l <"$1" | tr -d ' '; else echo 0; fi; }
has_results() { compgen -G "$RESULTS/*/*/SHA256SUMS" >/dev/null; }

load_average() { if [ -r /proc/loadavg ]; then cut -d ' ' -f 1 /proc/loadavg; else sysctl -n vm.loadavg | tr -d '{}' | awk '{ print $1 }'; fi; }

# What measures a study is the package STUDY_study in STUDY/study/; it, the kit and the report are the workspace of the root.
# name_package PACKAGE: sets `named` to the cargo arguments that name it.
name_package() {
  # shellcheck disable=SC2034  # for build.sh and test.sh
  case $1 in
    *_study | study_kit | report) named=(--manifest-path "$ROOT/Cargo.toml" -p "$1") ;;
    *) named=(--manifest-path "$ROOT/$1/Cargo.toml") ;;
  esac
}
# build_row PACKAGE BUILD: the line of a named build in the study's builds.tsv.
build_row() {
  local table=${1%_study}/study/builds.tsv
  awk -F '\t' -v name="$2" '$1 == name { print; found = 1 } END { exit !found }' "$table" || die "$table has no build '$2'"
}
# binary PACKAGE BUILD: where build.sh puts the executable.
binary() {
  local row
  case $2 in
    release) echo "$CARGO_TARGET_DIR/release/$1" ;;
    dev) echo "$CARGO_TARGET_DIR/debug/$1" ;;
    *)
      row=$(build_row "$1" "$2")
      case " ${row##*$'\t'} " in
        *" --release "*) echo "$CARGO_TARGET_DIR/$2/release/$1" ;;
        *) echo "$CARGO_TARGET_DIR/$2/debug/$1" ;;
      esac ;;
  esac
}

# layout_prefix PACKAGE BUILD: where build.sh puts the layouts of the executable, .0 and so on.
layout_prefix() { echo "$ROOT/target/layouts/$2/$1"; }
# layout_binary PACKAGE BUILD LAYOUT LAYOUTS: one of so many; where there is only one, it is cargo's own.
layout_binary() { if [ "$4" -gt 1 ]; then echo "$(layout_prefix "$1" "$2").$3"; else binary "$1" "$2"; fi; }
# layouts_here: how many layouts of an executable can be made, LAYOUTS of them if the linker of rustc is the one that can.
layouts_here() {
  local host=x86_64-unknown-linux-gnu
  case $LAYOUTS in 1 | 6) ;; *) die "LAYOUTS is 1 or 6, not '$LAYOUTS'" ;; esac
  need rustc 'install Rust from https://rustup.rs'
  if [ "$LAYOUTS" = 1 ] || [ -x "$(rustc --print sysroot)/lib/rustlib/$host/bin/gcc-ld/ld.lld" ]; then echo "$LAYOUTS"; return; fi
  say 'note: one layout instead of 6, because rustc has no lld here: where code happens to lie counts as an effect'
  echo 1
}
# symbols_sha256 EXECUTABLE: fingerprint of what it is made of, whatever the order: its symbols with their sizes.
symbols_sha256() {
  local symbols
  need nm 'install binutils'
  # The address stands in the first 16 columns.
  symbols=$(nm -S "$1" | cut -c 18- | sort)
  [ -n "$symbols" ] || die "$1 has no symbols to compare"
  sha256 - <<<"$symbols" | cut -d ' ' -f 1
}

# ready PACKAGE: its executable for questions that need no optimised one: the release build if nothing is newer, else a dev build.
ready() {
  local file
  file=$(binary "$1" release)
  if ! newest "$file" "$1"; then
    "$SCRIPTS/build.sh" "$1" dev >&2
    file=$(binary "$1" dev)
  fi
  echo "$file"
}
# newest EXECUTABLE PACKAGE: whether none of the sources that cargo lists beside it is newer, nor what they are built by.
newest() {
  local sources source
  [ -x "$1" ] && [ -f "$1.d" ] || return 1
  # A backslash stands before a space in a path.
  # shellcheck disable=SC2162
  read -a sources <"$1.d"
  for source in "${sources[@]:1}" Cargo.toml Cargo.lock "${2%_study}/Cargo.toml"; do
    [ -e "$source" ] && [ ! "$source" -nt "$1" ] || return 1
  done
}

# The hyperfine to use: the one on PATH if its JSON is known to the report, else the one setup.sh installed.
find_hyperfine() {
  local candidate
  for candidate in "$(command -v hyperfine || true)" "$ROOT/.tools/bin/hyperfine"; do
    [ -x "$candidate" ] || continue
    case $("$candidate" --version) in
      "hyperfine 1.1"[5-9].* | "hyperfine 1."[2-9][0-9].* | "hyperfine 2.0."*) echo "$candidate"; return ;;
    esac
  done
  return 1
}
# GNU time, not the shell's keyword and not the BSD tool of the same name.
find_gnu_time() {
  local candidate
  for candidate in "$(command -v gtime || true)" /usr/bin/time; do
    [ -x "$candidate" ] && "$candidate" -f '' -o /dev/null true 2>/dev/null && echo "$candidate" && return
  done
  return 1
}
