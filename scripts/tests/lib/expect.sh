#!/usr/bin/env bash
# Does:   what the tests of scripts have in common; they source it after lib.sh and end with `exit "$failed"`.
# Reads:  scripts/; the file named by `out`, the output of the command under test.
# Writes: one line per expectation to stdout; a temporary folder, removed at the end.

temp=$(mktemp -d) out=$temp/out
trap 'rm -rf "$temp"' EXIT
# A copy of scripts/ elsewhere, in a path that needs quoting.
repo=$temp/"a path with 'quotes'"
mkdir "$repo"
cp -R scripts "$repo/"

failed=0
expect() { # expect SENTENCE COMMAND...
  local sentence=$1
  shift
  # shellcheck disable=SC2034  # the test exits with it
  if "$@"; then echo "ok: $sentence"; else echo "FAILED: $sentence"; failed=1; tail -n 15 "$out"; fi
}
exit_code() { local code=0; "$@" || code=$?; echo "$code"; }
says() { grep -q -- "$1" "$out"; }
same() { [ "$1" = "$2" ] || { echo "  '$1' is not '$2'"; return 1; }; }
