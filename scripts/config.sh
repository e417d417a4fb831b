#!/usr/bin/env bash
# Does:   sets every knob of the measuring layer to its default; the environment wins.
# Reads:  the environment, for example `SEED=7 make measure-txn_engine`.
# Writes: nothing; lib.sh sources this file.
# shellcheck disable=SC2034  # the knobs are used by the scripts that source this file

# Size of a measurement: smoke (everything once, no verdicts), quick, full (the originals' own sizes).
: "${PROFILE:=quick}"
# Seed of the plan (order of the runs). Empty: today's date, so that another day draws another order.
: "${SEED:=}"
# Where sealed measurements go, those of the smoke profile, those of one claim, and what is measured first until the whole is sealed: they never mix.
: "${RESULTS:=results}"
: "${SMOKE_RESULTS:=target/smoke-results}"
: "${CLAIM_RESULTS:=target/claim-results}"
: "${FIRST_RESULTS:=target/first-results}"
# Names of variables, separated by spaces, that builds and runs see besides those that lib.sh lists; machine.json records their values.
: "${KEEP_VARIABLES:=}"
# How often `make calibrate` repeats the A/A controls of a study.
: "${TRIALS:=20}"
# Layouts per executable, the same code in another order: 6, or 1. Smoke, and a rustc without lld, make one.
: "${LAYOUTS:=6}"
# One measurement at a time holds this lock, whichever clone and user started it: two would time each other.
: "${MEASURING_LOCK:=/tmp/await-or-not-measuring.lock}"
# Cores that others may keep busy, or the hypervisor take away, on a machine that counts as quiet, and how many seconds to wait for it.
: "${QUIET_CORES:=0.2}"
: "${QUIET_WAIT_S:=60}"
# Seconds to wait for the last run of a measurement that was killed, before giving up.
: "${ORPHAN_WAIT_S:=600}"
# The hyperfine that setup.sh installs into .tools/ when PATH has none from 1.15 to 2.0.
: "${HYPERFINE_VERSION:=1.20.0}"
# The pyarrow that setup.sh installs into .tools/pyarrow when python3 has none; remove that folder to install another.
: "${PYARROW_VERSION:=26.0.1}"
# Gigabytes of disk that the commands of README.md take together, builds, inputs and results, and with FAST_BUILDS (see lib.sh).
: "${DISK_GB:=21}"
: "${DISK_FAST_GB:=5}"
# Seconds that `make fuzz` gives each target.
: "${FUZZ_S:=60}"
