#!/usr/bin/env bash
# Does:   checks the recorded results and writes the report from the newest of each study; measures nothing.
# Reads:  results/, STUDY/study/{claims.toml,page.toml}.
# Writes: REPORT.md, docs/evidence/, charts/, the marked blocks of README.md and the goals in STUDY/study/README.md (below --into: the same there).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/report.sh [--answers | --prices | --maps | --goals] [--into FOLDER] STUDY...
What was measured first of a study that is still being measured is part of the report until the rest is there.
--answers prints the answers at the end, --prices what one handoff costs, --maps the maps of these studies. --into writes below FOLDER instead of the repository.
Exit codes: 0 done, 1 done, but some runs failed, 2 could not write the report.
EOF
}

main() {
  local printed='' of=() into=. study file files=(README.md) splices=() code=0 report folder rounds=()
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --answers | --prices | --maps | --goals) printed=${1#--} ;;
      --into) [ $# -gt 1 ] || die '--into takes a folder'; into=$2; shift ;;
      -*) usage >&2; exit 2 ;;
      *) break ;;
    esac
    shift
  done
  [ $# -gt 0 ] || { usage >&2; exit 2; }
  for folder in "$RESULTS" "$FIRST_RESULTS"; do
    if compgen -G "$folder/*/*/SHA256SUMS" >/dev/null; then rounds+=("$folder"); fi
  done
  [ ${#rounds[@]} -gt 0 ] || die "$RESULTS/ holds no measurement yet: make all-reports makes one"
  "$SCRIPTS/build.sh" report tool
  report=$(binary report tool)
  # A study that has not been measured yet has no goals to write.
  for study in "$@"; do
    if compgen -G "$RESULTS/$study/*/SHA256SUMS" >/dev/null; then files+=("$study/study/README.md"); fi
  done
  for file in "${files[@]}"; do
    [ -f "$file" ] || continue
    if [ "$into" != . ]; then mkdir -p "$into/$(dirname "$file")"; cp "$file" "$into/$file"; fi
    splices+=(--splice "$into/$file")
  done
  [ "$printed" != maps ] || for study in "$@"; do of+=(--study "$study"); done
  "$report" render "${rounds[@]}" --out "$into/REPORT.md" --charts "$into/charts" ${splices[@]+"${splices[@]}"} \
    ${printed:+--print "$printed"} ${of[@]+"${of[@]}"} || code=$?
  [ "$code" -le 1 ] || die 'the report could not be written (see above)'
  exit "$code"
}

main "$@"
