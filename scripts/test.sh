#!/usr/bin/env bash
# Does:   checks crates (format, lints, tests) and, with --all, what measures them and the shell layer; goes on after a failure, fails at the end.
# Reads:  the crates, scripts/.
# Writes: target/.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/test.sh [--all] PACKAGE...
Each package: cargo fmt --check, clippy without warnings, cargo test; a study is its crate. --all: also the workspace of the root, with what
measures all studies, shellcheck and scripts/tests/*.sh.
The last line is "N passed, N failed": every test of cargo and every check counts as one.
EOF
}

passed=0 failed=0 failures=''
# check TEXT COMMAND...: one counted check.
check() {
  local text=$1
  shift
  say "== $text"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) failures+="  $text"$'\n'; fi
}

# Adds up the result line that libtest prints per test binary; a build that fails has none and counts as one failure.
cargo_tests() {
  local crate=$1 features=$2 output=target/test-$1.log code=0 ok bad
  shift 2
  say "== $crate: cargo test $features"
  # The features are words separated by spaces.
  # shellcheck disable=SC2086
  cargo test ${cargo_options[@]+"${cargo_options[@]}"} ${test_options[@]+"${test_options[@]}"} --locked --no-fail-fast \
    "$@" $features </dev/null 2>&1 | tee "$output" || code=$?
  read -r ok bad < <(awk '/^test result: / { ok += $4; bad += $6 } END { print ok + 0, bad + 0 }' "$output")
  if [ "$code" != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
  passed=$((passed + ok)) failed=$((failed + bad))
  [ "$bad" = 0 ] || failures+="  $crate: cargo test $features ($bad)"$'\n'
}

# check_package NAME CARGO_ARGUMENTS...
check_package() {
  local name=$1 features
  shift
  check "$name: cargo fmt" cargo fmt --all --check --manifest-path "$2"
  # As the tests are built, because what both need, like procedural macros, is then built once.
  check "$name: cargo clippy" cargo clippy ${cargo_options[@]+"${cargo_options[@]}"} ${test_options[@]+"${test_options[@]}"} --locked \
    --all-targets "$@" -- -D warnings
  cargo_tests "$name" '' "$@"
  # Other sets of features that must work, one line of arguments for cargo each.
  if [ -f "$name/features.txt" ]; then
    while IFS= read -r features; do cargo_tests "$name" "$features" "$@"; done <"$name/features.txt"
  fi
}

check_scripts() {
  local file
  if command -v shellcheck >/dev/null; then
    check 'shellcheck' shellcheck scripts/*.sh scripts/layouts-cc scripts/tests/*.sh scripts/tests/toy/*.sh scripts/tests/lib/*.sh stress-test.sh .ci/run
  fi
  for file in scripts/tests/*.sh; do check "$file" bash "$file"; done
}

main() {
  local name features all='' named
  case ${1:-} in
    -h | --help) usage; exit 0 ;;
    --all) all=yes; shift ;;
  esac
  [ $# -gt 0 ] || { usage >&2; exit 2; }
  "$SCRIPTS/setup.sh" --test
  mkdir -p target
  for name in "$@"; do
    name_package "$name"
    check_package "$name" "${named[@]}"
  done
  if [ -n "$all" ]; then
    check_package measuring --manifest-path Cargo.toml --workspace
    for name in */study/features.txt; do
      name=${name%%/*}
      while IFS= read -r features; do
        cargo_tests "${name}_study" "$features" --manifest-path Cargo.toml -p "${name}_study"
      done <"$name/study/features.txt"
    done
    check_scripts
  fi
  [ "$failed" = 0 ] || printf 'failed:\n%s' "$failures"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] || exit 1
}

main "$@"
