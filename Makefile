# The front door: `make` alone prints the targets. The work is in scripts/, the knobs in scripts/config.sh.

# A new study adds its name here and its folder in Cargo.toml. They are measured in this order: the quickest to build and to measure first.
STUDIES := s_zip sqlite_bench sqrt_tasks txn_engine flight_batches
CRATES  := study_kit $(STUDIES) report

# smoke (everything once, no verdicts), quick or full (the originals' own sizes: hours). Seen by the scripts, too.
PROFILE ?= quick
export PROFILE
# An old grep obeys it.
unexport GREP_OPTIONS
# PLAN=1 prints what would run and how long it takes, and measures nothing.
PLAN_FLAG := $(if $(filter-out 0,$(PLAN)),--plan)
# A plan needs no tools.
TOOLS := $(if $(PLAN_FLAG),,setup)

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

MEASURE := $(STUDIES:%=measure-%)
MAPS    := $(STUDIES:%=map-%)
CLAIMS  := $(shell sed -n 's/^id = "\([A-Z][0-9]*\)"$$/claim-\1/p' $(STUDIES:%=%/study/claims.toml))
REPORTS := $(STUDIES:%=report-%)
ORIGINALS := $(STUDIES:%=originals-%)
CHECKS  := $(CRATES:%=check-%)
# Static pattern rules below: a plain pattern cannot be phony, and a file of that name would skip it silently.
.PHONY: help all-reports plan prices goals calibrate report setup test smoke fuzz clean originals $(ORIGINALS) $(MEASURE) $(MAPS) $(CLAIMS) $(REPORTS) $(CHECKS)

##@ Measure

# One recipe for all studies, so that `make -j` cannot measure two at once.
all-reports: $(TOOLS) ## Measure every study, then write REPORT.md (PROFILE=quick|full, PLAN=1 only prints the plan)
	@scripts/all-reports.sh $(PLAN_FLAG) $(STUDIES)

plan: ## Print what all-reports would run, and for how long
	@scripts/all-reports.sh --plan $(STUDIES)

prices: $(TOOLS) ## Measure what one handoff costs, print the table and write it into the pages: minutes
	@scripts/all-reports.sh --prices $(PLAN_FLAG) $(STUDIES)

goals: $(TOOLS) ## Measure the crates against their aims and what a user would pick instead, into STUDY/study/README.md
	@scripts/all-reports.sh --goals $(PLAN_FLAG) $(STUDIES)

$(MAPS): map-%: $(TOOLS) ## Measure what each design of one study costs around the published settings, print it and write it into the pages
	@scripts/all-reports.sh --maps $(PLAN_FLAG) $*

$(REPORTS): report-%: $(TOOLS) ## Measure one study, then write REPORT.md
	@scripts/all-reports.sh $(PLAN_FLAG) $*

$(MEASURE): measure-%: $(TOOLS) ## Measure one study; an interrupted measurement goes on (or scripts/measure.sh STUDY --close ends it)
	@scripts/measure.sh $* $(PLAN_FLAG)

$(CLAIMS): claim-%: $(TOOLS) ## Measure one claim, as claim-T2, and print its verdict; the report takes no note of it
	@scripts/measure.sh "$$(grep -lx 'id = "$*"' */study/claims.toml | cut -d / -f 1)" --profile $(PROFILE) --claim $* $(PLAN_FLAG)

originals: $(TOOLS) ## Run the authors' own code beside our mirrors of it, then write REPORT.md (ORIGINALS_FROM=DIR: local clones)
	@scripts/originals.sh $(PLAN_FLAG) $(STUDIES)

$(ORIGINALS): originals-%: $(TOOLS) ## The same for one study
	@scripts/originals.sh $(PLAN_FLAG) $*

calibrate: $(TOOLS) ## Repeat A/A controls of each study TRIALS times: how often is the method wrong on this machine?
	@scripts/all-reports.sh --calibrate $(PLAN_FLAG) $(STUDIES)

##@ Report

report: ## Write REPORT.md, docs/evidence/, charts/ and the answers and prices in README.md from results/; measures nothing
	@scripts/report.sh --answers $(STUDIES)

##@ Develop

test: ## Format, lints and tests of every crate, and the checks of the scripts
	@scripts/test.sh --all $(STUDIES)

$(CHECKS): check-%: ## Format, lints and tests of one crate, for a study of its measurement, too
	@scripts/test.sh $* $(if $(filter $*,$(STUDIES)),$*_study)

smoke: setup ## Run every test case once, check budgets and that REPORT.md is up to date
	@scripts/smoke.sh $(STUDIES)

fuzz: ## Fuzz what reads untrusted input (needs cargo-fuzz; FUZZ_S=seconds)
	@scripts/fuzz.sh $(CRATES)

setup: ## Find or install the tools (hyperfine, GNU time, pyarrow)
	@scripts/setup.sh

clean: ## Remove what was built; results/ and an interrupted measurement stay
	@rm -rf target

help: ## Print this list
	@awk '/^##@ / { print "\n" substr($$0, 5) } \
	  /^[$$a-z].*:.*## / { split($$0, part, "## "); name = part[1]; if (name ~ /^\$$/) sub(/^[^:]*: */, "", name); \
	    sub(/:.*/, "", name); sub(/%/, name ~ /check/ ? "CRATE" : name ~ /claim/ ? "ID" : "STUDY", name); printf "  make %-16s %s\n", name, part[2] } \
	  END { print "\nSTUDY: $(STUDIES)\nCRATE: $(CRATES)" }' Makefile
