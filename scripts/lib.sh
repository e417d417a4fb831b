#!/usr/bin/env bash
# Does:   gives every script strict mode, the same environment and a few helpers; changes to the root of the repository.
# Reads:  scripts/config.sh.
# Writes: nothing.

set -Eeuo pipefail
# An error that nothing expected means "could not run"; the command that failed has said why.
trap 'exit 2' ERR
shopt -s inherit_errexit 2>/dev/null || true # bash before 4.4 (macOS) does not have it
unset CDPATH
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
SCRIPTS=$ROOT/scripts

# Compilers, allocators, runtimes and libraries read the environment. What finds the tools and reaches the registries is passed on, and the
# knobs are; the script starts again without the rest. `env` drops what a shell cannot unset, such as CFLAGS_x86_64-unknown-linux-gnu.
if [ "${AWAIT_OR_NOT_CLEAN:-}" != $$ ]; then
  dropped=() ignored=''
  knobs=$(sed -n 's/^: "${\([A-Z_]*\):=.*/\1/p' "$SCRIPTS/config.sh" | tr '\n' ' ')
  while IFS= read -r variable; do
    case $variable in
      PATH | HOME | USER | LOGNAME | SHELL | TERM | NO_COLOR | TMPDIR | PWD | OLDPWD | SHLVL | _ | LC_ALL | CI | FAST_BUILDS) continue ;;
      AWAIT_OR_NOT_* | ORIGINALS_FROM | *_TEST_* | PROPTEST_* | UPDATE_GOLDEN) continue ;;
      CARGO_HOME | CARGO_TARGET_DIR | CARGO_BUILD_BUILD_DIR | CARGO_BUILD_JOBS | RUSTUP_*) continue ;;
      CARGO_REGISTR* | CARGO_SOURCE_* | CARGO_NET_* | CARGO_HTTP_* | CARGO_CREDENTIAL_* | CARGO_TERM_*) continue ;;
      *_proxy | *_PROXY | *SSL_CERT_* | *_CA_BUNDLE | SSH_* | GIT_SSL_* | GIT_SSH* | GIT_HTTP_* | GIT_ASKPASS | GIT_CONFIG_* | PIP_*) continue ;;
    esac
    case " $knobs ${KEEP_VARIABLES:-} " in *" $variable "*) continue ;; esac
    dropped+=(-u "$variable")
    # A desktop sets many: the note names those that are known to matter. Empty ones are those that a script set below.
    case $variable in
      MAKE* | MFLAGS) ;;
      *FLAGS* | CC | CC_* | *_CC | CRATE_CC_* | CXX* | *_CXX | AR | AR_* | *_AR | LD | LD_* | DYLD_* | CPATH | *_INCLUDE_PATH | LIBRARY_PATH | \
        CARGO* | RUST* | *SQLITE* | ZSTD_* | LIBZ_* | MALLOC_* | MIMALLOC_* | GLIBC_* | TOKIO_* | RAYON_* | OMP_*)
        [ -z "$(printenv "$variable")" ] || ignored+=" $variable" ;;
    esac
  done < <(awk 'BEGIN { for (name in ENVIRON) print name }' | sort)
  [ -z "$ignored" ] || [ "${FAST_BUILDS:-}" = yes ] ||
    printf 'note: ignored, because it would change what is measured:%s (KEEP_VARIABLES keeps and records it)\n' "$ignored" >&2
  exec env ${dropped[@]+"${dropped[@]}"} AWAIT_OR_NOT_CLEAN=$$ "$BASH" "$0" "$@"
fi
unset AWAIT_OR_NOT_CLEAN
case ${AWAIT_OR_NOT_DATA:-/} in /*) ;; *) AWAIT_OR_NOT_DATA=$PWD/$AWAIT_OR_NOT_DATA ;; esac
case ${CARGO_TARGET_DIR:-/} in /*) ;; *) CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR ;; esac
case ${TMPDIR:-/} in /*) ;; *) export TMPDIR=$PWD/$TMPDIR ;; esac
cd "$ROOT"
source "$SCRIPTS/config.sh"
case ${CARGO_TARGET_DIR:-$ROOT/target} in
  "$ROOT/target" | "$ROOT/target/") ;;
  *) printf 'note: ignored, because builds go into target/: CARGO_TARGET_DIR=%s\n' "$CARGO_TARGET_DIR" >&2 ;;
esac
export LC_ALL=C CARGO_TARGET_DIR=$ROOT/target CARGO_BUILD_BUILD_DIR=$ROOT/target
# Being set, they win over the flags and wrappers of cargo's configuration files; `need_rust` refuses what nothing wins over.
export RUSTC_WRAPPER=${RUSTC_WRAPPER:-} RUSTC_WORKSPACE_WRAPPER=${RUSTC_WORKSPACE_WRAPPER:-}
[ -n "${RUSTFLAGS:-}" ] || export CARGO_ENCODED_RUSTFLAGS=${CARGO_ENCODED_RUSTFLAGS:-}
# Said aloud, because a measurement runs copies of the binaries, which cannot find target/ by where they are.
export AWAIT_OR_NOT_DATA=${AWAIT_OR_NOT_DATA:-$ROOT/target/data}

say() { printf '%s\n' "$*" >&2; }
# Exit code 2 is "could not run"; 1 is kept for "ran, and found failures".
die() { say "error: $*"; exit 2; }
# has prices|maps|goals STUDY: whether claims.toml has some.
has() { grep -qxE "\[\[${1%s}\]\]|${1%s} = \[" "$2/study/claims.toml"; }
# need_linux: what measures, and what tests it, reads /proc; `make report` reads results alone.
need_linux() { [ "$(uname -s)" = Linux ] || die "this needs Linux, not $(uname -s): run it in a virtual machine or a container (make report works anywhere)"; }
# need TOOL REMEDY
need() { command -v "$1" >/dev/null || die "$1 was not found: $2"; }
# need_rust: a Rust that is new enough, and a cargo that builds what it builds for everyone.
need_rust() {
  local tool wanted version settings
  wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
  for tool in rustc cargo; do
    need "$tool" 'install Rust from https://rustup.rs'
    version=$("$tool" --version) || die "$tool does not start (see above)"
    version=${version#* }
    printf '%s\n' "$wanted" "$version" | sort -VC || die "Rust $wanted or newer is needed, $tool is ${version%% *}: rustup update stable"
  done
  # Cargo alone knows which files it reads and what they say.
  settings=$(RUSTC_BOOTSTRAP=1 cargo -Z unstable-options config get --show-origin) ||
    die 'cargo cannot read its configuration (see above)'
  # A line is `name = value # file`; of a list the first has no file, the following have no name.
  settings=$(awk -v harmless="^($HARMLESS_SETTINGS|$OVERRULED_SETTINGS)" '
    /^[^] #]/ { name = $0 }
    / # / && name !~ harmless { file = $0; sub(/.* # /, "", file); sub(/ = [^=]*$/, "", name); print name " in " file }
  ' <<<"$settings" | sort -u)
  [ -z "$settings" ] || die "cargo's configuration changes what is measured: ${settings//$'\n'/, } (remove it, or name another CARGO_HOME)"
}
# Where the registries are and how to reach them, what is said and how, where files go.
HARMLESS_SETTINGS='(registry|registries|source|net|http|term|cache|credential-alias|alias|cargo-new|doc|install|resolver|future-incompat-report)[.]'
HARMLESS_SETTINGS+='|include |build[.](jobs|target-dir|build-dir|rustdoc|rustdocflags) |target[.].*[.](rustdocflags|runner) '
# What the variables above win over.
OVERRULED_SETTINGS='build[.](rustflags|rustc-wrapper|rustc-workspace-wrapper) |target[.].*[.]rustflags '

# For who measures nothing (measure.sh refuses it for all but smoke): tests, lints and smoke share one build. It is called release, so
# that smoke finds it, checks what dev checks, and is hardly optimised: compiling takes longer than running, but for what fast.toml names.
# Clippy compiles the members of the workspace: `cargo clippy` would read them, and all that they need, once more.
cargo_options=()
if [ "${FAST_BUILDS:-}" = yes ]; then
  export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=none
  export CARGO_PROFILE_RELEASE_OPT_LEVEL=0
  export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
  export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings
  # They follow the subcommand: cargo forgets a --config before it where another one follows, as in a row of builds.tsv.
  # shellcheck disable=SC2034  # for build.sh and test.sh
  cargo_options=(--config "$SCRIPTS/fast.toml")
fi

sha256() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }
# One word for `hyperfine -N`, which splits its command as a POSIX shell does.
quote() { printf "'%s'" "${1//\'/\'\\\'\'}"; }
count_lines() { if [ -f "$1" ]; then wc -l <"$1" | tr -d ' '; else echo 0; fi; }
has_results() { compgen -G "$RESULTS/*/*/SHA256SUMS" >/dev/null; }

# What measures a study is the package STUDY_study in STUDY/study/; it, the kit and the report are the workspace of the root.
# name_package PACKAGE: sets `named` to the cargo arguments that name it.
name_package() {
  # shellcheck disable=SC2034  # for build.sh and test.sh
  case $1 in
    *_study | study_kit | report) named=(--manifest-path "$ROOT/Cargo.toml" -p "$1") ;;
    *) named=(--manifest-path "$ROOT/$1/Cargo.toml") ;;
  esac
}
# build_row PACKAGE BUILD: the line of a named build in the study's builds.tsv.
build_row() {
  local table=${1%_study}/study/builds.tsv
  awk -F '\t' -v name="$2" '$1 == name { print; found = 1 } END { exit !found }' "$table" || die "$table has no build '$2'"
}
# binary PACKAGE BUILD: where build.sh puts the executable.
binary() {
  local row
  case $2 in
    release) echo "$CARGO_TARGET_DIR/release/$1" ;;
    # In haste everything is one build.
    tool) if [ "${FAST_BUILDS:-}" = yes ]; then binary "$1" release; else echo "$CARGO_TARGET_DIR/tool/$1"; fi ;;
    dev) echo "$CARGO_TARGET_DIR/debug/$1" ;;
    *)
      row=$(build_row "$1" "$2")
      case " ${row##*$'\t'} " in
        *" --release "*) echo "$CARGO_TARGET_DIR/$2/release/$1" ;;
        *) echo "$CARGO_TARGET_DIR/$2/debug/$1" ;;
      esac ;;
  esac
}

# layout_prefix PACKAGE BUILD: where build.sh puts the layouts of the executable, .0 and so on.
layout_prefix() { echo "$ROOT/target/layouts/$2/$1"; }
# layout_binary PACKAGE BUILD LAYOUT LAYOUTS: one of so many; where there is only one, it is cargo's own.
layout_binary() { if [ "$4" -gt 1 ]; then echo "$(layout_prefix "$1" "$2").$3"; else binary "$1" "$2"; fi; }
# layouts_here: how many layouts of an executable can be made, LAYOUTS of them if the linker of rustc is the one that can.
layouts_here() {
  local host=x86_64-unknown-linux-gnu
  case $LAYOUTS in 1 | 6) ;; *) die "LAYOUTS is 1 or 6, not '$LAYOUTS'" ;; esac
  need_rust
  if [ "$LAYOUTS" = 1 ] || [ -x "$(rustc --print sysroot)/lib/rustlib/$host/bin/gcc-ld/ld.lld" ]; then echo "$LAYOUTS"; return; fi
  say 'note: one layout instead of 6, because rustc has no lld here: where code happens to lie counts as an effect'
  echo 1
}
# symbols_sha256 EXECUTABLE: fingerprint of what it is made of, whatever the order: its symbols with their sizes.
symbols_sha256() {
  local symbols
  need nm 'install binutils'
  # The address stands in the first 16 columns.
  symbols=$(nm -S "$1" | cut -c 18- | sort)
  [ -n "$symbols" ] || die "$1 has no symbols to compare"
  sha256 - <<<"$symbols" | cut -d ' ' -f 1
}

# ready PACKAGE: its executable for questions that need no optimised one: the tool, or the release build of a study if nothing is newer, else a
# dev build.
ready() {
  local file build=release other=dev
  [ "$1" != report ] || build=tool other=tool
  file=$(binary "$1" "$build")
  if ! newest "$file" "$1"; then
    "$SCRIPTS/build.sh" "$1" "$other" >&2
    file=$(binary "$1" "$other")
  fi
  echo "$file"
}
# newest EXECUTABLE PACKAGE: whether none of the sources that cargo lists beside it is newer, nor what they are built by.
newest() {
  local sources source
  [ -x "$1" ] && [ -f "$1.d" ] || return 1
  # A backslash stands before a space in a path.
  # shellcheck disable=SC2162
  read -a sources <"$1.d"
  for source in "${sources[@]:1}" Cargo.toml Cargo.lock "${2%_study}/Cargo.toml"; do
    [ -e "$source" ] && [ ! "$source" -nt "$1" ] || return 1
  done
}

# The hyperfine to use: the one on PATH if its JSON is known to the report, else the one setup.sh installed.
find_hyperfine() {
  local candidate
  for candidate in "$(command -v hyperfine || true)" "$ROOT/.tools/bin/hyperfine"; do
    [ -x "$candidate" ] || continue
    case $("$candidate" --version) in
      "hyperfine 1.1"[5-9].* | "hyperfine 1."[2-9][0-9].* | "hyperfine 2.0."*) echo "$candidate"; return ;;
    esac
  done
  return 1
}
# GNU time, not the shell's keyword and not the BSD tool of the same name.
find_gnu_time() {
  local candidate
  for candidate in "$(command -v gtime || true)" /usr/bin/time; do
    [ -x "$candidate" ] && "$candidate" -f '' -o /dev/null true 2>/dev/null && echo "$candidate" && return
  done
  return 1
}
