#!/usr/bin/env bash
# Does:   what the tests of scripts have in common; they source it after lib.sh and end with `exit "$failed"`.
# Reads:  the file named by `out`, the output of the command under test.
# Writes: one line per expectation to stdout.
# shellcheck shell=bash disable=SC2154  # out is set by the test

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
