#!/usr/bin/env bash
# Does:   runs every test case of every study once, checks the budgets of quick, and that the report is what results/ yields.
# Reads:  the studies, results/, REPORT.md, docs/evidence/, charts/, the README files.
# Writes: target/smoke-results/, target/smoke-report/.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() { echo 'usage: scripts/smoke.sh STUDY...'; }

failed=0
# attempt TEXT COMMAND...: goes on after a failure, which the exit code remembers.
attempt() {
  local text=$1
  shift
  say "smoke: $text"
  "$@" || { say "FAILED: $text"; failed=1; }
}

# The report is a pure function of results/: twice the same bytes, and those are the committed ones.
# shellcheck disable=SC2317  # called through `attempt`
drift() {
  local once=target/smoke-report/once again=target/smoke-report/again file
  "$SCRIPTS/report.sh" --into "$once" "$@" || return
  "$SCRIPTS/report.sh" --into "$again" "$@" || return
  diff -r "$once" "$again" || { say 'rendering twice gave different bytes'; return 1; }
  while IFS= read -r file; do
    diff "$file" "$once/$file" || { say "$file is not what $RESULTS/ yields: run make report"; return 1; }
  done < <(cd "$once" && find . -type f)
  for file in charts docs/evidence; do
    diff -r "$file" "$once/$file" || { say "$file/ holds what $RESULTS/ does not yield: remove it"; return 1; }
  done
}

main() {
  local study
  case ${1:-} in -h | --help) usage; exit 0 ;; '') usage >&2; exit 2 ;; esac
  rm -rf "$SMOKE_RESULTS" target/smoke-report
  for study in "$@"; do
    attempt "every test case of $study" "$SCRIPTS/measure.sh" "$study" --profile smoke
    attempt "the quick plan of $study fits its budget" "$SCRIPTS/measure.sh" "$study" --profile quick --plan
  done
  attempt 'the records are complete' "$(binary report tool)" check "$SMOKE_RESULTS"
  if has_results; then attempt 'the report matches results/' drift "$@"; else
    say "smoke: skipped the comparison of the report: $RESULTS/ holds no measurement yet"; fi
  if [ "$failed" = 0 ]; then say 'smoke: all passed'; fi
  exit "$failed"
}

main "$@"
