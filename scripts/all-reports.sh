#!/usr/bin/env bash
# Does:   measures the studies, first what README.md shows of all, then the rest one after the other, or calibrates them, or measures their prices,
#         maps or goals alone; after each step it writes the report and prints the answers, the prices, the maps or the goals.
# Reads:  the studies; TRIALS (config.sh).
# Writes: results/, REPORT.md, docs/evidence/, charts/, and what is marked in the README files.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/all-reports.sh [--profile quick|full | --prices | --maps | --goals | --calibrate] [--plan] STUDY...
--prices measures what one handoff costs and nothing else, in the studies that have prices; --maps likewise what each design costs around the
published settings, --goals how far the crates are from their aims, beside what a user would pick.
--calibrate repeats A/A controls of each study TRIALS times instead (default 20): the report says how often the method was wrong.
With --plan it only prints what would run and how long it takes; exit code 1: a study exceeds its budget.
EOF
}

# attempt COMMAND...: 1 means done, but with failures: what follows is still worth having.
attempt() {
  local code=0
  "$@" || code=$?
  [ "$code" -le 1 ] || exit "$code"
  [ "$code" = 0 ] || failed=1
}

main() {
  local studies=() measured=() plan_only='' part=() said=--answers study failed=0
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --plan) plan_only=yes ;;
      --calibrate) part=(--calibrate "$TRIALS") PROFILE=quick ;;
      --prices | --maps | --goals) part=("$1") said=$1 PROFILE=quick ;;
      --profile) [ $# -gt 1 ] || die '--profile takes a value'; PROFILE=$2; shift ;;
      -*) usage >&2; exit 2 ;;
      *) studies+=("$1") ;;
    esac
    shift
  done
  [ ${#studies[@]} -gt 0 ] || { usage >&2; exit 2; }
  for study in "${studies[@]}"; do
    if [ "$said" = --answers ] || has "${said#--}" "$study"; then measured+=("$study"); fi
  done
  [ ${#measured[@]} -gt 0 ] || die "no study has ${said#--}"
  if [ -n "$plan_only" ]; then exec "$SCRIPTS/measure.sh" "${measured[@]}" --profile "$PROFILE" ${part[@]+"${part[@]}"} --plan; fi
  case $PROFILE${part[*]+-} in
    quick | full)
      for study in "${measured[@]}"; do attempt "$SCRIPTS/measure.sh" "$study" --profile "$PROFILE" --first; done
      attempt "$SCRIPTS/report.sh" "$said" "${studies[@]}" ;;
  esac
  # After each study, so that whoever interrupts has a report of what there is.
  for study in "${measured[@]}"; do
    attempt "$SCRIPTS/measure.sh" "$study" --profile "$PROFILE" ${part[@]+"${part[@]}"}
    [ "$PROFILE" = smoke ] || attempt "$SCRIPTS/report.sh" "$said" "${studies[@]}"
  done
  exit "$failed"
}

main "$@"
