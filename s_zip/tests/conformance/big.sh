#!/usr/bin/env bash
# Does:   makes archives past 4 GiB (entries, offsets) with s_zip and has other programs read them; some minutes.
# Reads:  the s_zip binary and the check programs beside this file; CI=true makes a missing program a failure.
# Writes: a folder of its own below FOLDER (up to 10 GB at a time), removed at the end.
set -Eeuo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export LC_ALL=C.UTF-8 TZ=UTC GOTOOLCHAIN=local GOFLAGS=''

usage() { echo 'usage: big.sh S_ZIP FOLDER [announced|piped|below|offsets]...' >&2; exit 2; }
say() { printf '%s\n' "$*" >&2; }

passed=0 failed=0
# judge ARCHIVE TEXT COMMAND...: one counted check, with its time.
judge() {
  local archive=$1 text=$2 start=$SECONDS
  shift 2
  if "$@" >log 2>&1; then
    passed=$((passed + 1))
    say "ok      $archive: $text ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    say "FAILED  $archive: $text ($((SECONDS - start)) s): $(head -c 500 log)"
  fi
}

# have PROGRAM PACKAGE
have() {
  if command -v "$1" >/dev/null; then return; fi
  if [ "${CI:-}" = true ]; then
    failed=$((failed + 1))
    say "FAILED  $1 is missing (apt-get install $2)"
  else
    say "skipped: $1 is missing (apt-get install $2)"
  fi
  return 1
}

# facts FILE: name in hexadecimal, size, CRC.
facts() {
  printf '%s\t%s\t%s\n' "$(printf %s "$1" | od -An -tx1 | tr -d ' \n')" "$(wc -c <"$1" | tr -d ' ')" "$(crc "$1")"
}
# gzip ends in the CRC and the size, the lowest byte first.
crc() { gzip -1 <"$1" | tail -c 8 | od -An -tx1 -N4 | awk '{ print $4 $3 $2 $1 }'; }

# same PROGRAM...: its lines, cut to the three facts, are those of the file `wanted`.
same() { "$@" | grep -v -e '^#' -e '^comment' | cut -f 1-3 | diff wanted - >&2; }
whole_pipe() { bsdtar -xOf - <"$1" | cmp - data; }
whole_file() { bsdtar -xOf "$1" | cmp - data; }
# Java reads it both ways and prints the same twice.
java_both() { java "$HERE/Check.java" "$1" | grep -v '^#' | diff <(cat wanted wanted) - >&2; }
silent() { "$@" >said 2>&1; local code=$?; cat said; [ "$code" = 0 ] && [ ! -s said ]; }

# validate ARCHIVE: `wanted` has the facts of its entries, `data` the data of all.
validate() {
  local archive=$1 name=${1%.zip} seven
  judge "$name" 's_zip test' "$S_ZIP" test "$archive" --limit-ratio 2000
  if have unzip unzip; then
    judge "$name" 'unzip -t' silent unzip -tqq "$archive"
    if have zip zip; then judge "$name" 'zip -T' zip -T "$archive"; fi
  fi
  if have python3 python3; then judge "$name" 'Python zipfile' same python3 -I "$HERE/check.py" "$archive"; fi
  if have bsdtar libarchive-tools; then
    judge "$name" 'bsdtar, a file' whole_file "$archive"
    judge "$name" 'bsdtar, a pipe' whole_pipe "$archive"
  fi
  seven=$(command -v 7z || command -v 7zz || command -v 7za || true)
  if [ -n "$seven" ]; then judge "$name" '7z t' "$seven" t -bd "$archive"; else have 7z 7zip || true; fi
  if have java default-jdk-headless; then
    judge "$name" 'Java ZipInputStream and ZipFile' java_both "$archive"
  fi
  if have go golang-go; then judge "$name" 'Go archive/zip' same go run "$HERE/check.go" "$archive"; fi
}

# expect FILE...: what an archive of these files, named as they are, has to hold.
expect() {
  local file
  for file in "$@"; do facts "$file"; done >wanted
  cat "$@" >data
}

# The size is known from the file: ZIP64 fields in both headers.
announced() {
  truncate -s 5368709120 big.bin
  expect big.bin small.txt
  "$S_ZIP" create announced.zip big.bin small.txt
}

# The size is not known before the end: only the central header can have the field.
piped() {
  truncate -s 5368709120 big.bin
  expect big.bin small.txt
  head -c 5368709120 /dev/zero | "$S_ZIP" create - - small.txt --stdin-name big.bin | cat >piped.zip
}

# The size is known and needs no ZIP64: the JDK reads no wide descriptor after less than 4 GiB.
below() {
  truncate -s 4000000000 below.bin
  expect below.bin small.txt
  "$S_ZIP" create below.zip below.bin small.txt
}

# Entries below the limit, offsets past it.
offsets() {
  truncate -s 3000000000 first.bin
  truncate -s 1500000000 second.bin
  expect first.bin second.bin small.txt
  "$S_ZIP" create offsets.zip first.bin second.bin small.txt --level 0
}

main() {
  local case
  if [ $# -lt 2 ] || [ ! -x "$1" ] || [ ! -d "$2" ]; then usage; fi
  S_ZIP=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
  # Not one from the environment: it is removed at the end.
  WORK=''
  trap 'rm -rf ${WORK:+"$WORK"}' EXIT
  trap 'exit 130' INT TERM
  WORK=$(mktemp -d "$(cd "$2" && pwd -P)/s_zip-big.XXXXXX")
  cd "$WORK"
  [ -n "${HOME:-}" ] || export GOCACHE=$WORK/go
  # Behind every large entry, for what a reader makes of its end.
  echo 'a small file' >small.txt
  shift 2
  if [ $# = 0 ]; then set -- announced piped below offsets; fi
  for case in "$@"; do
    case $case in announced | piped | below | offsets) ;; *) usage ;; esac
    "$case"
    validate "$case.zip"
    rm -f ./*.bin data "$case.zip"
  done
  say "$passed passed, $failed failed"
  [ "$failed" = 0 ] || exit 1
}

main "$@"
