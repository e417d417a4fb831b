#!/usr/bin/env bash
# Does:   begins, resumes and seals the folder that a measurement fills; sourced by measure.sh, which sets the variables.
# Reads:  STUDY/study/{claims.toml,builds.tsv} and the verb `arms` of STUDY_study.
# Writes: results/.partial/STUDY-PROFILE[-only|-calibration|-claim|-prices|-maps|-goals]/ (the record), the same with .work (binaries, scratch), results/STUDY/STAMP-PROFILE/.
# shellcheck shell=bash disable=SC2154  # study, program, home, report, results, record, work, plan_only, layouts, only, trials, claim, alone and terms are set by measure.sh

# Puts into folder $1 what the measurement starts from: claims, cases and a copy of each binary, which no later build can change.
stage() {
  local build layout arms
  rm -rf "$1"
  mkdir -p "$1" || die "$1 cannot be written"
  claims >"$1/claims.toml"
  # A plan is as good by any build.
  if [ -n "$plan_only" ]; then arms=$(ready "$program"); else
    build --layouts "$layouts" "$program"
    arms=$(binary "$program" release)
  fi
  "$arms" arms --profile "$PROFILE" >"$1/cases.tsv" || die "'$program arms' failed"
  select_cases "$1"
  [ -z "$plan_only" ] || return 0
  for build in $(cut -f 3 "$1/cases.tsv" | sort -u) release; do
    build --layouts "$layouts" "$program" "$build"
    for ((layout = 0; layout < layouts; layout++)); do
      mkdir -p "$1/bin/$build/$layout"
      cp "$(layout_binary "$program" "$build" "$layout" "$layouts")" "$1/bin/$build/$layout/$program"
    done
  done
  (cd "$1" && sha256 claims.toml cases.tsv bin/*/*/*) >"$1/identity"
  [ -z "$trials" ] || echo "trials $trials" >>"$1/identity"
  [ -z "$KEEP_VARIABLES" ] || kept_variables >>"$1/identity"
}

# What is asked: all of claims.toml, its prices, maps or goals alone, or the one claim in $claim with what it explains. Nothing else is then judged or guarded.
claims() {
  if [ -n "$alone" ]; then
    # Entries are tables, or lines of a list that stands before the first table.
    awk -v name="${alone%s}" '
      /^\[/ { heads++; take = $0 == "[[" name "]]" }
      !heads && /^[a-z]+ = / { take = $0 == name " = [" || /^(schema|study|scope) = / }
      take' "$home/claims.toml"
    return
  fi
  if [ -z "$claim" ]; then cat "$home/claims.toml"; return; fi
  awk -v wanted="$claim" '
    /^\[\[[a-z]+\]\]$/ { is_claim = /claim/; claims += is_claim }
    { if (claims && is_claim) text[claims] = text[claims] $0 "\n"; else if (!claims && /^(schema|study) = /) print }
    is_claim && /^id = "[^"]*"$/ { split($0, part, "\""); if (!(claims in name)) name[claims] = part[2] }
    is_claim && /^explains = "/ { split($0, part, "\""); explains[claims] = part[2] }
    END {
      for (n = 1; n <= claims; n++) if (name[n] == wanted) { take[wanted]; sub(/\..*/, "", explains[n]); take[explains[n]] }
      for (n = 1; n <= claims; n++) if (name[n] in take) printf "\n%s", text[n]
    }' "$home/claims.toml"
}

# Leaves what is run: the cases of the scenarios in $only, or what the profile runs. Nothing is built for the others.
select_cases() {
  local scenario cases=$1/cases.tsv
  [ -z "$trials" ] || return 0
  if [ -z "$only" ]; then
    "$report" cases "$1" --profile "$PROFILE" ${claim:+--judged} ${alone:+--judged} >"$cases.run" || die "$study has no cases to run (see above)"
    mv "$cases.run" "$cases"
    return
  fi
  while read -r scenario; do
    awk -F '\t' -v name="$scenario" '$1 == name { found = 1 } END { exit !found }' "$cases" ||
      die "$study has no scenario '$scenario' in $PROFILE: choose of $(cut -f 1 "$cases" | sort -u | tr '\n' ' ')"
  done < <(tr ',' '\n' <<<"$only")
  awk -F '\t' -v only=",$only," 'index(only, "," $1 ",")' "$cases" >"$cases.only"
  mv "$cases.only" "$cases"
}

# Goes on with the interrupted measurement if nothing it rests on has changed; otherwise begins a new one.
open_record() {
  local stale=1 seed
  stage "$record.next"
  if [ -f "$work/ready" ] && [ -d "$record" ]; then
    seed=$(cat "$work/seed")
    if cmp -s "$work/identity" "$record.next/identity" && [ "${SEED:-$seed}" = "$seed" ]; then
      rm -rf "$record.next"
      date -u +%Y-%m-%dT%H:%M:%SZ >>"$work/resumed"
      describe resumed
      say "resuming $record after $(count_lines "$record/runs.jsonl") of $(count_lines "$record/plan.tsv") runs"
      return
    fi
    while [ -e "$record.stale-$stale" ]; do stale=$((stale + 1)); done
    mv "$record" "$record.stale-$stale"
    say "claims, cases, binaries, seed or blocks changed since $record was interrupted: moved it to $record.stale-$stale"
  fi
  rm -rf "$work" "$record"
  mv "$record.next" "$work"
  mkdir "$record"
  cp "$work/claims.toml" "$work/cases.tsv" "$record/"
  echo "${SEED:-$(date -u +%Y%m%d)}" >"$work/seed"
  # 1 is over budget: it is measured all the same.
  "$report" plan "$record" --profile "$PROFILE" --seed "$(cat "$work/seed")" "${terms[@]}" >/dev/null || [ $? = 1 ] || die "no plan for $study (see above)"
  touch "$record/runs.jsonl"
  describe before
  touch "$work/ready"
}

# seal [--cut]: under a new name, `sealed`, only when it is whole, or cut where a block ends; an existing folder is never touched.
seal() {
  local suffix=$PROFILE
  [ -z "$trials" ] || suffix=calibration
  [ -z "$alone" ] || suffix=$alone
  describe after
  "$report" seal "$record" "$@" || die "$record could not be sealed (see above)"
  while sealed=$results/$study/$(date -u +%Y%m%dT%H%M%SZ)-$suffix && [ -e "$sealed" ]; do sleep 1; done
  mkdir -p "$results/$study"
  mv "$record" "$sealed"
  if [ "$results" = "$RESULTS" ] && [ -z "$kind" ]; then rm -rf "${FIRST_RESULTS:?}/$study"; fi
  say "measured $study: $sealed"
}
