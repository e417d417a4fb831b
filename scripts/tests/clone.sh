#!/usr/bin/env bash
# Does:   tests that a clone has the bytes that were committed, whatever git is told to do with line ends, and that a crate works elsewhere.
# Reads:  the repository.
# Writes: what expect.sh says.
# shellcheck disable=SC2317  # the tests are called by their names
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"

# The files as they stand here become a repository, and that is cloned by somebody with such settings. No other settings count.
make_clones() {
  local way git=(git --git-dir "$temp/origin" --work-tree . -c user.name=us -c user.email=us@example.org)
  export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
  git init --quiet --bare "$temp/origin"
  "${git[@]}" add --all
  "${git[@]}" commit --quiet -m all
  for way in autocrlf=true autocrlf=input eol=crlf; do
    git clone --quiet --config "core.$way" "$temp/origin" "$temp/$way" >>"$out" 2>&1
  done
  printf '* text=auto eol=crlf\n' >"$temp/attributes"
  git clone --quiet --config core.attributesFile="$temp/attributes" "$temp/origin" "$temp/attributesFile" >>"$out" 2>&1
}
# in_clones COMMAND...: in each of them.
in_clones() {
  local clone
  for clone in "$temp"/autocrlf=* "$temp/eol=crlf" "$temp/attributesFile"; do (cd "$clone" && "$@") >"$out" 2>&1 || { echo "  with core.${clone##*/}"; return 1; }; done
}

same_bytes() {
  [ "$(git ls-files | wc -l)" -gt 100 ] && [ -z "$(git status --porcelain)" ] &&
    diff <(git ls-files | git hash-object --no-filters --stdin-paths) <(git ls-files --stage | cut -d ' ' -f 2)
}
test_every_file_of_a_clone_has_the_bytes_that_were_committed() { in_clones same_bytes; }
scripts_are_parsed() { local file; for file in scripts/*.sh scripts/layouts-cc scripts/tests/*.sh stress-test.sh .ci/run; do bash -n "$file" || return; done && make -s help && scripts/measure.sh --help; }
test_scripts_and_makefile_of_a_clone_work() { in_clones scripts_are_parsed && says 'make all-reports\|usage'; }
seals_hold() { local seal; for seal in results/*/*/SHA256SUMS; do (cd "${seal%/*}" && sha256 -c SHA256SUMS) || return; done; }
test_sealed_results_of_a_clone_are_whole() { ! has_results || in_clones seals_hold; }

loaded() { cargo metadata --offline --no-deps --format-version 1 --manifest-path "$1/Cargo.toml" >"$out" 2>&1; }
# A workspace of somebody who took a crate home, into its folder.
test_each_crate_is_a_dependency_in_a_workspace_of_others() {
  local crate
  for crate in */study; do
    crate=${crate%/study}
    mkdir -p "$temp/app-$crate/src"
    cp -R "$temp/autocrlf=true/$crate" "$temp/app-$crate/"
    touch "$temp/app-$crate/src/lib.rs"
    printf '[workspace]\n[package]\nname = "app"\nedition = "2024"\n[dependencies]\n%s = { path = "%s" }\n' "$crate" "$crate" >"$temp/app-$crate/Cargo.toml"
    if ! { loaded "$temp/app-$crate" && says "\"name\":\"$crate\""; }; then echo "  $crate"; return 1; fi
  done
}
test_each_crate_is_a_project_of_its_own_here_and_in_a_copy() {
  local crate place
  for crate in */study; do
    crate=${crate%/study}
    mkdir -p "$temp/alone"
    cp -R "$temp/autocrlf=true/$crate" "$temp/alone/"
    for place in "$temp/autocrlf=true" "$temp/alone"; do
      if ! { loaded "$place/$crate" && says "\"workspace_root\":\"$place/$crate\""; }; then echo "  $place/$crate"; return 1; fi
    done
  done
}

main() {
  need git 'install git'
  make_clones
  run_tests
}

main "$@"
