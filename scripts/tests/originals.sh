#!/usr/bin/env bash
# Does:   tests originals.sh with a tiny repository instead of the authors' and a study in bash, in a copy of scripts/ elsewhere.
# Reads:  scripts/.
# Writes: what expect.sh says.
# shellcheck disable=SC2016,SC2317  # the tests are called by their names, and what builds is code
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"

# The authors' repository: two commits, of which the study wants the first; its build says what it knows of us.
make_theirs() {
  local git=(git -C "$temp/clones/theirs" -c user.name=them -c user.email=them@example.org)
  mkdir -p "$temp/clones/theirs"
  git init --quiet "$temp/clones/theirs"
  echo first >"$temp/clones/theirs/version"
  "${git[@]}" add version
  "${git[@]}" commit --quiet -m first
  wanted=$("${git[@]}" rev-parse HEAD)
  "${git[@]}" commit --quiet --allow-empty -m second
}
# A repository with one study, whose program lists one source.
make_ours() {
  mkdir -p "$repo/toy/study" "$repo/target/release"
  touch "$repo/Cargo.toml" "$repo/Cargo.lock" "$repo/toy/Cargo.toml" "$repo/toy/study/claims.toml"
  printf '#!/bin/sh\ncat "%s"\n' "$temp/sources" >"$repo/target/release/toy_study"
  chmod +x "$repo/target/release/toy_study"
  printf 'toy_study: \n' >"$repo/target/release/toy_study.d"
  touch "$repo/target/release/toy_study"
}
# source_is URL COMMIT BUILD
source_is() { printf 'code\t%s\t%s\tnone stated\t%s\n' "$@" >"$temp/sources"; }
fetch() { (cd / && SECRET=mine ORIGINALS_FROM=${from-$temp/clones} "$repo/scripts/originals.sh" --fetch "${study-toy}" >"$out" 2>&1); }
code() { echo "$repo/.tools/originals/toy/code/$1"; }

test_the_code_is_checked_out_at_its_commit_and_built_without_our_environment() {
  source_is https://example.org/authors/theirs "$wanted" 'echo "${SECRET:-none} $HOME" >built'
  fetch && same "$(cat "$(code version)")" first && same "$(cat "$(code built)")" "none $repo/.tools/originals/home"
}
test_what_is_built_is_left_alone() {
  echo kept >"$(code version)"
  fetch && same "$(cat "$(code version)")" kept
}
test_another_build_command_starts_from_a_clean_copy() {
  source_is https://example.org/authors/theirs "$wanted" true
  fetch && same "$(cat "$(code version)")" first
}
test_without_local_clones_the_url_is_cloned() {
  local from=''
  source_is "file://$temp/clones/theirs" "$wanted" 'echo by url >built'
  fetch && same "$(cat "$(code built)")" 'by url'
}
test_a_commit_that_is_not_there_is_refused() {
  source_is https://example.org/authors/theirs 0123456789012345678901234567890123456789 true
  same "$(exit_code fetch)" 1 && says 'error: toy: .* has no commit 0123' && [ ! -e "$(code .).built" ]
}
test_a_branch_is_no_commit() {
  local name=1111111111111111111111111111111111111111
  git -C "$temp/clones/theirs" branch "x-$name"
  source_is https://example.org/authors/theirs "x-$name" true
  same "$(exit_code fetch)" 1
}
test_a_clone_that_is_not_there_is_named() {
  source_is https://example.org/authors/others "$wanted" true
  same "$(exit_code fetch)" 1 && says 'error: toy: there is no clone of https://example.org/authors/others'
}
test_a_build_that_fails_is_named_with_its_output_in_the_log() {
  source_is https://example.org/authors/theirs "$wanted" 'echo broken; false'
  same "$(exit_code fetch)" 1 && says "error: toy: 'echo broken; false' failed" && grep -q broken "$repo/target/originals-toy.log"
}
test_an_interrupted_build_is_begun_again() {
  source_is https://example.org/authors/theirs "$wanted" 'kill -9 $PPID'
  same "$(exit_code fetch)" 1 || return
  source_is https://example.org/authors/theirs "$wanted" 'cp version built'
  fetch && same "$(cat "$(code built)")" first
}
test_originals_from_must_be_a_folder() {
  local from=$temp/nowhere
  same "$(exit_code fetch)" 2 && says 'is no folder'
}
test_a_study_that_there_is_not_is_refused() {
  local study=other
  same "$(exit_code fetch)" 2 && says "'other' is not a study"
}

test_a_plan_brings_and_measures_nothing() {
  cp "$repo/scripts/measure.sh" "$temp/measure.sh"
  printf '#!/bin/sh\necho "$@"\n' >"$repo/scripts/measure.sh"
  (cd / && "$repo/scripts/originals.sh" --plan toy other >"$out" 2>&1)
  mv "$temp/measure.sh" "$repo/scripts/measure.sh"
  same 'toy other --profile originals --plan' "$(cat "$out")"
}

test_flags_for_the_compiler_above_the_clone_are_refused_because_they_reach_the_authors_code() {
  mkdir -p "$temp/.cargo"
  printf '[build]\nrustflags = ["-C", "opt-level=0"]\n' >"$temp/.cargo/config.toml"
  source_is https://example.org/authors/theirs "$wanted" true
  same "$(exit_code fetch)" 2 && says "build.rustflags in $temp/.cargo/config.toml"
}

main() {
  make_theirs
  make_ours
  run_tests
}

main "$@"
