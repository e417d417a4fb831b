#!/usr/bin/env bash
# Does:   repeats the cheapest A/A control of each study, then writes the report, which says how often the method was wrong.
# Reads:  the studies; TRIALS (config.sh).
# Writes: results/STUDY/STAMP-calibration/, REPORT.md, charts/, and the tables in the README files.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/calibrate.sh [--plan] STUDY...
Measures one A/A control per study TRIALS times (default 20). With --plan it only prints what would run and for how long.
EOF
}

main() {
  local studies=() plan_only='' study code failed=0
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --plan) plan_only=--plan ;;
      -*) usage >&2; exit 2 ;;
      *) studies+=("$1") ;;
    esac
    shift
  done
  [ ${#studies[@]} -gt 0 ] || { usage >&2; exit 2; }
  for study in "${studies[@]}"; do
    code=0
    "$SCRIPTS/measure.sh" "$study" --profile quick --calibrate "$TRIALS" ${plan_only:+--plan} || code=$?
    # 1 means measured, but with failures: the other studies are still worth having.
    [ "$code" -le 1 ] || exit "$code"
    [ "$code" = 0 ] || failed=1
  done
  # A calibration stands beside a measurement; without one there is no report to write.
  if [ -z "$plan_only" ] && has_results; then "$SCRIPTS/report.sh" "${studies[@]}" || exit; fi
  exit "$failed"
}

main "$@"
