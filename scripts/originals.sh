#!/usr/bin/env bash
# Does:   brings the authors' own code at its pinned commit, builds it, and measures it beside our mirrors, study by study.
# Reads:  STUDY/study/original.toml, through the verb `originals` of STUDY_study; the network, or the clones in ORIGINALS_FROM.
# Writes: .tools/originals/STUDY/ (the code; it is no part of this repository), then what measure.sh writes.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/originals.sh [--fetch | --plan] STUDY...
Measures the authors' own programs beside our mirrors of them: do the two agree? --fetch only brings and builds them, --plan only prints what would
run and how long it takes.
ORIGINALS_FROM=DIR takes DIR/NAME or DIR/NAME.git, clones of the repositories, instead of the network.
Their programs run with a time limit and without this environment: no credentials, another home.
Exit codes: 0 done, 1 a source could not be had or runs failed, 2 could not measure.
EOF
}

# alone COMMAND...: in an environment that has nothing of ours but where the tools are.
alone() {
  env -i PATH="$PATH" HOME="$folder/home" CARGO_HOME="$folder/home/cargo" RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" \
    ${RUSTUP_TOOLCHAIN:+RUSTUP_TOOLCHAIN="$RUSTUP_TOOLCHAIN"} LC_ALL=C GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1 "$@"
}

# where URL: what git fetches from.
where() {
  local name=${1##*/} place
  name=${name%.git}
  if [ -z "${ORIGINALS_FROM:-}" ]; then echo "$1"; return; fi
  for place in "$ORIGINALS_FROM/$name" "$ORIGINALS_FROM/$name.git"; do
    if [ -e "$place" ]; then (cd "$place" && pwd -P); return; fi
  done
  return 1
}

# bring NAME URL COMMIT LICENCE BUILD...: clones and builds one source, unless that is done.
bring() {
  local code=$folder/$study/$1 url=$2 commit=$3 licence=$4 remote command wanted
  wanted=$(printf '%s\n' "${@:2}")
  if [ -f "$code.built" ] && [ "$(cat "$code.built")" = "$wanted" ]; then return; fi
  remote=$(where "$url") || { problem="there is no clone of $url in $ORIGINALS_FROM"; return 1; }
  rm -rf "$code" "$code.built"
  mkdir -p "$folder/home" "$folder/$study"
  say "== $study: the authors' code, $url at ${commit:0:7} (licence: $licence)"
  alone git -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=60 clone --quiet --no-checkout "$remote" "$code" >>"$log" 2>&1 ||
    { problem="$remote cannot be cloned"; return 1; }
  alone git -C "$code" checkout --quiet --detach "$commit" >>"$log" 2>&1 || { problem="$remote has no commit $commit"; return 1; }
  # Its name is its content: a branch or tag of that name would be something else.
  [ "$(alone git -C "$code" rev-parse HEAD)" = "$commit" ] || { problem="$commit of $remote is another commit"; return 1; }
  for command in "${@:5}"; do
    say "$command"
    # Our own settings for cargo, which it finds in the folders above, name another place.
    (cd "$code" && alone CARGO_TARGET_DIR="$code/target" sh -c "$command") >>"$log" 2>&1 </dev/null || { problem="'$command' failed, its output is in $log"; return 1; }
  done
  printf '%s\n' "$wanted" >"$code.built"
}

# bring_all: every source of the study.
bring_all() {
  local program facts
  program=$(ready "${study}_study")
  "$program" originals >"$list" || die "'${study}_study originals' failed"
  while IFS=$'\t' read -r -a facts <&3; do bring "${facts[@]}" || return 1; done 3<"$list"
}

main() {
  local fetch='' plan_only='' study studies=() code failed=0 problem='' folder=$ROOT/.tools/originals list log
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --fetch) fetch=yes ;;
      --plan) plan_only=yes ;;
      -*) usage >&2; exit 2 ;;
      *) studies+=("$1") ;;
    esac
    shift
  done
  [ ${#studies[@]} -gt 0 ] || { usage >&2; exit 2; }
  if [ -n "$plan_only" ]; then exec "$SCRIPTS/measure.sh" "${studies[@]}" --profile originals --plan; fi
  [ -z "${ORIGINALS_FROM:-}" ] || [ -d "$ORIGINALS_FROM" ] || die "ORIGINALS_FROM=$ORIGINALS_FROM is no folder"
  need git 'install git'
  # Their code has flags of its own, so that nothing overrules those of the folders above.
  (export CARGO_HOME=$folder/home/cargo OVERRULED_SETTINGS='[^a-z]' && need_rust)
  mkdir -p "$CARGO_TARGET_DIR"
  for study in "${studies[@]}"; do
    [ -f "$study/study/claims.toml" ] || die "'$study' is not a study: no $study/study/claims.toml"
    log=$CARGO_TARGET_DIR/originals-$study.log list=$CARGO_TARGET_DIR/originals-$study.tsv
    : >"$log"
    if ! bring_all; then say "error: $study: $problem"; failed=1; continue; fi
    [ -s "$list" ] || say "$study: its authors' code is a locked dependency"
    [ -z "$fetch" ] || continue
    code=0
    AWAIT_OR_NOT_ORIGINALS=$folder "$SCRIPTS/measure.sh" "$study" --profile originals || code=$?
    [ "$code" -le 1 ] || exit "$code"
    [ "$code" = 0 ] || failed=1
  done
  if [ -z "$fetch" ] && has_results; then "$SCRIPTS/report.sh" --answers "${studies[@]}" || exit; fi
  exit "$failed"
}

main "$@"
