#!/usr/bin/env bash
# Does:   tests the layouts of a build: a tiny package, built by the real cargo in a copy of scripts/ elsewhere.
# Reads:  scripts/.
# Writes: what expect.sh says.
# shellcheck disable=SC2016,SC2317  # the tests are called by their names, and what they print into files is code
# shellcheck source=../lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=lib/expect.sh
source "$SCRIPTS/tests/lib/expect.sh"

# Functions in Rust, and constructors that must run in their order, which is that of .init_array.
make_repository() {
  mkdir -p "$repo/tiny/study/src"
  printf '[workspace]\nresolver = "3"\nmembers = ["tiny/study"]\n[profile.release]\nlto = "thin"\ncodegen-units = 1\n' >"$repo/Cargo.toml"
  printf '[package]\nname = "tiny_study"\nversion = "0.1.0"\nedition = "2024"\n' >"$repo/tiny/study/Cargo.toml"
  touch "$repo/tiny/Cargo.toml"
  cat >"$repo/tiny/study/src/main.rs" <<'EOF'
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static CALLS: AtomicU32 = AtomicU32::new(0);
extern "C" fn first() {
    CALLS.store(CALLS.load(Relaxed) * 10 + 1, Relaxed);
}
extern "C" fn second() {
    CALLS.store(CALLS.load(Relaxed) * 10 + 2, Relaxed);
}
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTORS: [extern "C" fn(); 2] = [first, second];

fn main() {
    println!("{}", CALLS.load(Relaxed));
}
EOF
  (cd "$repo" && cargo generate-lockfile --offline --quiet)
}
build() { "$repo/scripts/build.sh" "$@" >"$out" 2>&1; }
layout() { echo "$repo/target/layouts/${2:-release}/tiny_study.$1"; }
# all COMMAND: of each layout.
all() { local layout; for layout in 0 1 2 3 4 5; do "$@" "$(layout "$layout")" || return; done; }
# How many different lines.
different_kinds() { sort -u | wc -l | tr -d ' '; }
addresses() { nm "$1" | sha256 -; }
run() { "$1"; }

six_of_one_code() {
  build --layouts 6 tiny_study && same 1 "$(all symbols_sha256 | different_kinds)" && same 6 "$(all addresses | different_kinds)" &&
    same "$(printf '12\n12\n12\n12\n12\n12')" "$(all run)" && cmp "$(layout 0)" "$repo/target/release/tiny_study"
}
test_six_layouts_have_the_same_functions_at_other_addresses_and_constructors_in_their_order() { six_of_one_code; }
test_nothing_is_linked_again_where_all_is_fresh() {
  local before
  before=$(all stat -c %Y.%i)
  build --layouts 6 tiny_study && same "$before" "$(all stat -c %Y.%i)"
}
test_a_layout_that_is_missing_or_of_another_build_is_linked_again() {
  rm "$(layout 3)"
  six_of_one_code || return
  cp "$(layout 2)" "$(layout 0)" # as if the folder were of another build
  six_of_one_code
}
test_a_build_of_one_layout_in_between_does_no_harm() {
  build tiny_study && same 12 "$("$repo/target/release/tiny_study")" && six_of_one_code
}
test_a_dev_build_has_layouts_too() { build --layouts 6 tiny_study dev && cmp "$(layout 0 dev)" "$repo/target/debug/tiny_study"; }
# refused TEXT CASE: the build fails with TEXT where a linker does with the option for the order what CASE says.
refused() {
  printf '#!/bin/bash\nfor argument in "$@"; do\n  case $argument in %s *) set -- "$@" "$argument" ;; esac\n  shift\ndone\nexec %s "$@"\n' \
    "$2" "$(command -v cc)" >"$temp/bin/cc"
  chmod +x "$temp/bin/cc"
  touch "$repo/tiny/study/src/main.rs"
  same 2 "$(PATH=$temp/bin:$PATH exit_code build --layouts 6 tiny_study)" && says "$1"
}
test_a_layout_of_other_code_is_refused() { refused 'tiny_study.3 has other functions' '-Wl,--shuffle-sections=.text.\*=4) set -- "$@" -Wl,--defsym=odd=1 ;;'; }
test_a_linker_that_orders_nothing_is_refused() { refused 'left the functions' '-Wl,--shuffle-sections=*) ;;'; }
test_executables_without_symbols_are_refused() { refused 'no symbols' '-Wl,--shuffle-sections=*) set -- "$@" "$argument" -Wl,--strip-all ;;'; }

main() {
  if [ "$(LAYOUTS=6 layouts_here)" != 6 ]; then say 'skipped: the layouts need rustc with lld'; exit 0; fi
  unset FAST_BUILDS # what is tested measures
  mkdir "$temp/bin"
  make_repository
  run_tests
}

main "$@"
