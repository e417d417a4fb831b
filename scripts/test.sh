#!/usr/bin/env bash
# Does:   checks crates (format, lints, tests) and, with --all, what measures them and the shell layer; goes on after a failure, fails at the end.
# Reads:  the crates, scripts/.
# Writes: target/.
export FAST_BUILDS=yes # nothing is measured here
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/test.sh [--all] PACKAGE...
Each package: cargo fmt --check, a build by clippy without warnings, cargo test; a study is its crate. --all: also the workspace of the root, with what
measures all studies, shellcheck and scripts/tests/*.sh.
The last line is "N passed, N failed": every test of cargo and every check counts as one.
EOF
}

passed=0 failed=0 failures='' runner=''
# check TEXT COMMAND...: one counted check.
check() {
  local text=$1
  shift
  say "== $text"
  if "$@" </dev/null 8>&-; then passed=$((passed + 1)); else failed=$((failed + 1)) failures+="  $text"$'\n'; return 1; fi
}

# cargo_tests NAME CARGO_ARGUMENTS...: lints and builds, and has the tests run while the next are built: many wait, and leave the cores to the compiler.
cargo_tests() {
  local command=(cargo test "${options[@]}" "${@:2}")
  check "$1: cargo clippy and build" "${command[@]}" --no-run --all-targets || return 0
  printf '%s\n' "$1: cargo test" "$(printf '%q ' "${command[@]}")" >&8
}
# cargo_tests_with NAME FEATURES CARGO_ARGUMENTS...: the same with other features, without lints. The programs go elsewhere, because tests may be
# running the others.
cargo_tests_with() {
  local command
  # The features are words separated by spaces.
  # shellcheck disable=SC2206
  command=(env RUSTC_WORKSPACE_WRAPPER= CARGO_TARGET_DIR="$CARGO_TARGET_DIR/features" cargo test "${options[@]}" "${@:3}" $2)
  check "$1: build $2" "${command[@]}" --no-run || return 0
  printf '%s\n' "$1: cargo test $2" "$(printf '%q ' "${command[@]}")" >&8
}
# Runs what stands in the queue, one after the other, and notes per line the tests that passed and failed: the sums of the result lines that
# libtest prints per program. A program that ends early has none and counts as one failure.
run_tests() {
  local title arguments output=target/test.log code
  while IFS= read -r title && IFS= read -r arguments; do
    code=0
    eval "$arguments --no-fail-fast" </dev/null >"$output" 2>&1 || code=$?
    say "== $title (run)"
    cat "$output"
    awk -v code="$code" -v title="$title" '/^test result: / { ok += $4; bad += $6 } END { if (code && !bad) bad = 1; print ok + 0, bad + 0, title }' \
      "$output" >>"$tested"
  done
}
# Waits for the tests and adds up what came of them.
finish_tests() {
  local ok bad title
  exec 8>&-
  wait "$runner" || die 'the tests could not be run (see above)'
  while read -r ok bad title; do
    passed=$((passed + ok)) failed=$((failed + bad))
    [ "$bad" = 0 ] || failures+="  $title ($bad)"$'\n'
  done <"$tested"
}

# check_package NAME CARGO_ARGUMENTS...
check_package() {
  local name=$1 features
  shift
  check "$name: cargo fmt" cargo fmt --all --check --manifest-path "$2" || true
  cargo_tests "$name" "$@"
  # Other sets of features that must work, one line of arguments for cargo each.
  if [ -f "$name/features.txt" ]; then
    while IFS= read -r features; do cargo_tests_with "$name" "$features" "$@"; done <"$name/features.txt"
  fi
}

check_scripts() {
  local file
  if command -v shellcheck >/dev/null; then
    check 'shellcheck' shellcheck scripts/*.sh scripts/layouts-cc scripts/tests/*.sh scripts/tests/toy/*.sh scripts/tests/lib/*.sh stress-test.sh .ci/run || true
  fi
  for file in scripts/tests/*.sh; do check "$file" bash "$file" || true; done
}

main() {
  local name features all='' named tested=target/tested queue=target/test-queue options=("${cargo_options[@]}" --release --locked)
  case ${1:-} in
    -h | --help) usage; exit 0 ;;
    --all) all=yes; shift ;;
  esac
  [ $# -gt 0 ] || { usage >&2; exit 2; }
  "$SCRIPTS/setup.sh" --test
  mkdir -p target
  rm -f "$queue" "$tested"
  mkfifo "$queue"
  touch "$tested"
  # With job control, because without it bash has what runs in the background ignore SIGINT, which some tests send.
  set -m
  run_tests <"$queue" &
  runner=$!
  set +m
  trap 'kill -- "-$runner" 2>/dev/null || true' EXIT
  exec 8>"$queue"
  for name in "$@"; do
    name_package "$name"
    check_package "$name" "${named[@]}"
  done
  if [ -n "$all" ]; then
    check_package measuring --manifest-path Cargo.toml --workspace
    for name in */study/features.txt; do
      name=${name%%/*}
      while IFS= read -r features; do
        cargo_tests_with "${name}_study" "$features" --manifest-path Cargo.toml -p "${name}_study"
      done <"$name/study/features.txt"
    done
    check_scripts
  fi
  finish_tests
  [ "$failed" = 0 ] || printf 'failed:\n%s' "$failures"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] || exit 1
}

main "$@"
