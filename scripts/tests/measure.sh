#!/usr/bin/env bash
# Does:   tests measure.sh with a study in bash, the real hyperfine and the real report, in a copy of scripts/ elsewhere.
# Reads:  scripts/, scripts/tests/toy/, report/.
# Writes: what expect.sh says.
# shellcheck disable=SC2016,SC2317  # the tests are called by their names, and what they print into files is code
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"

# A repository with one study. Its cargo only copies: what is tested is the shell layer.
make_repository() {
  mkdir -p "$repo/toy/study" "$repo/report" "$repo/bin" "$repo/.tools/bin"
  cp scripts/tests/toy/*.toml "$repo/toy/study/"
  touch "$repo/Cargo.toml" "$repo/Cargo.lock" "$repo/toy/Cargo.toml" "$repo/report/Cargo.toml"
  cp "$(find_hyperfine)" "$repo/.tools/bin/hyperfine"
  mkdir -p "$repo/made" "$repo/target/release" "$repo/target/debug" "$repo/target/tool"
  cp "$report" "$repo/made/report"
  cp scripts/tests/toy/toy.sh "$repo/made/toy_study"
  printf '#!/bin/sh\n[ "$1" = build ] || exec %s "$@"\necho "$*" >>"$TOY_TEST_BUILDS"\nfor to in release debug tool; do cp made/* "target/$to/"; done\n' \
    "$(command -v cargo)" >"$repo/bin/cargo"
  printf '#!/bin/sh\ncat <<"EOF"\nModel name: a \\ and a "quote"\nCPU family: 25\nEOF\n' >"$repo/bin/lscpu"
  chmod +x "$repo/bin"/*
  # No lock but our own: somebody may really be measuring on this machine, and nobody shall wait until it is quiet.
  cp -R "$repo" "$temp/clone"
  export TOY_TEST_CALLS=$temp/calls TOY_TEST_BUILDS=$temp/builds MEASURING_LOCK=$temp/lock QUIET_WAIT_S=0 LAYOUTS=1
}
# A caller in the background may have told us to ignore Ctrl-C, which a shell cannot take back; GNU env can.
listening=()
if env --default-signal=INT true 2>/dev/null; then listening=(env --default-signal=INT); fi
measure() { (cd / && PATH=$repo/bin:$PATH exec ${listening[@]+"${listening[@]}"} "$repo/scripts/measure.sh" toy "$@" >"$out" 2>&1); }
measure_clone() { local repo=$temp/clone; measure "$@"; }
# start_slow RUNS ARGUMENT...: starts a measurement of slow runs in a process group of its own and waits until so many are recorded.
start_slow() {
  local runs=$1
  shift
  set -m
  TOY_TEST_RUN_S=0.3 out=$temp/slow measure "$@" &
  job=$!
  set +m
  for _ in {1..200}; do [ "$(count_lines "$partial/runs.jsonl")" -lt "$runs" ] || break; sleep 0.1; done
  pid=$(cat "$MEASURING_LOCK")
}
# interrupted_after RUNS ARGUMENT...: the same, and ends it then.
interrupted_after() {
  start_slow "$@"
  kill -TERM "$pid"
  wait "$job" || true
}
newest() { find "$repo/results/toy" -mindepth 1 -maxdepth 1 | sort | tail -n 1; }
planned() { cut -f 1 "$1/plan.tsv"; }
# unpacked LOG: of the newest round.
unpacked() { gzip -dc "$(newest)/$1.jsonl.gz"; }
recorded() { gzip -dc "$1/runs.jsonl.gz" | sed 's/^{"run":"\([^"]*\)".*/\1/'; }

a_whole_folder() { same "$(planned "$(newest)")" "$(recorded "$(newest)")" && (cd "$(newest)" && sha256 -c SHA256SUMS >/dev/null); }
test_every_planned_run_is_made_once_in_order_and_sealed() {
  same 1 "$(exit_code measure)" && a_whole_folder && same 7 "$(count_lines "$(newest)/cases.tsv")" &&
    same 2 "$(unpacked memory | grep -c .)" && same 9 "$(count_lines "$TOY_TEST_CALLS")"
}
test_a_failed_run_is_recorded_without_a_time() { [ "$(unpacked runs | grep -c '"exit":1,"hyperfine":null,"record":{.*"error"')" = 1 ] && says '1 runs failed'; }
resumes_after() { # resumes_after SIGNAL EXIT_CODE
  local code=0
  start_slow 3
  kill "-$1" "$pid"
  wait "$job" 2>/dev/null || code=$?
  same "$2" "$code" || return
  [ "$1" != KILL ] || printf '{"run":"toy-' >>"$partial/runs.jsonl"
  same 1 "$(exit_code measure)" && says resuming && same "$(planned "$(newest)")" "$(recorded "$(newest)")"
}
test_a_killed_measurement_resumes_and_drops_the_torn_line() { resumes_after KILL 137; }
test_a_terminated_measurement_exits_130_and_resumes() { resumes_after TERM 130; }
test_ctrl_c_exits_130_and_resumes() { resumes_after INT 130; }
test_a_record_of_another_run_ends_the_measurement_which_resumes() {
  same 2 "$(TOY_TEST_BAD=toy-0004 exit_code measure)" && says 'run toy-0004' && says other || return
  same 3 "$(count_lines "$partial/runs.jsonl")" && same 1 "$(exit_code measure)" && says 'after 3 of 7' && a_whole_folder
}
test_a_backslash_in_the_name_of_a_processor_loses_nothing() { grep -qF '"a \\ and a \"quote\""' "$(newest)/machine.json"; }
test_a_second_measurement_at_the_same_time_is_refused_by_name_from_another_clone_too() {
  local result=0
  start_slow 3
  same 2 "$(exit_code measure)" && says "(pid $pid)" && same 2 "$(exit_code measure_clone)" && says "(pid $pid)" || result=1
  kill -TERM "$pid"
  wait "$job" || true
  return "$result"
}
test_a_changed_claim_moves_the_interrupted_measurement_aside() {
  echo '# another claim' >>"$repo/toy/study/claims.toml"
  same 1 "$(exit_code measure)" && says 'moved it to' && [ -s "$partial.stale-1/runs.jsonl" ]
}
test_what_is_complete_of_an_interrupted_measurement_can_be_sealed() {
  local sealed partial=$repo/results/.partial/toy-full
  same 2 "$(exit_code measure --profile full --close)" && says 'no such measurement' || return
  # One block has six runs, the other seven.
  interrupted_after 9 --profile full
  exit_code measure --profile full --close >/dev/null
  says '1 of 2' || return
  sealed=$(newest)
  [[ $sealed == *-full ]] && [ ! -e "$partial" ] && same 1 "$(count_lines "$sealed/seals.tsv")" &&
    same "$(planned "$sealed" | head -n "$(cut -f 3 "$sealed/seals.tsv")")" "$(recorded "$sealed")"
}
test_what_is_shown_first_is_measured_first_and_the_rest_follows() {
  local partial=$repo/results/.partial/toy-full first=$repo/target/first-results/toy
  same 1 "$(exit_code measure --profile full --first)" && says '7 of 13 runs' && same 7 "$(count_lines "$partial/runs.jsonl")" &&
    same only "$(sed 's/.*"scenario":"\([a-z]*\)".*/\1/' "$partial/runs.jsonl" | sort -u)" || return
  # What it finds is the run that fails.
  ! "$report" check "$first" >/dev/null 2>"$out" && says ' 1 findings' || return
  same 1 "$(exit_code measure --profile full)" && says 'after 7 of 13' && [ ! -e "$first" ] && a_whole_folder
}
test_a_smoke_measurement_never_reaches_results() {
  local before
  before=$(newest)
  same 1 "$(exit_code measure --profile smoke)" && same "$before" "$(newest)" && compgen -G "$repo/target/smoke-results/toy/*/SHA256SUMS" >/dev/null
}
test_one_claim_is_measured_and_judged_apart() {
  local before
  before=$(newest)
  same 2 "$(exit_code measure --claim Y9)" && says "no claim 'Y9'" && same 2 "$(exit_code measure --claim Y2 --profile originals --only long)" || return
  [ "$(exit_code measure --claim Y2)" -le 1 ] && says "Y2: the first case" && says 'here: ' && says 'range: ' && says 'published: none' && ! says Y1 && same "$before" "$(newest)" &&
    compgen -G "$repo/target/claim-results/Y2/toy/*/SHA256SUMS" >/dev/null
}
test_prices_are_measured_alone_and_are_a_round_of_their_own() {
  local claims=$repo/toy/study/claims.toml
  same 2 "$(exit_code measure --prices)" && says 'toy has no prices' && same 2 "$(exit_code measure --prices --claim Y2)" || return
  cp "$claims" "$temp/claims.toml"
  printf '%s\n' '[[price]]' 'id = "call"' 'text = "a call"' 'unit = "ms"' 'metric = "work_s"' 'async = "two"' 'scenarios = ["long"]' \
    'blocks = { quick = 2 }' 'use = "{async}"' >>"$claims"
  same 0 "$(exit_code measure --prices --plan)" && says '2 runs' && same 0 "$(exit_code measure --prices)" || return
  mv "$temp/claims.toml" "$claims"
  [[ $(newest) == *-prices ]] && a_whole_folder && ! grep -q 'claim' "$(newest)/claims.toml" && same 2 "$(unpacked runs | grep -c .)"
}
test_goals_are_measured_alone_and_are_a_round_of_their_own() {
  same 0 "$(exit_code measure --goals --plan)" && says '13 runs' && same 1 "$(exit_code measure --goals)" || return
  [[ $(newest) == *-goals ]] && a_whole_folder && ! grep -Fq "[[claim]]" "$(newest)/claims.toml" && same 13 "$(unpacked runs | grep -c .)"
}
test_maps_are_measured_alone_and_are_a_round_of_their_own() {
  local claims=$repo/toy/study/claims.toml
  same 2 "$(exit_code measure --maps)" && says 'toy has no maps' || return
  cp "$claims" "$temp/claims.toml"
  printf '%s\n' '[[map]]' 'id = "length"' 'text = "How long?"' 'x = { metric = "work_s", label = "length" }' 'y = { metric = "work_s", label = "time" }' \
    'arms = ["one", "two"]' 'scenarios = ["only", "long"]' 'blocks = { quick = 2 }' >>"$claims"
  same 0 "$(exit_code measure --maps --plan)" && says '8 runs' && same 0 "$(exit_code measure --maps)" || return
  mv "$temp/claims.toml" "$claims"
  [[ $(newest) == *-maps ]] && a_whole_folder && ! grep -q 'claim' "$(newest)/claims.toml" && same 8 "$(unpacked runs | grep -c .)"
}
test_builds_that_only_tests_want_are_not_measured() {
  same 2 "$(FAST_BUILDS=yes exit_code measure)" && says 'not worth measuring' &&
    same 1 "$(FAST_BUILDS=yes exit_code measure --profile smoke)"
}
test_some_scenarios_are_measured_and_resumed_in_a_folder_of_their_own() {
  local sealed
  same 2 "$(exit_code measure --profile originals --only longer)" && says "no scenario 'longer'" && says 'long only' || return
  same 2 "$(exit_code measure --profile full --only long)" && says 'of the profile originals' || return
  same 2 "$(exit_code measure --profile originals --first)" && says 'of a whole measurement' || return
  same 0 "$(exit_code measure --profile originals --only long --plan)" && says '6 runs, about 600 s' || return
  rm -f "$TOY_TEST_CALLS"
  partial=$repo/results/.partial/toy-originals-only
  interrupted_after 3 --profile originals --only long
  same 0 "$(exit_code measure --profile originals --only long)" && says resuming || return
  sealed=$(newest)
  same "$(planned "$sealed")" "$(recorded "$sealed")" && same long "$(cut -f 3 "$sealed/plan.tsv" | sort -u)" &&
    same 6 "$(count_lines "$sealed/cases.tsv")" && "$report" check "$sealed" 2>"$out"
}
test_a_plan_builds_nothing_optimized_and_nothing_at_all_where_nothing_is_newer() {
  local directory name
  : >"$TOY_TEST_BUILDS"
  same 0 "$(exit_code measure --plan)" && says toy && ! grep -q -e --release "$TOY_TEST_BUILDS" && grep -q 'build.*toy_study' "$TOY_TEST_BUILDS" || return
  # What cargo would leave: the sources of each executable, with a backslash before a space.
  for name in tool/report release/toy_study; do
    directory=${repo// /\\ }
    echo "$directory/target/$name: $directory/toy/Cargo.toml" >"$repo/target/$name.d"
    touch "$repo/target/$name"
  done
  : >"$TOY_TEST_BUILDS"
  same 0 "$(exit_code measure --plan)" && same 0 "$(count_lines "$TOY_TEST_BUILDS")" || return
  touch -t 209901010000 "$repo/toy/Cargo.toml"
  same 0 "$(exit_code measure --plan)" && grep -q 'build.*toy_study' "$TOY_TEST_BUILDS" && ! grep -q -e --release "$TOY_TEST_BUILDS"
}
test_a_plan_over_the_budget_exits_1() {
  sed -i.old 's/quick_s = 60/quick_s = 1/' "$repo/toy/study/claims.toml"
  same 0 "$(PROFILE=smoke exit_code measure --plan)" && same 1 "$(exit_code measure --plan)"
}

main() {
  find_hyperfine >/dev/null || die 'no hyperfine: run make setup'
  "$SCRIPTS/build.sh" report tool
  report=$(binary report tool)
  unset FAST_BUILDS # what is tested measures
  make_repository
  partial=$repo/results/.partial/toy-quick
  run_tests
}

main "$@"
