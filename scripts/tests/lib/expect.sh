#!/usr/bin/env bash
# Does:   what the tests of scripts have in common; they source it after lib.sh and end with `run_tests`.
# Reads:  scripts/; the file named by `out`, the output of the command under test.
# Writes: one line per test to stdout; a temporary folder, removed at the end.

temp=$(mktemp -d) out=$temp/out
trap 'rm -rf "$temp"' EXIT
# A copy of scripts/ elsewhere, in a path that needs quoting.
repo=$temp/"a path with 'quotes'"
mkdir "$repo"
cp -R scripts "$repo/"
# What is built there stays there.
export -n CARGO_TARGET_DIR

# run_tests: each function test_... of the script, in their order; what is printed is its name, a sentence. None is a failure, too.
run_tests() {
  local test failed=''
  while read -r test <&3; do
    if "test_$test"; then failed=${failed:-0}; echo "ok: ${test//_/ }"; else echo "FAILED: ${test//_/ }"; failed=1; tail -n 15 "$out"; fi
  done 3< <(sed -n 's/^test_\([^ (]*\)() {.*/\1/p' "$SCRIPTS/tests/${0##*/}")
  exit "${failed:-1}"
}
exit_code() { local code=0; "$@" || code=$?; echo "$code"; }
says() { grep -q -- "$1" "$out"; }
same() { [ "$1" = "$2" ] || { echo "  '$1' is not '$2'"; return 1; }; }
