#!/usr/bin/env bash
# Does:   tests that a build and a run are the same for everyone: variables, cargo's configuration, the version of Rust. A tiny package is built by
#         the real cargo in a copy of scripts/ elsewhere.
# Reads:  scripts/, Makefile.
# Writes: what expect.sh says.
# shellcheck disable=SC2016,SC2317  # the tests are called by their names, and what they print into files is code
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"

# The program prints what its build knew: the variables that its build script saw, how it was optimised, flags from outside.
make_repository() {
  mkdir -p "$repo/tiny/study/src" "$temp/.cargo" "$temp/bin"
  printf '[workspace]\nresolver = "3"\nmembers = ["tiny/study"]\n[workspace.package]\nrust-version = "1.95"\n[profile.release]\nopt-level = 3\n' >"$repo/Cargo.toml"
  printf '[package]\nname = "tiny_study"\nversion = "0.1.0"\nedition = "2024"\n' >"$repo/tiny/study/Cargo.toml"
  printf 'tuned\tLIBSQLITE3_FLAGS=-DTUNED\t--release\n' >"$repo/tiny/study/builds.tsv"
  touch "$repo/tiny/Cargo.toml" "$repo/tiny/study/claims.toml" "$repo/tiny/study/page.toml"
  cat >"$repo/tiny/study/build.rs" <<'EOF'
fn main() {
    let watched = ["FLAGS", "CC", "INCREMENTAL", "PROFILE_", "SQLITE", "PATH_OF_THE_USER"];
    let seen = std::env::vars().filter(|(name, value)| {
        !value.is_empty() && watched.iter().any(|word| name.contains(word)) && name != "CARGO_MAKEFLAGS"
    });
    let seen: Vec<String> = seen.map(|(name, value)| format!("{name}={value}")).collect();
    println!("cargo::rustc-env=SEEN={}", seen.join(" "));
    println!("cargo::rustc-env=OPTIMISED={}", std::env::var("OPT_LEVEL").unwrap());
    println!("cargo::rustc-check-cfg=cfg(leaked)");
}
EOF
  cat >"$repo/tiny/study/src/main.rs" <<'EOF'
fn main() {
    println!("opt-level {} leaked {} seen {}", env!("OPTIMISED"), cfg!(leaked), env!("SEEN"));
}
EOF
  (cd "$repo" && cargo generate-lockfile --offline --quiet)
  # What a script passes on to what it runs.
  printf 'source "%s/scripts/lib.sh"\nenv\n' "$repo" >"$temp/show.sh"
}
build() { (cd "$temp" && exec "$repo/scripts/build.sh" "$@" >"$out" 2>&1); }
# built TEXT [BUILD]: the program as it was built says TEXT.
built() { same "opt-level $1" "$("$repo/target/${2:+$2/}release/tiny_study")"; }
# Every build begins from nothing, because cargo does not watch variables.
anew() { rm -rf "$repo/target"; build "$@"; }

users=(CFLAGS CXXFLAGS CPPFLAGS LDFLAGS HOST_CFLAGS TARGET_CFLAGS CFLAGS_x86_64_unknown_linux_gnu CFLAGS_x86_64-unknown-linux-gnu CC CC_x86_64-unknown-linux-gnu
  HOST_CC AR CPATH C_INCLUDE_PATH LIBRARY_PATH CRATE_CC_NO_DEFAULTS CARGO CARGO_INCREMENTAL CARGO_BUILD_TARGET CARGO_BUILD_RUSTFLAGS CARGO_BUILD_INCREMENTAL
  CARGO_BUILD_RUSTC_WRAPPER CARGO_PROFILE_RELEASE_OPT_LEVEL CARGO_PROFILE_DEV_OPT_LEVEL CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER CARGO_UNSTABLE_BUILD_STD
  RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC_BOOTSTRAP RUSTFLAGS CARGO_ENCODED_RUSTFLAGS RUSTDOCFLAGS RUST_BACKTRACE RUST_MIN_STACK RUST_LOG
  LIBSQLITE3_FLAGS LIBSQLITE3_SYS_USE_PKG_CONFIG SQLITE3_LIB_DIR SQLITE_MAX_VARIABLE_NUMBER ZSTD_SYS_USE_PKG_CONFIG LD_LIBRARY_PATH MALLOC_ARENA_MAX
  GLIBC_TUNABLES MIMALLOC_VERBOSE TOKIO_WORKER_THREADS RAYON_NUM_THREADS OMP_NUM_THREADS)
quiet=(LANG LC_CTYPE TZ LS_COLORS BASH_ENV ENV SHELLOPTS POSIXLY_CORRECT GREP_OPTIONS GIT_DIR MAKEFLAGS PYTHONPATH SQL_TRACE NOBODY_KNOWS_IT)
kept=(HTTPS_PROXY no_proxy CARGO_REGISTRIES_MIRROR_INDEX CARGO_NET_RETRY CARGO_HTTP_CAINFO CARGO_BUILD_JOBS RUSTUP_DIST_SERVER SSL_CERT_FILE TMPDIR SEED LAYOUTS CI)
names() { sed -n 's/^\([^=]*\)=.*/\1/p' "$out"; }

test_of_the_variables_of_a_user_only_those_pass_that_find_tools_and_registries() {
  local name variables=()
  for name in "${users[@]}" "${quiet[@]}" "${kept[@]}"; do variables+=("$name=/nowhere"); done
  # A function by the name of a tool is a variable, too.
  env -u KEEP_VARIABLES "${variables[@]/#TMPDIR=*/TMPDIR=$temp}" 'BASH_FUNC_cargo%%=() { echo not cargo; }' 'a name=1' bash "$temp/show.sh" >"$out" 2>"$temp/said" || return
  for name in "${kept[@]}"; do grep -q "^$name=" "$out" || { echo "  $name is gone"; return 1; }; done
  for name in "${users[@]}"; do
    ! grep -q "^$name=." "$out" || { echo "  $name is passed on"; return 1; }
    grep -q "^note: ignored.* $name " "$temp/said" || { echo "  the note lacks $name"; return 1; }
  done
  for name in "${quiet[@]}" 'BASH_FUNC_cargo%%' 'a name'; do ! names | grep -qxF "$name" || { echo "  $name is passed on"; return 1; }; done
  same 1 "$(count_lines "$temp/said")"
}
test_nothing_is_noted_twice_where_scripts_run_scripts() {
  printf 'source "%s/scripts/lib.sh"\nexec bash "%s"\n' "$repo" "$temp/show.sh" >"$temp/outer.sh"
  CFLAGS=-O0 CARGO_TARGET_DIR=/nowhere bash "$temp/outer.sh" >"$out" 2>&1 && same 2 "$(grep -c '^note: ignored' "$out")" &&
    says '^note: .*: CARGO_TARGET_DIR=/nowhere$' && ! says '^CARGO_TARGET_DIR=/nowhere'
}
test_a_variable_that_is_named_is_kept_and_recorded() {
  (export KEEP_VARIABLES='CC NOT_SET' CC='clang -O2' && bash "$temp/show.sh" >"$out" 2>&1) && says '^CC=clang -O2$' && ! says 'ignored.* CC' || return
  (KEEP_VARIABLES='CC NOT_SET' CC='clang -O2' && source "$SCRIPTS/machine.sh" && export CC && same 'CC=clang -O2' "$(kept_variables)")
}
test_a_build_is_the_same_whatever_a_user_has_set() {
  CFLAGS=-O0 LIBSQLITE3_FLAGS=-DX CARGO_INCREMENTAL=1 CARGO_PROFILE_RELEASE_OPT_LEVEL=0 RUSTFLAGS='--cfg leaked' RUSTC_WRAPPER=/nowhere RUSTC=/nowhere \
    CARGO_BUILD_TARGET=no-such-target PATH_OF_THE_USER=1 anew tiny_study && built '3 leaked false seen '
}
test_what_a_build_of_a_study_sets_reaches_its_build() {
  LIBSQLITE3_FLAGS=-DX anew tiny_study tuned && built '3 leaked false seen LIBSQLITE3_FLAGS=-DTUNED' tuned
}

# configured TEXT...: with these lines in the configuration above the repository.
configured() { printf '%s\n' "$@" >"$temp/.cargo/config.toml"; }
test_a_configuration_of_cargo_that_changes_builds_is_refused_in_one_line() {
  local lines name
  build tiny_study || return
  while IFS='|' read -r lines name; do
    configured "$(printf '%b' "$lines")"
    same 2 "$(exit_code build tiny_study)" && same 1 "$(grep -vc '^note' "$out")" && says '^error: .*cargo' && grep -qF "$name in $temp/.cargo/config.toml" "$out" || return
  done <<'EOF'
[build]\ntarget = "x86_64-unknown-linux-gnu"|build.target
build = { "target" = ["x86_64-unknown-linux-gnu"] }|build.target
[build]\nrustc = "/bin/true"|build.rustc
[build]\nincremental = true|build.incremental
[profile.release]\nopt-level = 0|profile.release.opt-level
[profile.release.package."*"]\nopt-level = 0|profile.release.package."*".opt-level
[env]\nCFLAGS = { value = "-O0", force = true }|env.CFLAGS.value
[target.x86_64-unknown-linux-gnu]\nlinker = "clang"|linker
[target.'cfg(target_os = "linux")']\nlinker = "clang"|linker
[target.x86_64-unknown-linux-gnu.sqlite3]\nrustc-link-lib = ["sqlite3"]|rustc-link-lib
paths = ["/nowhere"]|paths
[patch.crates-io]\nserde = { path = "/nowhere" }|patch.crates-io.serde.path
[unstable]\nbuild-std = ["std"]|unstable.build-std
EOF
  # Also at home.
  rm "$temp/.cargo/config.toml"
  mkdir -p "$temp/home"
  printf '[profile]\nrelease.lto = "off"\n' >"$temp/home/config.toml"
  same 2 "$(CARGO_HOME=$temp/home exit_code build tiny_study)" && says "profile.release.lto in $temp/home/config.toml"
}
test_a_configuration_that_cannot_be_read_is_shown() {
  configured '[build'
  same 2 "$(exit_code build tiny_study)" && says 'config.toml' && says '^error: cargo cannot read its configuration'
  local code=$?
  rm "$temp/.cargo/config.toml"
  return "$code"
}
test_registries_may_be_configured_and_flags_and_wrappers_do_not_count() {
  configured '[source.crates-io]' 'replace-with = "mirror"' '[source.mirror]' 'registry = "sparse+https://example.org/index/"' '[registries.mine]' \
    'index = "sparse+https://example.org/mine/"' '[net]' 'retry = 3' '[http]' 'multiplexing = false' '[term]' 'verbose = false' '[alias]' 'b = ["build", "--release"]' \
    '[build]' 'jobs = 2' 'rustflags = ["--cfg", "leaked"]' 'rustc-wrapper = "/nowhere"' 'rustc-workspace-wrapper = "/nowhere"' 'target-dir = "/nowhere"' \
    "[target.'cfg(unix)']" 'rustflags = ["--cfg", "leaked"]'
  anew tiny_study && built '3 leaked false seen '
  local code=$?
  rm "$temp/.cargo/config.toml"
  return "$code"
}
test_what_an_earlier_build_left_is_not_taken_for_a_new_one() {
  build tiny_study || return
  # A cargo that builds elsewhere, for whatever reason.
  printf '#!/bin/sh\nif [ "$1" = build ]; then exit 0; fi\nexec %s "$@"\n' "$(command -v cargo)" >"$temp/bin/cargo"
  chmod +x "$temp/bin/cargo"
  same 2 "$(PATH=$temp/bin:$PATH exit_code build tiny_study)" && says 'built no executable' || return
  rm "$temp/bin/cargo"
  build tiny_study && built '3 leaked false seen '
}

test_every_command_that_measures_can_be_planned_without_tools() {
  local target targets
  targets=$(make -s help | sed -n '/^Measure/,/^Report/s/^  make \([^ ]*\) .*/\1/p' | sed 's/STUDY/s_zip/; s/ID/T2/')
  [ "$(wc -l <<<"$targets")" -ge 10 ] || return
  for target in $targets; do
    if ! { make -n "$target" PLAN=1 >"$out" 2>&1 && says ' --plan' && ! says setup.sh; }; then echo "  make $target"; return 1; fi
  done
}
test_make_passes_no_options_of_grep_on() {
  printf 'show:\n\t@env\n' >"$temp/show.mk"
  GREP_OPTIONS=-v make -s -f Makefile -f "$temp/show.mk" show >"$out" 2>&1 && says '^PROFILE=' && ! says '^GREP_OPTIONS='
}
test_every_command_of_make_says_which_rust_it_needs() {
  local tool targets target here=$temp/old
  mkdir -p "$here/results/tiny/round" "$here/scripts"
  cp -R "$repo/." "$here/"
  cp Makefile stress-test.sh "$here/"
  sed -i.old 's/^STUDIES := .*/STUDIES := tiny/' "$here/Makefile"
  printf 'id = "T1"\n' >"$here/tiny/study/claims.toml"
  touch "$here/results/tiny/round/SHA256SUMS"
  rm -rf "$here/target"
  targets=$(make -s -C "$here" help | sed -n 's/^  make \([^ ]*\) .*/\1/p' | sed 's/STUDY/tiny/; s/CRATE/tiny/; s/ID/T1/' | grep -vx -e clean -e help)
  [ "$(wc -l <<<"$targets")" -ge 12 ] || return
  for tool in rustc cargo; do
    rm -f "$temp/bin"/*
    # What has no old one does nothing, so that no command goes far where it does not look.
    printf '#!/bin/sh\necho "$(basename "$0") 1.99.0 (0123456789 2026-01-01)"\n' | tee "$temp/bin/rustc" >"$temp/bin/cargo"
    printf '#!/bin/sh\necho "%s 1.75.0 (82e1608df 2023-12-21)"\n' "$tool" >"$temp/bin/$tool"
    chmod +x "$temp/bin"/*
    for target in $targets ../stress; do
      if [ "$target" = ../stress ]; then (PATH=$temp/bin:$PATH "$here/stress-test.sh" --max 100 >"$out" 2>&1) && return 1; else
        (PATH=$temp/bin:$PATH make -C "$here" "$target" >"$out" 2>&1) && { echo "  make $target succeeds"; return 1; }
      fi
      same 1 "$(grep -c "^error: Rust 1.95 or newer is needed, $tool is 1.75.0" "$out")" || { echo "  make $target"; return 1; }
    done
  done
}

main() {
  unset FAST_BUILDS # what is tested measures
  make_repository
  run_tests
}

main "$@"
