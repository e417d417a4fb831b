#!/usr/bin/env bash
# Does:   helpers for scripts that run many processes: one measurement at a time, clean interruption, progress, whole lines.
# Reads:  the variables of lib.sh; sourced after it.
# Writes: results/.partial/lock while a measurement is under way.

child=''
interruption_note='interrupted'
# Runs a command in a process group of its own, so that an interruption ends all of it at once.
guarded() {
  local code=0
  set -m
  "$@" </dev/null &
  child=$!
  set +m
  wait "$child" || code=$?
  child=''
  return "$code"
}
# For use after `guarded`: sends all output to a file, so that our own messages still reach the terminal.
logged() { local log=$1; shift; exec "$@" >>"$log" 2>&1; }
interrupted() {
  trap '' INT TERM HUP
  if [ -n "$child" ]; then kill -TERM -- "-$child" 2>/dev/null || true; wait "$child" || true; fi
  say ''
  say "$interruption_note"
  exit 130
}
trap interrupted INT TERM HUP

# Two measurements at once would time each other. A run that outlives a killed measurement still holds the lock.
lock() {
  local partial=$ROOT/results/.partial holder
  if ! mkdir -p "$partial" || [ ! -w "$partial" ]; then die "$partial cannot be written: measuring needs a writable results/"; fi
  command -v flock >/dev/null || { lock_by_folder "$partial/lock.d"; return; }
  exec 9>>"$partial/lock"
  if ! flock -n 9; then
    holder=$(cat "$partial/lock")
    if [ -z "$holder" ] || alive "$holder"; then refuse "$holder"; fi
    say "waiting for the last run of a measurement that was killed (pid $holder)"
    flock -w "$ORPHAN_WAIT_S" 9 || die "that run still goes on after $ORPHAN_WAIT_S s: end it, then try again"
  fi
  echo $$ >"$partial/lock"
}
# Where flock is missing (macOS): making a folder is atomic, too.
lock_by_folder() {
  local holder
  if ! mkdir "$1" 2>/dev/null; then
    holder=$(cat "$1/pid" 2>/dev/null || true)
    if [ -z "$holder" ] || alive "$holder"; then refuse "$holder" "(if none is, remove $1)"; fi
    rm -rf "$1"
    mkdir "$1" || refuse ''
  fi
  echo $$ >"$1/pid"
  # shellcheck disable=SC2064  # the path of now is meant
  trap "rm -rf '${1//\'/\'\\\'\'}'" EXIT
}
alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }
refuse() { die "another measurement is under way (pid ${1:-unknown}): wait until it ends, or stop it with Ctrl-C ${2:-}"; }

# progress I N TEXT: one line redrawn on a terminal, otherwise a line at about every tenth of the way.
progress() {
  if [ -t 2 ]; then
    printf '\r\033[K%s/%s  %s' "$1" "$2" "$3" >&2
    [ "$1" -lt "$2" ] || say ''
  elif [ "$1" = 1 ] || [ "$1" = "$2" ] || [ $(($1 * 10 / $2)) -gt $((($1 - 1) * 10 / $2)) ]; then
    say "$1/$2  $3"
  fi
}

# Noise from other programs widens the intervals; it does not make them wrong, so this only warns.
warn_of_load() {
  local load
  load=$(load_average)
  if awk "BEGIN { exit !(${load:-0} > $LOAD_WARNING) }"; then
    say "warning: load average is $load (above $LOAD_WARNING): close other programs for narrower intervals"
  fi
}

# json_line FILE: its content if it is exactly one complete line, else null.
json_line() {
  if [ "$(count_lines "$1")" = 1 ] && [ -z "$(tail -c 1 "$1")" ]; then tr -d '\r\n' <"$1"; else printf null; fi
}
# Drops a last line without a line break: the mark of an interruption.
drop_torn_line() {
  [ -s "$1" ] && [ -n "$(tail -c 1 "$1")" ] || return 0
  head -n "$(count_lines "$1")" "$1" >"$1.whole"
  mv "$1.whole" "$1"
}
