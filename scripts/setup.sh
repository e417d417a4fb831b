#!/usr/bin/env bash
# Does:   finds the tools, installs what is missing where it can, and says in one line each what to type where it cannot.
# Reads:  PATH; CI=true makes a missing tool an error.
# Writes: .tools/ (hyperfine, pyarrow); as root on Debian and Ubuntu the packages `time`, `shellcheck` and those that read ZIP archives.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

usage() {
  cat <<'EOF'
usage: scripts/setup.sh [--test | --pyarrow]
Checks Rust, hyperfine and GNU time; for PROFILE=full also pyarrow, and with --test that and what only `make test` needs
(rustfmt, clippy, shellcheck, and the programs that read ZIP archives: unzip, zip, bsdtar, 7z, Python, Java, Go).
--pyarrow finds or installs nothing but pyarrow, as .tools/pyarrow/bin/python, and fails if it cannot.
EOF
}

# What ends for want of space says so in other words and late, such as a linker's "Bus error".
check_disk() {
  local free least=$DISK_GB
  # In haste nothing is optimised, and there is one layout.
  [ "${FAST_BUILDS:-}" != yes ] || least=$DISK_FAST_GB
  free=$(df -Pk "$ROOT" | awk 'NR == 2 { print int($4 / 1048576) }')
  [ "$free" -ge "$least" ] || say "note: $free GB of disk are free here; to build, measure and test everything takes $least"
}

check_hyperfine() {
  if find_hyperfine >/dev/null; then return; fi
  say "hyperfine 1.15 to 2.0 is not on PATH: installing $HYPERFINE_VERSION with cargo into .tools/ (once; every run is timed by it)"
  # It stays and times what is measured later: never a build that was made in haste, but one unit and LTO time nothing better.
  (unset "${!CARGO_PROFILE_@}" && CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install "hyperfine@$HYPERFINE_VERSION" --locked --root "$ROOT/.tools") ||
    die "cargo could not install hyperfine: install it from https://github.com/sharkdp/hyperfine, then try again"
  find_hyperfine >/dev/null || die 'the hyperfine in .tools/ does not start'
}

# missing WHAT REMEDY: a tool that one can do without is skipped, but not in CI, where a skip would hide a failure.
missing() {
  if [ "${CI:-}" = true ]; then die "$1 is missing, and CI skips nothing: $2"; fi
  say "skipped: $1 is missing: $2"
}

apt_package() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then return 1; fi
  if [ -z "${apt_updated:-}" ]; then apt-get update -q >&2 || return 1; apt_updated=yes; fi
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$1" >&2
}

# found PACKAGE COMMAND...: the command finds a tool, or does when the package is installed.
found() {
  local package=$1
  shift
  "$@" >/dev/null || { apt_package "$package" && "$@" >/dev/null; }
}

check_test_tools() {
  if ! { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; then
    rustup component add rustfmt clippy || die 'rustfmt and clippy are missing: rustup component add rustfmt clippy'
  fi
  found shellcheck command -v shellcheck ||
    missing 'shellcheck (checks the scripts)' 'sudo apt-get install -y shellcheck'
}

# validator PACKAGE PROGRAM...: one of the programs is there, or its package can be installed.
validator() { found "$1" command -v "${@:2}" || missing "$2 (reads ZIP archives in the tests)" "sudo apt-get install -y $1"; }

check_zip_validators() {
  validator unzip unzip
  validator zip zip
  validator libarchive-tools bsdtar
  validator 7zip 7z 7zz 7za
  validator python3 python3
  validator default-jdk-headless java
  validator golang-go go
}

# required WHAT REMEDY: as `missing`, for what was asked for by name.
required() { die "$1 is missing: $2"; }

pyarrow_works() { "$ROOT/.tools/pyarrow/bin/python" -c 'import pyarrow.flight' 2>/dev/null; }

# An environment in .tools/pyarrow, or the Python on PATH if it has pyarrow. Prints why it did not work.
install_pyarrow() {
  local home=$ROOT/.tools/pyarrow python why=''
  rm -rf "$home"
  if python=$(python3 -c 'import pyarrow.flight, sys; print(sys.executable)' 2>/dev/null); then
    mkdir -p "$home/bin"
    printf '#!/bin/sh\nexec %s "$@"\n' "$(quote "$python")" >"$home/bin/python"
    chmod +x "$home/bin/python"
    return
  fi
  say "no python3 on PATH has pyarrow.flight: installing pyarrow $PYARROW_VERSION into .tools/pyarrow (once, 200 MB)"
  if ! { make_venv "$home" || { apt_package python3-venv && make_venv "$home"; }; }; then
    why='python3 or its module venv is missing: sudo apt-get install -y python3-venv'
  elif why=$("$home/bin/python" -m pip install -qq --disable-pip-version-check --no-input --only-binary :all: \
    "pyarrow==$PYARROW_VERSION" 2>&1); then
    if pyarrow_works; then return; fi
    why="pyarrow $PYARROW_VERSION does not start here"
  fi
  rm -rf "$home"
  echo "${why##*$'\n'}"
  return 1
}

make_venv() { python3 -m venv "$1" >/dev/null 2>&1; }

# check_pyarrow OTHERWISE: a peer that quick does not measure; OTHERWISE is `missing` or `required`.
check_pyarrow() {
  local why
  pyarrow_works || why=$(install_pyarrow) || "$1" 'Python with pyarrow.flight (a peer in tests and full measurements)' "$why"
}

main() {
  case ${1:-} in
    -h | --help) usage; exit 0 ;;
    --pyarrow) check_pyarrow required; exit 0 ;;
    '' | --test) ;;
    *) usage >&2; exit 2 ;;
  esac
  check_disk
  need_linux
  need_rust
  check_hyperfine
  found time find_gnu_time || missing 'GNU time (the cross-check of peak memory)' 'sudo apt-get install -y time'
  if [ "${1:-}" = --test ]; then check_test_tools; check_zip_validators; fi
  if [ "${1:-}" = --test ] || [ "$PROFILE" = full ]; then check_pyarrow missing; fi
}

main "$@"
