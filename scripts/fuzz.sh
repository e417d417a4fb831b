#!/usr/bin/env bash
# Does:   runs the cargo-fuzz targets of crates that have some, FUZZ_S seconds each; not part of the tests.
# Reads:  CRATE/fuzz/.
# Writes: CRATE/fuzz/corpus, CRATE/fuzz/artifacts (an input that crashed), target/fuzz.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/fuzz.sh CRATE...
Needs cargo-fuzz, and a nightly Rust or (without one) the installed stable Rust told to accept nightly options.
EOF
}

main() {
  local crate target toolchain=() failed=0
  case ${1:-} in -h | --help) usage; exit 0 ;; '') usage >&2; exit 2 ;; esac
  need_rust
  unset CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_BUILD_DIR # cargo-fuzz has flags of its own
  cargo fuzz --version >/dev/null 2>&1 || die 'cargo-fuzz was not found: cargo install cargo-fuzz --locked'
  if cargo +nightly --version >/dev/null 2>&1; then toolchain=(+nightly); else export RUSTC_BOOTSTRAP=1; fi
  for crate in "$@"; do
    for target in "$crate"/fuzz/fuzz_targets/*.rs; do
      [ -f "$target" ] || continue
      target=$(basename "$target" .rs)
      say "fuzzing $crate: $target for $FUZZ_S s"
      (cd "$crate" && cargo ${toolchain[@]+"${toolchain[@]}"} fuzz run "$target" --target-dir "$ROOT/target/fuzz" -- \
        -max_total_time="$FUZZ_S" -max_len=4096) || { say "FAILED: $crate $target"; failed=1; }
    done
  done
  exit "$failed"
}

main "$@"
