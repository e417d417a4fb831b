#!/usr/bin/env bash
# Does:   builds a package with cargo, in its locked versions.
# Reads:  the manifests and lock files, and STUDY/study/builds.tsv for a build with a name of its own.
# Writes: target/.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/build.sh PACKAGE [BUILD...]
Builds a crate, `report`, or the measurement of a study (STUDY_study) as `release` (the default), `dev`, or a name from STUDY/study/builds.tsv.
EOF
}

# Under FAST_BUILDS release is hardly optimised and has the checks of dev: there is nothing that another build would add.
build_dev_fast() {
  local dev
  build "$1" release
  dev=$(binary "$1" dev)
  mkdir -p "${dev%/*}"
  rm -f "$dev" # cargo links it to a file of its own, which must not be written over
  cp "$(binary "$1" release)" "$dev"
}

build() {
  local crate=$1 name=$2 row environment='' arguments='' named
  name_package "$crate"
  case $name in
    release)
      arguments=--release
      # In haste one build serves all that measure: the one that the tests have made.
      if [ "${FAST_BUILDS:-}" = yes ] && [ "$crate" != "${crate%_study}" ]; then named=(--manifest-path "$ROOT/Cargo.toml" --workspace); fi ;;
    dev) if [ "${FAST_BUILDS:-}" = yes ]; then build_dev_fast "$crate"; return; fi ;;
    *)
      row=$(build_row "$crate" "$name")
      IFS=$'\t' read -r _ environment arguments <<<"$row"
      [ "$environment" != - ] || environment=''
      # Its executable goes elsewhere, but what it shares with other builds is not built again.
      export CARGO_BUILD_BUILD_DIR=$CARGO_TARGET_DIR CARGO_TARGET_DIR=$CARGO_TARGET_DIR/$name ;;
  esac
  # Both are words separated by spaces, by the contract of builds.tsv.
  # shellcheck disable=SC2086
  env $environment cargo build ${cargo_options[@]+"${cargo_options[@]}"} --locked \
    "${named[@]}" $arguments ||
    die "cargo could not build $crate ($name)"
}

main() {
  local crate=${1:-} name
  case $crate in -h | --help) usage; exit 0 ;; '') usage >&2; exit 2 ;; esac
  shift
  need cargo 'install Rust from https://rustup.rs'
  [ -f "${crate%_study}/Cargo.toml" ] || die "there is no crate '$crate' here"
  [ $# -gt 0 ] || set -- release
  for name in "$@"; do
    (build "$crate" "$name") # a subshell, because the target folder of one build must not reach the next
    [ -x "$(binary "$crate" "$name")" ] || die "cargo built no executable '$crate' for the build '$name'"
  done
}

main "$@"
