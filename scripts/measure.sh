#!/usr/bin/env bash
# Does:   measures one study: every run of its plan once, through hyperfine; resumes what was interrupted.
# Reads:  STUDY/study/{claims.toml,builds.tsv} and the verbs `arms` and `prepare` of STUDY_study.
# Writes: results/.partial/STUDY-PROFILE[-only|-prices|-maps|-goals]/ on the way, results/STUDY/STAMP-PROFILE/ at the end (smoke: target/smoke-results/; --first:
#         target/first-results/).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=guard.sh
source "$SCRIPTS/guard.sh"
# shellcheck source=machine.sh
source "$SCRIPTS/machine.sh"
# shellcheck source=record.sh
source "$SCRIPTS/record.sh"
# shellcheck source=runs.sh
source "$SCRIPTS/runs.sh"

usage() {
  cat <<'EOF'
usage: scripts/measure.sh STUDY [--profile smoke|quick|full|originals] [--only SCENARIO[,SCENARIO...] | --claim ID | --prices | --maps | --goals |
                          --calibrate N | --first] [--close]
       scripts/measure.sh STUDY... [the same] --plan
Measures the study and seals the samples in a folder of its own. Ctrl-C is safe: the same command goes on later.
--plan only prints the test cases, blocks and seconds; it exits 1 if they exceed a study's budget.
--close measures no more: of what was interrupted it seals the blocks that are complete.
--first stops when what README.md shows of the study is measured, and seals a copy of it in target/, which the report shows until the whole is sealed.
--only measures these scenarios of the profile originals. No budget binds them.
--claim measures what one claim asks for, and prints what it says here, what the hosts say and what was published; the samples stay
in target/, the report knows nothing of them.
--prices, --maps and --goals measure only what the prices, maps or goals of claims.toml ask for; the report takes it for a round of them.
--calibrate runs the cheapest A/A controls only, all their blocks N times; the report says how often the method was wrong.
Exit codes: 0 done, 1 done but some runs failed, 2 could not measure, 130 interrupted. Knobs: scripts/config.sh.
EOF
}

parse() {
  studies=() plan_only='' close='' only='' trials='' claim='' alone='' first='' part=() kind=''
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --plan) plan_only=yes ;;
      --close) close=yes ;;
      --first) first=yes ;;
      --profile) [ $# -gt 1 ] || die '--profile takes a value'; PROFILE=$2; shift ;;
      --only) [ -n "${2:-}" ] || die '--only takes scenarios, separated by commas'; only=$2; shift ;;
      --claim) [ -n "${2:-}" ] || die '--claim takes the id of a claim'; claim=$2; shift ;;
      --prices | --maps | --goals) alone=${1#--} ;;
      --calibrate) [ -n "${2:-}" ] || die '--calibrate takes a number of trials'; trials=$2; shift ;;
      -* | '') usage >&2; exit 2 ;;
      *) studies+=("$1") ;;
    esac
    shift
  done
  [ ${#studies[@]} = 1 ] || { [ ${#studies[@]} -gt 1 ] && [ -n "$plan_only" ]; } || { usage >&2; exit 2; }
  case $PROFILE in
    smoke) results=$SMOKE_RESULTS QUIET_WAIT_S=0 LAYOUTS=1 ;;
    quick | full | originals) results=$RESULTS ;;
    *) die "there is no profile '$PROFILE': smoke, quick, full or originals" ;;
  esac
  [ -z "$only" ] || [ "$PROFILE" = originals ] || die '--only is of the profile originals: every other measures all that is asked of it'
  if [ -n "$trials" ]; then
    [ -z "$only" ] || die '--calibrate repeats A/A controls of the study: leave out --only'
    [[ $trials =~ ^[1-9][0-9]{0,3}$ ]] || die "--calibrate takes a number from 1 to 9999, not '$trials'"
  fi
  if [ -n "$first" ]; then
    case $PROFILE$only$trials$claim$alone$close in quick | full) ;; *) die '--first is of a whole measurement, quick or full' ;; esac
  fi
  if [ -n "$claim" ]; then
    [ -z "$only$trials" ] || die '--claim says which scenarios: leave out --only and --calibrate'
    results=$CLAIM_RESULTS/$claim
  fi
  if [ -n "$alone" ]; then
    [ -z "$only$trials$claim" ] || die "--$alone says what is measured: leave out --only, --claim and --calibrate"
    [ "$PROFILE" = quick ] || die "--$alone is of no other profile"
    # No other profile measures goals.
    if [ "$alone" = goals ]; then PROFILE=full; fi
  fi
  need_linux
  layouts=$(layouts_here)
  part=(${only:+--only "$only"} ${trials:+--calibrate "$trials"})
  terms=(--layouts "$layouts" ${part[@]+"${part[@]}"})
  kind=${only:+-only}${trials:+-calibration}${claim:+-claim}${alone:+-$alone}
  choose "${studies[0]}"
}

# The study at hand, and where its files are.
choose() {
  study=$1 home=$1/study program=${1}_study
  [ -f "$home/claims.toml" ] || die "'$study' is not a study: no $home/claims.toml (try --help)"
  [ -z "$claim" ] || grep -qx "id = \"$claim\"" "$home/claims.toml" || die "$study has no claim '$claim'"
  [ -z "$alone" ] || has "$alone" "$study" || die "$study has no $alone"
  record=$results/.partial/$study-$PROFILE$kind
  work=$record.work
  log=$CARGO_TARGET_DIR/measure-$study-$PROFILE$kind.log
}

# Prints the plans without measuring, and builds nothing that is optimised; the exit code is the report's: 1 over budget.
show_plan() {
  local folder folders=() code=0
  report=$(ready report)
  folder=$(mktemp -d)
  for study in "${studies[@]}"; do
    choose "$study"
    stage "$folder/$study"
    folders+=("$folder/$study")
  done
  "$report" plan "${folders[@]}" --profile "$PROFILE" --seed "${SEED:-0}" "${terms[@]}" || code=$?
  rm -rf "$folder"
  exit "$code"
}

# Seals what an interrupted measurement has, if it will not go on.
close_record() {
  if [ ! -f "$work/ready" ] || [ ! -d "$record" ]; then die "$record is not there: no such measurement was interrupted"; fi
  seal --cut
  say "it has $(count_lines "$sealed/seals.tsv") of $(cut -f 2,3 "$sealed/plan.tsv" | sort -u | wc -l | tr -d ' ') blocks"
}

# Seals a copy of what there is, cut where a block ends; the measurement itself goes on later.
show_first() {
  local sealed=$FIRST_RESULTS/$study
  describe after
  rm -rf "$sealed"
  mkdir -p "$sealed"
  sealed+=/$(date -u +%Y%m%dT%H%M%SZ)-$PROFILE
  cp -R "$record" "$sealed"
  "$report" seal "$sealed" --cut || die "$sealed could not be sealed (see above)"
  say "measured first of $study: $runs of $(count_lines "$record/plan.tsv") runs"
}

# What the claim says here, on all hosts whose rounds are kept, and as published; here alone if those cannot be read.
print_claim() {
  local only_this=(--study "$study" --claim "$claim")
  if has_results && "$report" verdicts "$results" "$RESULTS" "${only_this[@]}"; then return; fi
  "$report" verdicts "$results" "${only_this[@]}"
}

measure() {
  [ "${FAST_BUILDS:-}" != yes ] || [ "$PROFILE" = smoke ] || die 'FAST_BUILDS=yes makes builds that are not worth measuring'
  hyperfine=$(find_hyperfine) || die "no hyperfine from 1.15 to 2.0 was found: run make setup"
  open_record
  interruption_note="interrupted: $record is kept, the same command goes on from there"
  # It was ended after the seal, before it was moved.
  if [ -f "$record/SHA256SUMS" ]; then seal; return; fi
  runs=$(count_lines "$record/plan.tsv")
  [ -z "$first" ] || runs=$("$report" first "$record")
  prepare
  measure_plan
  if [ -n "$first" ]; then
    [ "$runs" = 0 ] || show_first
    return
  fi
  measure_memory
  seal
}

main() {
  parse "$@"
  [ -z "$plan_only" ] || show_plan
  # First of all: a build, too, would disturb a measurement that is under way.
  lock
  build report tool
  report=$(binary report tool)
  if [ -n "$close" ]; then close_record; else measure; fi
  [ -z "$claim" ] || print_claim
  failures=$(count_lines "$work/failed")
  [ -n "$first" ] || rm -rf "$work"
  [ "$failures" = 0 ] || { say "$failures runs failed; they are recorded as failures, their output is in $log"; exit 1; }
}

main "$@"
