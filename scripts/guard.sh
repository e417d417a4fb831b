#!/usr/bin/env bash
# Does:   helpers for scripts that run many processes: one measurement at a time, clean interruption, progress, whole lines.
# Reads:  MEASURING_LOCK, QUIET_CORES, QUIET_WAIT_S, ORPHAN_WAIT_S (config.sh); sourced after lib.sh.
# Writes: the file MEASURING_LOCK while a measurement is under way.

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

# Runs a command that Ctrl-C must not end in the middle of a line; it is a matter of milliseconds.
uninterrupted() { (trap '' INT TERM HUP; exec "$@"); }

# Two measurements at once would time each other, of whichever clone and user. A run that outlives a killed measurement still holds the lock.
# It is opened for reading, so that a file of another user serves as well; only the pid cannot be written into that one.
lock() {
  local holder
  need flock 'install util-linux'
  # Whoever is first makes it readable for all. What is no file is refused below.
  [ -e "$MEASURING_LOCK" ] || (set -o noclobber; umask 022; : >"$MEASURING_LOCK") 2>/dev/null || true
  if [ ! -f "$MEASURING_LOCK" ] || ! { exec 9<"$MEASURING_LOCK"; } 2>/dev/null; then
    die "the lock $MEASURING_LOCK cannot be read: remove it, or name another file in MEASURING_LOCK, the same for all clones"
  fi
  if ! flock -n 9; then
    if [ ! -O "$MEASURING_LOCK" ]; then refuse '' "the lock $MEASURING_LOCK is a file of the user $(stat -c %U "$MEASURING_LOCK")"; fi
    holder=$(cat <&9)
    if [ -z "$holder" ] || alive "$holder"; then refuse "$holder"; fi
    say "waiting for the last run of a measurement that was killed (pid $holder)"
    flock -w "$ORPHAN_WAIT_S" 9 || die "that run still goes on after $ORPHAN_WAIT_S s: end it, then try again"
  fi
  if [ -O "$MEASURING_LOCK" ] && [ ! -L "$MEASURING_LOCK" ]; then echo $$ >"$MEASURING_LOCK"; fi
}
# build ARGUMENT...: build.sh, without the lock: what a build leaves behind, like the server of a compiler cache, must not hold it.
build() { "$SCRIPTS/build.sh" "$@" 9>&-; }
alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }
refuse() { die "another measurement is under way on this machine (pid ${1:-unknown}): wait until it ends, or stop it with Ctrl-C${2:+ ($2)}"; }

# progress I N TEXT: one line redrawn on a terminal, otherwise a line at about every tenth of the way.
progress() {
  if [ -t 2 ]; then
    printf '\r\033[K%s/%s  %s' "$1" "$2" "$3" >&2
    [ "$1" -lt "$2" ] || say ''
  elif [ "$1" = 1 ] || [ "$1" = "$2" ] || [ $(($1 * 10 / $2)) -gt $((($1 - 1) * 10 / $2)) ]; then
    say "$1/$2  $3"
  fi
}

# Cores at work or taken away by the hypervisor over 2 s.
busy_cores() {
  { head -n 1 /proc/stat; sleep 2; head -n 1 /proc/stat; } |
    awk -v hertz="$(getconf CLK_TCK)" '{ busy[NR] = $2 + $3 + $4 + $7 + $8 + $9 } END { printf "%.2f", (busy[2] - busy[1]) / hertz / 2 }'
}
# Waits for others to finish, waited_s seconds. Their noise widens the intervals, it does not make them wrong: so not for ever.
wait_for_quiet() {
  local busy
  waited_s=0
  while [ "$waited_s" -lt "$QUIET_WAIT_S" ]; do
    busy=$(busy_cores)
    if awk "BEGIN { exit !($busy <= $QUIET_CORES) }"; then break; fi
    [ "$waited_s" != 0 ] || say "waiting up to $QUIET_WAIT_S s for a quiet machine: others keep $busy cores busy"
    waited_s=$((waited_s + 2))
  done
  if [ "$waited_s" != 0 ] && [ "$waited_s" -ge "$QUIET_WAIT_S" ]; then
    say "note: others still keep $busy cores busy after $waited_s s: measuring all the same, with wider intervals"
  fi
}
