#!/usr/bin/env bash
# Does:   tests that the program of every study fails where what it prints cannot be written.
# Reads:  the studies.
# Writes: what expect.sh says.
# shellcheck disable=SC2317  # the tests are called by their names
export FAST_BUILDS=yes
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"

# each COMMAND ARGUMENT...: with every study's program as the last argument.
each() {
  local study
  for study in */study; do
    study=${study%/study}_study
    "$@" "$(binary "$study" release)" || { echo "  $study"; return 1; }
  done
}
to_nobody() { "$@" >&- 2>"$out"; }
to_a_full_disk() { "$@" >/dev/full 2>"$out"; }
# closed VERB PROGRAM, and the same for a full disk. A verb is words.
# shellcheck disable=SC2086
closed() { same 2 "$(exit_code to_nobody "$2" $1)" && says '^error: cannot write to standard output: it is closed$' && same 1 "$(count_lines "$out")"; }
# shellcheck disable=SC2086
full() { same 2 "$(exit_code to_a_full_disk "$2" $1)" && says 'cannot write to standard output: No space left'; }
# cheapest PROGRAM: sets `case` to the words of its cheapest case, whose input is made.
cheapest() {
  local scenario
  IFS=$'\t' read -r scenario _ _ _ case < <("$1" arms --profile smoke | sort -t $'\t' -k 4,4n)
  "$1" prepare --scenario "$scenario" >&- 2>"$out"
}
runs() { local case; cheapest "$2" && "$1" "$case" "$2"; }
# shellcheck disable=SC2086  # words
recorded() { local case; cheapest "$1" && rm -f "$temp/record" && to_nobody "$1" $case --record "$temp/record" && same 1 "$(count_lines "$temp/record")"; }

test_a_closed_output_is_an_error_of_every_verb_of_every_study() {
  local verb
  for verb in '' arms 'arms --profile full' originals probe --help 'run --help'; do each closed "$verb" || { echo "  $verb"; return 1; }; done
  each runs closed
}
test_so_is_a_full_disk() {
  local verb
  [ -e /dev/full ] || return 0
  for verb in arms probe --help; do each full "$verb" || { echo "  $verb"; return 1; }; done
  each runs full
}
test_a_record_in_a_file_needs_no_output() { each recorded; }

main() {
  # What the tests of the workspace have built, with the same features.
  cargo build "${cargo_options[@]}" --release --locked --workspace --all-targets
  run_tests
}

main "$@"
