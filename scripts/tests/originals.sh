#!/usr/bin/env bash
# Does:   tests originals.sh with a tiny repository instead of the authors' and a study in bash, in a copy of scripts/ elsewhere.
# Reads:  scripts/.
# Writes: what expect.sh says.
# shellcheck disable=SC2016,SC2317  # the tests are called through `expect`, and what builds is code
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

is_built_apart() {
  source_is https://example.org/authors/theirs "$wanted" 'echo "${SECRET:-none} $HOME" >built'
  fetch && same "$(cat "$(code version)")" first && same "$(cat "$(code built)")" "none $repo/.tools/originals/home"
}
is_not_built_twice() { echo kept >"$(code version)"; fetch && same "$(cat "$(code version)")" kept; }
is_built_again_when_the_build_changes() { source_is https://example.org/authors/theirs "$wanted" true; fetch && same "$(cat "$(code version)")" first; }
is_cloned_from_a_url() { local from=''; source_is "file://$temp/clones/theirs" "$wanted" 'echo by url >built'; fetch && same "$(cat "$(code built)")" 'by url'; }
refuses_another_commit() {
  source_is https://example.org/authors/theirs 0123456789012345678901234567890123456789 true
  same "$(exit_code fetch)" 1 && says 'error: toy: .* has no commit 0123' && [ ! -e "$(code .).built" ]
}
refuses_a_branch_of_that_name() {
  local name=1111111111111111111111111111111111111111
  git -C "$temp/clones/theirs" branch "x-$name"
  source_is https://example.org/authors/theirs "x-$name" true
  same "$(exit_code fetch)" 1
}
says_what_is_missing() {
  source_is https://example.org/authors/others "$wanted" true
  same "$(exit_code fetch)" 1 && says 'error: toy: there is no clone of https://example.org/authors/others'
}
goes_on_after_a_build_that_fails() {
  source_is https://example.org/authors/theirs "$wanted" 'echo broken; false'
  same "$(exit_code fetch)" 1 && says "error: toy: 'echo broken; false' failed" && grep -q broken "$repo/target/originals-toy.log"
}
starts_again_after_an_interruption() {
  source_is https://example.org/authors/theirs "$wanted" 'kill -9 $PPID'
  same "$(exit_code fetch)" 1 || return
  source_is https://example.org/authors/theirs "$wanted" 'cp version built'
  fetch && same "$(cat "$(code built)")" first
}
asks_for_a_folder() { local from=$temp/nowhere; same "$(exit_code fetch)" 2 && says 'is no folder'; }
knows_its_studies() { local study=other; same "$(exit_code fetch)" 2 && says "'other' is not a study"; }

main() {
  make_theirs
  make_ours
  expect 'the code is checked out at its commit and built without our environment' is_built_apart
  expect 'what is built is left alone' is_not_built_twice
  expect 'another build command starts from a clean copy' is_built_again_when_the_build_changes
  expect 'without local clones the URL is cloned' is_cloned_from_a_url
  expect 'a commit that is not there is refused' refuses_another_commit
  expect 'a branch is no commit' refuses_a_branch_of_that_name
  expect 'a clone that is not there is named, exit 1' says_what_is_missing
  expect 'a build that fails is named, exit 1, with its output in the log' goes_on_after_a_build_that_fails
  expect 'an interrupted build is begun again' starts_again_after_an_interruption
  expect 'ORIGINALS_FROM must be a folder' asks_for_a_folder
  expect 'a study that there is not is refused' knows_its_studies
  exit "$failed"
}

main "$@"
