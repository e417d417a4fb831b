#!/usr/bin/env bash
# Does:   builds a package with cargo, in its locked versions.
# Reads:  the manifests and lock files, and STUDY/study/builds.tsv for a build with a name of its own.
# Writes: target/; several layouts as target/layouts/BUILD/STUDY_study.LAYOUT.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/build.sh [--layouts N] PACKAGE [BUILD...]
Builds a crate, `report`, or the measurement of a study (STUDY_study) as `release` (the default), `dev`, `tool` (quickly built, for what is not
measured), or a name from STUDY/study/builds.tsv.
--layouts links it N times, with its functions in another order each time, and checks that all have the same functions.
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
  local crate=$1 name=$2 row environment='' arguments='' executable named
  name_package "$crate"
  executable=$(binary "$crate" "$name")
  case $name in
    release)
      arguments=--release
      # In haste one build serves all that measure: the one that the tests have made, whose features are those of all targets.
      case ${FAST_BUILDS:-}:$crate in
        yes:*_study | yes:report) named=(--manifest-path "$ROOT/Cargo.toml" --workspace) arguments+=' --all-targets' ;;
      esac ;;
    tool)
      if [ "${FAST_BUILDS:-}" = yes ]; then build "$crate" release; return; fi
      arguments='--profile tool' ;;
    dev) if [ "${FAST_BUILDS:-}" = yes ]; then build_dev_fast "$crate"; return; fi ;;
    *)
      row=$(build_row "$crate" "$name")
      IFS=$'\t' read -r _ environment arguments <<<"$row"
      [ "$environment" != - ] || environment=''
      # Its executable goes elsewhere, but what it shares with other builds is not built again.
      export CARGO_TARGET_DIR=$CARGO_TARGET_DIR/$name ;;
  esac
  # What cargo puts there is new, or it is missing: nothing older passes for it.
  rm -f "$executable"
  if [ "$layouts" -gt 1 ]; then build_layouts; else run_cargo build; fi
}

# run_cargo VERB [ARGUMENT...]: in the environment and with the arguments of the build at hand.
run_cargo() {
  local verb=$1
  shift
  # Both are words separated by spaces, by the contract of builds.tsv.
  # shellcheck disable=SC2086
  env $environment cargo "$verb" ${cargo_options[@]+"${cargo_options[@]}"} --locked "${named[@]}" $arguments "$@" ||
    die "cargo could not build $crate ($name)"
}

# One compilation, several links. `cargo rustc` gives the linker to the program alone: as a setting it would build all it depends on again.
build_layouts() {
  local try
  LAYOUTS_AS=$(layout_prefix "$crate" "$name")
  export LAYOUTS=$layouts LAYOUTS_AS
  mkdir -p "${LAYOUTS_AS%/*}"
  for try in 1 2; do
    run_cargo rustc --bin "$crate" -- -C "linker=$SCRIPTS/layouts-cc"
    if layouts_are_whole; then check_layouts; return; fi
    # Cargo found all fresh, but the layouts are of another time: it links again what is missing.
    [ "$try" = 2 ] || find "$ROOT/target" -samefile "$executable" -delete
  done
  die "$LAYOUTS_AS.0 is not $executable: run make clean, then try again"
}
layouts_are_whole() {
  local layout
  cmp -s "$LAYOUTS_AS.0" "$executable" || return 1
  for ((layout = 1; layout < layouts; layout++)); do [ -f "$LAYOUTS_AS.$layout" ] || return 1; done
}

# Other layouts of the same code: the same functions of the same sizes, nowhere at the same addresses.
check_layouts() {
  local layout digest same='' addresses=''
  for ((layout = 0; layout < layouts; layout++)); do
    digest=$(symbols_sha256 "$LAYOUTS_AS.$layout")
    [ "${same:=$digest}" = "$digest" ] || die "$LAYOUTS_AS.$layout has other functions than $LAYOUTS_AS.0: run make clean, then try again"
    addresses+=$(nm "$LAYOUTS_AS.$layout" | sha256 -)$'\n'
  done
  [ "$(printf %s "$addresses" | sort -u | wc -l)" -eq "$layouts" ] ||
    die "the linker left the functions of $crate ($name) in their order: LAYOUTS=1 measures one layout"
}

main() {
  local crate name layouts=1
  if [ "${1:-}" = --layouts ] && [ $# -gt 1 ]; then layouts=$2; shift 2; fi
  crate=${1:-}
  case $crate in -h | --help) usage; exit 0 ;; '' | -*) usage >&2; exit 2 ;; esac
  shift
  need_rust
  [ -f "${crate%_study}/Cargo.toml" ] || die "there is no crate '$crate' here"
  [ $# -gt 0 ] || set -- release
  for name in "$@"; do
    (build "$crate" "$name") # a subshell, because the target folder of one build must not reach the next
    [ -x "$(binary "$crate" "$name")" ] || die "cargo built no executable '$crate' for the build '$name'"
  done
}

main "$@"
