#!/usr/bin/env bash
# Does:   repeats test cases under GNU time, the cross-check of peak memory; resumes. measure.sh calls it.
# Reads:  the passes that the plan of FOLDER promises, the binaries in FOLDER.work/bin/.
# Writes: FOLDER/memory.jsonl by `report append`, one line per case and pass.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=guard.sh
source "$SCRIPTS/guard.sh"

# GNU time fills the placeholders (its manual lists them) and writes the object; nothing here parses its usual output.
TIME_FORMAT='{"max_rss_kib":%M,"minor_faults_count":%R,"major_faults_count":%F,"voluntary_switches_count":%w,'
TIME_FORMAT+='"involuntary_switches_count":%c,"wall_s":%e,"user_s":%U,"system_s":%S}'

usage() {
  cat <<'EOF'
usage: scripts/memory.sh STUDY FOLDER
Makes the passes that the plan of FOLDER promises, on the input of seed 0, and records what GNU time measured.
Without GNU time the cases run all the same and their `time` is null.
EOF
}

measure_case() {
  local pass=$1 scenario=$2 arm=$3 build=$4 arguments=$6 code=0
  local command=()
  rm -f "$work/time.json" "$work/record.jsonl"
  [ -z "$gnu_time" ] || command=("$gnu_time" -f "$TIME_FORMAT" -o "$work/time.json")
  # The arguments are words separated by single spaces, by the contract of `arms`.
  # shellcheck disable=SC2206
  command+=("$work/bin/$build/0/${study}_study" $arguments --seed 0 --block 0 --run "memory-$pass" --record "$work/record.jsonl")
  printf '== memory pass %s: %s %s\n' "$pass" "$scenario" "$arm" >>"$log"
  guarded logged "$log" "${command[@]}" || code=$?
  uninterrupted "$report" append memory "$record" --pass "$pass" --scenario "$scenario" --arm "$arm" --exit "$code" \
    --time "$work/time.json" --record "$work/record.jsonl" 2>>"$log" || [ "$?" = 1 ] || die "$(tail -n 1 "$log")"
}

main() {
  case ${1:-} in -h | --help) usage; exit 0 ;; esac
  [ $# = 2 ] || { usage >&2; exit 2; }
  study=$1 record=$2
  work=$record.work
  log=$CARGO_TARGET_DIR/memory-$study.log
  report=$(binary report release)
  [ -d "$work/bin" ] || die "$work/bin is missing: scripts/measure.sh $study makes it"
  gnu_time=$(find_gnu_time) || say "note: no GNU time, so no cross-check of peak memory (make setup says how to get it)"
  interruption_note="interrupted in the memory passes"
  local done_count total row
  done_count=$(count_lines "$record/memory.jsonl")
  "$report" passes "$record" >"$work/passes.tsv" || die 'no cases (see above)'
  total=$(count_lines "$work/passes.tsv")
  while IFS=$'\t' read -r -a row <&3; do
    done_count=$((done_count + 1))
    progress "$done_count" "$total" "memory  ${row[1]}  ${row[2]}"
    measure_case "${row[@]}"
  done 3< <(tail -n "+$((done_count + 1))" "$work/passes.tsv")
}

main "$@"
