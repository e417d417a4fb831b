#!/usr/bin/env bash
# Does:   the sweep of the original: txn_engine over 21 file sizes, in sync or async mode, as a table of four columns.
# Reads:  nothing; the transactions come from a seed, so that every mode gets the same file.
# Writes: results/.stress/STAMP-MODE.jsonl, a new file each time; the table goes to stdout.
# shellcheck source=scripts/lib.sh
source "$(dirname "$(readlink -f "$0")")/scripts/lib.sh" || exit 2

usage() {
  cat <<'EOF'
usage: ./stress-test.sh [async] [--max N] [--step N] [--seed N]

Runs 100, 100100, 200100, ... 2000100 transactions and prints time and memory of each size.
  async       the async engine; without it the sync one
  --max N     the largest number of transactions (default 2000100)
  --step N    the distance between two sizes (default 100000)
  --seed N    the seed of the transactions (default 0)

examples: ./stress-test.sh async
          ./stress-test.sh --max 500100
EOF
}

# number OPTION VALUE
number() {
  case $2 in '' | *[!0-9]* | ??????????????????*) die "$1 takes a whole number of at most 17 digits, not '$2' (try --help)" ;; esac
  echo "$((10#$2))"
}

main() {
  local mode='' max=2000100 step=100000 seed=0 stamp record output engine size
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      async) mode=async ;;
      --max) max=$(number "$1" "${2:-}"); shift ;;
      --step) step=$(number "$1" "${2:-}"); shift ;;
      --seed) seed=$(number "$1" "${2:-}"); shift ;;
      *) say "error: unknown argument '$1'"; usage >&2; exit 2 ;;
    esac
    shift
  done
  [ "$max" -ge 100 ] || die '--max must be at least 100, the smallest size'
  [ "$step" -ge 1 ] || die '--step must be at least 1'
  { : >&1; } 2>/dev/null || die 'standard output is closed'

  "$SCRIPTS/build.sh" txn_engine
  engine=$(binary txn_engine release)
  mkdir -p results/.stress || die 'results/.stress cannot be written'
  stamp=$(date -u +%Y%m%dT%H%M%SZ)
  record=results/.stress/$stamp-${mode:-sync}.jsonl
  # Two sweeps may start in the same second: the second one takes another name.
  until (set -o noclobber && : >"$record") 2>/dev/null; do
    [ -e "$record" ] || die "$record cannot be written"
    record=${record%.jsonl}+.jsonl
  done
  # An interrupted test cannot remove its generated file.
  TMPDIR=$(mktemp -d) || die 'no temporary folder can be made'
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
  trap 'say "interrupted: the sizes so far are in $record"; exit 130' INT TERM
  for ((size = 100; size <= max; size += step)); do
    say "Running stress test ${mode:+$mode }for $size transactions..."
    # shellcheck disable=SC2086  # no mode is no word
    output=$("$engine" $mode stress-test "$size" --seed "$seed" --record "$record" 2>&1) ||
      { say "$output"; die "txn_engine failed at $size transactions; the sizes before it are in $record"; }
  done
  "$engine" stress-table "$record"
}

main "$@"
