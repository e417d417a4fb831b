#!/usr/bin/env bash
# Does:   prepares the inputs of a plan and makes its runs, one process each, then the passes under GNU time, the cross-check of peak memory;
#         sourced by measure.sh, which sets the variables.
# Reads:  FOLDER/plan.tsv and the passes that the plan promises, the binaries in FOLDER.work/bin/.
# Writes: FOLDER/runs.jsonl, seals.tsv and memory.jsonl by `report append`; the output of the runs goes to a log below target/.
# shellcheck shell=bash disable=SC2154  # program, report, hyperfine, record, work, runs and log are set by measure.sh

# GNU time fills the placeholders (its manual lists them) and writes the object; nothing here parses its usual output.
TIME_FORMAT='{"max_rss_kib":%M,"minor_faults_count":%R,"major_faults_count":%F,"voluntary_switches_count":%w,'
TIME_FORMAT+='"involuntary_switches_count":%c,"wall_s":%e,"user_s":%U,"system_s":%S}'

# Inputs are made before the first run, so that no run pays for them; those of the first $runs of the plan.
prepare() {
  local scenario seed
  while read -r scenario seed; do
    guarded "$work/bin/release/0/$program" prepare --scenario "$scenario" --seed "$seed" ||
      die "'$program prepare --scenario $scenario --seed $seed' failed (see above)"
  done < <(awk -F '\t' -v runs="$runs" 'NR <= runs { print $3 "\t" $7 }' "$record/plan.tsv" | sort -u)
}

# One run of the plan is recorded, whether it succeeds or not; what is no record of it ends the measurement here, not at the seal.
measure_run() {
  local id=$1 block=$2 build=$5 layout=$6 seed=$7 arguments=$9 code=0
  progress "$at" "$total" "$3  $4  about ${10} left"
  rm -f "$work/hyperfine.json" "$work/record.jsonl"
  printf '== %s %s %s\n' "$id" "$3" "$4" >>"$log"
  guarded logged "$log" "$hyperfine" -N -r 1 --style none --output inherit --export-json "$work/hyperfine.json" \
    "$(quote "$work/bin/$build/$layout/$program") $arguments --seed $seed --block $block --run $id --record $(quote "$work/record.jsonl")" || code=$?
  uninterrupted "$report" append runs "$record" --run "$id" --exit "$code" --hyperfine "$work/hyperfine.json" --record "$work/record.jsonl" \
    2>>"$log" && return
  # What `report append` said of it is the last line of the log.
  [ "$?" = 1 ] || die "$(tail -n 1 "$log") (run $id: $record is kept, the same command goes on from there)"
  echo "$id" >>"$work/failed"
}

# each_left RECORDS TABLE COMMAND: runs the command, in which `at` counts up to `total`, with the columns of each row that has no record yet.
each_left() {
  local at total row
  at=$(count_lines "$1") total=$(count_lines "$2")
  while IFS=$'\t' read -r -a row <&3; do
    at=$((at + 1))
    "$3" "${row[@]}"
  done 3< <(tail -n "+$((at + 1))" "$2")
}

measure_plan() {
  # A tenth column is the time left, from the expected seconds of the plan.
  awk -F '\t' -v runs="$runs" 'FNR > runs { next }
    NR == FNR { left += $8; next }
    { print $0 "\t" (left < 120 ? sprintf("%.0f s", left) : sprintf("%.0f min", left / 60)); left -= $8 }' \
    "$record/plan.tsv" "$record/plan.tsv" >"$work/plan.tsv"
  each_left "$record/runs.jsonl" "$work/plan.tsv" measure_run
}

# measure_case PASS SCENARIO ARM BUILD SECONDS ARGUMENTS: on the input of seed 0. Without GNU time it runs all the same and its `time` is null.
measure_case() {
  local pass=$1 scenario=$2 arm=$3 build=$4 arguments=$6 code=0 command=()
  progress "$at" "$total" "memory  $scenario  $arm"
  rm -f "$work/time.json" "$work/record.jsonl"
  [ -z "$gnu_time" ] || command=("$gnu_time" -f "$TIME_FORMAT" -o "$work/time.json")
  # The arguments are words separated by single spaces, by the contract of `arms`.
  # shellcheck disable=SC2206
  command+=("$work/bin/$build/0/$program" $arguments --seed 0 --block 0 --run "memory-$pass" --record "$work/record.jsonl")
  printf '== memory pass %s: %s %s\n' "$pass" "$scenario" "$arm" >>"$log"
  guarded logged "$log" "${command[@]}" || code=$?
  uninterrupted "$report" append memory "$record" --pass "$pass" --scenario "$scenario" --arm "$arm" --exit "$code" \
    --time "$work/time.json" --record "$work/record.jsonl" 2>>"$log" || [ "$?" = 1 ] || die "$(tail -n 1 "$log")"
}

measure_memory() {
  local gnu_time
  gnu_time=$(find_gnu_time) || say "note: no GNU time, so no cross-check of peak memory (make setup says how to get it)"
  "$report" passes "$record" >"$work/passes.tsv" || die 'no cases (see above)'
  each_left "$record/memory.jsonl" "$work/passes.tsv" measure_case
}
