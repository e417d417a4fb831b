#!/usr/bin/env bash
# Does:   measures one study: every run of its plan once, through hyperfine; resumes what was interrupted.
# Reads:  STUDY/study/{claims.toml,page.toml,builds.tsv} and the verbs `arms` and `prepare` of STUDY_study.
# Writes: results/.partial/STUDY-PROFILE[-only]/ on the way, results/STUDY/STAMP-PROFILE/ at the end (smoke: target/smoke-results/).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=guard.sh
source "$SCRIPTS/guard.sh"
# shellcheck source=record.sh
source "$SCRIPTS/record.sh"
# shellcheck source=runs.sh
source "$SCRIPTS/runs.sh"

usage() {
  cat <<'EOF'
usage: scripts/measure.sh STUDY [--profile smoke|quick|full] [--only SCENARIO[,SCENARIO...] [--blocks N] | --calibrate N] [--plan]
Measures the study and seals the samples in a folder of its own. Ctrl-C is safe: the same command goes on later.
--plan only prints the test cases, blocks and seconds; it exits 1 if they exceed the study's budget.
--only measures these scenarios, --blocks at most so many blocks of each: the report shows them, marked, where the newest
whole measurement has none. No budget binds them.
--calibrate runs the cheapest A/A control only, all its blocks N times; the report says how often the method was wrong.
Exit codes: 0 done, 1 done but some runs failed, 2 could not measure, 130 interrupted. Knobs: scripts/config.sh.
EOF
}

parse() {
  study='' plan_only='' only='' blocks='' trials='' part=() kind=''
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --plan) plan_only=yes ;;
      --profile) [ $# -gt 1 ] || die '--profile takes a value'; PROFILE=$2; shift ;;
      --only) [ -n "${2:-}" ] || die '--only takes scenarios, separated by commas'; only=$2; shift ;;
      --blocks) [ -n "${2:-}" ] || die '--blocks takes a number'; blocks=$2; shift ;;
      --calibrate) [ -n "${2:-}" ] || die '--calibrate takes a number of trials'; trials=$2; shift ;;
      -* | '') usage >&2; exit 2 ;;
      *) study=$1 ;;
    esac
    shift
  done
  [ -n "$study" ] || { usage >&2; exit 2; }
  home=$study/study program=${study}_study
  [ -f "$home/claims.toml" ] || die "'$study' is not a study: no $home/claims.toml (try --help)"
  case $PROFILE in
    smoke) results=$SMOKE_RESULTS memory_passes=$MEMORY_PASSES_SMOKE ;;
    quick) results=$RESULTS memory_passes=$MEMORY_PASSES_QUICK ;;
    full) results=$RESULTS memory_passes=$MEMORY_PASSES_FULL ;;
    *) die "there is no profile '$PROFILE': smoke, quick or full" ;;
  esac
  if [ -n "$blocks" ]; then
    [ -n "$only" ] || die '--blocks needs --only: a whole measurement has the blocks that its claims ask for'
    [[ $blocks =~ ^[1-9][0-9]{0,3}$ ]] || die "--blocks takes a number from 1 to 9999, not '$blocks'"
    # A pass under GNU time runs every case once more: never more of them than blocks.
    [ "$memory_passes" -le "$blocks" ] || memory_passes=$blocks
  fi
  if [ -n "$trials" ]; then
    [ -z "$only" ] || die '--calibrate repeats an A/A control of the study: leave out --only'
    [[ $trials =~ ^[1-9][0-9]{0,3}$ ]] || die "--calibrate takes a number from 1 to 9999, not '$trials'"
    memory_passes=0
  fi
  part=(${only:+--only "$only"} ${blocks:+--blocks "$blocks"} ${trials:+--calibrate "$trials"})
  kind=${only:+-only}${trials:+-calibration}
  record=$results/.partial/$study-$PROFILE$kind
  work=$record.work
  log=$CARGO_TARGET_DIR/measure-$study-$PROFILE$kind.log
  report=$(binary report release)
}

# Prints the plan without measuring; the exit code is the report's: 1 over budget.
show_plan() {
  local folder code=0
  folder=$(mktemp -d)
  stage "$folder/plan"
  "$report" plan "$folder/plan" --profile "$PROFILE" --seed "${SEED:-0}" ${part[@]+"${part[@]}"} --show || code=$?
  rm -rf "$folder"
  exit "$code"
}

main() {
  parse "$@"
  "$SCRIPTS/build.sh" report
  "$SCRIPTS/build.sh" "$program"
  [ -z "$plan_only" ] || show_plan
  [ "${FAST_BUILDS:-}" != yes ] || [ "$PROFILE" = smoke ] || die 'FAST_BUILDS=yes makes builds that are not worth measuring'
  hyperfine=$(find_hyperfine) || die "no hyperfine from 1.15 to 2.0 was found: run make setup"
  lock
  open_record
  interruption_note="interrupted: $record is kept, the same command goes on from there"
  warn_of_load
  prepare
  measure_plan
  guarded "$SCRIPTS/memory.sh" "$study" "$record" "$PROFILE" "$memory_passes" || die "the memory passes failed (see above)"
  seal
  failures=$(count_lines "$work/failed")
  rm -rf "$work"
  [ "$failures" = 0 ] || { say "$failures runs failed; they are recorded as failures, their output is in $log"; exit 1; }
}

main "$@"
