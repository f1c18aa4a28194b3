#!/usr/bin/env bash
# scripts/regression: what a case may fail by is seen, and a new reference leaves its reason.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"
: "${CROSSBOW_PROGRAM:?}"

die() { echo "FAILED: $*"; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R regression/cases/digits-sma "$folder/case"
sed -i 's/^seeds = .*/seeds = [1, 2, 3]/' "$folder/case/check.toml"
case=$folder/case

# The case must end with $1 and say $2.
expect() {
  local status=0
  answer=$(scripts/regression "$case" 2>&1) || status=$?
  [[ $status -eq $1 ]] || die "it ended with $status, not $1: $answer"
  [[ $answer == *"$2"* ]] || die "no \"$2\" in: $answer"
}
# A copy of the deck with `sed` expression $1.
change() { sed "$1" regression/cases/digits-sma/case.toml >"$case/case.toml"; }

scripts/regression --renew "three seeds for a test" "$case" >/dev/null 2>&1
grep -q "3 run(s): three seeds for a test" "$case/README.md" || die "the reason is not written"
[[ $(wc -l <"$case/reference.csv") -eq 11 ]] || die "the reference has not 10 rows"
expect 0 "3 of 3 bands kept"

change 's/^learning_rate.*/learning_rate = 0.0005/'  # another training
expect 1 "NOT KEPT"
change 's/^epochs.*/epochs = 9/'  # a row is missing
expect 1 "missing"
change 's/^learning_rate.*/learning_rate = 1e20/'  # the run fails
expect 1 "is not finite"
change 's/^method.*/method = "smaa"/'
expect 1 "smaa"
change 's/^#.*//'
sed -i '/^\[\[band/,$d' "$case/check.toml"  # a case that could not fail
expect 1 "no band"
status=0
scripts/regression no-such-case 2>/dev/null || status=$?
[[ $status -eq 2 ]] || die "an unknown case ended with $status"
echo "failures are seen and reasons kept"
