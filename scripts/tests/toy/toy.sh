#!/usr/bin/env bash
# Does:   answers the verbs of a study (docs/FORMAT.md) for scripts/tests/measure.sh; arm `broken` gives a wrong answer, only full asks for scenario `long`.
# Reads:  TOY_TEST_RUN_S, how long one run takes (default 0); TOY_TEST_BAD, the id of a run that records itself as another one.
# Writes: the record, and a line per run to TOY_TEST_CALLS, which tells what was really run.
set -euo pipefail

arms() {
  local arm
  for arm in one two three four five six broken; do printf 'only\t%s\trelease\t0.2\trun --scenario only --arm %s\n' "$arm" "$arm"; done
  for arm in one two three four five six; do printf 'long\t%s\trelease\t100\trun --scenario long --arm %s\n' "$arm" "$arm"; done
}

run() {
  local scenario='' arm='' seed=0 block=0 id=manual record=/dev/stdout answer
  while [ $# -gt 0 ]; do
    case $1 in
      --scenario) scenario=$2 ;;
      --arm) arm=$2 ;;
      --seed) seed=$2 ;;
      --block) block=$2 ;;
      --run) id=$2 ;;
      --record) record=$2 ;;
      *) echo "toy: unknown argument '$1'" >&2; exit 2 ;;
    esac
    shift 2
  done
  sleep "${TOY_TEST_RUN_S:-0}"
  echo "$id" >>"$TOY_TEST_CALLS"
  answer='"digest":"a","metrics":{"work_s":0.0001,"user_s":0.0001,"system_s":0.0,"peak_rss_kib":1,"minor_faults_count":1,'
  answer+='"voluntary_switches_count":1,"involuntary_switches_count":1}'
  [ "$arm" != broken ] || answer='"digest":"","metrics":{},"error":"the answer is wrong"'
  [ "$id" != "${TOY_TEST_BAD:-}" ] || id=other
  printf '{"schema":2,"run":"%s","study":"toy","scenario":"%s","arm":"%s","seed":%s,"block":%s,%s}\n' \
    "$id" "$scenario" "$arm" "$seed" "$block" "$answer" >>"$record"
  [ "$arm" != broken ]
}

verb=$1
shift
case $verb in
  arms) arms "$@" ;;
  prepare) ;;
  run) run "$@" ;;
  probe)
    printf 'cpu_count\t2\t\ncore_count\t2\t\n'
    printf 'probe_%s\t1.5\t\n' arithmetic_ns memory_mb_per_s switch_us hop_us ;;
  *) exit 2 ;;
esac
