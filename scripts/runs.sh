#!/usr/bin/env bash
# Does:   prepares the inputs of a plan and makes its runs, one process each; sourced by measure.sh, which sets the variables.
# Reads:  FOLDER/plan.tsv, the binaries in FOLDER.work/bin/.
# Writes: FOLDER/runs.jsonl, one line per run; the output of the runs goes to a log below target/.
# shellcheck shell=bash disable=SC2154  # program, hyperfine, record, work and log are set by measure.sh

# Inputs are made before the first run, so that no run pays for them.
prepare() {
  local scenario seed
  while read -r scenario seed; do
    guarded "$work/bin/release/$program" prepare --scenario "$scenario" --seed "$seed" ||
      die "'$program prepare --scenario $scenario --seed $seed' failed (see above)"
  done < <(cut -f 3,6 "$record/plan.tsv" | sort -u)
}

# One run of the plan becomes one line of runs.jsonl, whether it succeeds or not.
measure_run() {
  local id=$1 block=$2 build=$5 seed=$6 arguments=$8 code=0 samples=null result
  rm -f "$work/hyperfine.json" "$work/record.jsonl"
  printf '== %s %s %s\n' "$id" "$3" "$4" >>"$log"
  guarded logged "$log" "$hyperfine" -N -r 1 --style none --output inherit --export-json "$work/hyperfine.json" \
    "$(quote "$work/bin/$build/$program") $arguments --seed $seed --block $block --run $id --record $(quote "$work/record.jsonl")" || code=$?
  # hyperfine leaves an empty file for a failed command.
  if [ "$code" = 0 ]; then samples=$(tr -d '\r\n' <"$work/hyperfine.json"); fi
  result=$(json_line "$work/record.jsonl")
  if [ "$code" != 0 ] || [ "$result" = null ]; then echo "$id" >>"$work/failed"; fi
  printf '{"run":"%s","exit":%d,"hyperfine":%s,"record":%s}\n' "$id" "$code" "$samples" "$result" >>"$record/runs.jsonl"
}

measure_plan() {
  local done_count total row left
  done_count=$(count_lines "$record/runs.jsonl")
  total=$(count_lines "$record/plan.tsv")
  # The ninth column is the time left, from the expected seconds of the plan.
  while IFS=$'\t' read -r -a row <&3; do
    done_count=$((done_count + 1))
    left=${row[8]}
    progress "$done_count" "$total" "${row[2]}  ${row[3]}  about $left left"
    measure_run "${row[@]}"
  done 3< <(awk -F '\t' 'NR == FNR { left += $7; next }
      { print $0 "\t" (left < 120 ? sprintf("%.0f s", left) : sprintf("%.0f min", left / 60)); left -= $7 }' \
    "$record/plan.tsv" "$record/plan.tsv" | tail -n "+$((done_count + 1))")
}
