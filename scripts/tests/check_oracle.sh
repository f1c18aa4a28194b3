#!/usr/bin/env bash
# The oracle's checker can fail: with another rule than the file's it reports a distance over the
# limit, and a file that it cannot run is not passed over.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() { echo "FAILED: $*"; exit 1; }

checker=${CROSSBOW_ORACLE:-build/release/crossbow_oracle}
[[ -x $checker ]] || { echo "$checker is not built"; exit 77; }
cases=regression/oracle

# Run the checker with arguments $2...; it must exit with $1. The output is left in `answer`.
expect() {
  local wanted=$1 status=0
  shift
  answer=$("$checker" "$@" 2>&1) || status=$?
  [[ $status -eq $wanted ]] || die "$* ended with $status: $answer"
}

# One attribute that the training does not have: far away, in vendor and reference kernels alike.
far() {
  expect 1 --set "$2" "$cases/$1.h5"
  [[ $answer == *"over 0.0001"* ]] || die "$1 with $2 was not found to differ: $answer"
}
far sma-k2-kinked averaging_momentum=0.9
far sma-k2-kinked alpha=0.2
far sma-k2-kinked momentum=0.8
far sma-k2-kinked method=ssgd
far sgd-k1 weight_decay=0
far sma-k2-period4-late-restart restart=false
far sma-k2-period4-late-restart period=3

# A file that differs in one case does not hide that another is right, and the other way round.
expect 1 "$cases/sgd-k1.h5" "$cases/missing.h5" "$cases/sma-k1.h5"
[[ $(grep -c 'ok$' <<<"$answer") -eq 2 && $(grep -c 'cannot be run' <<<"$answer") -eq 1 ]] ||
  die "a missing file among good ones: $answer"

cannot() {
  expect 1 "${@:2}"
  [[ $answer == *"cannot be run: "*"$1"* && $(wc -l <<<"$answer") -eq 1 ]] ||
    die "${*:2} does not say '$1': $answer"
}
cannot "is not an HDF5 file" inputs/data/digits/test-labels-idx1-ubyte.gz
cannot "averaging.method" --set method=magic "$cases/sma-k1.h5"
cannot "order is 40x1x8 but should be 40x1x4" --set batch=4 "$cases/sma-k1.h5"
cannot "learning rate" --set drop_at=20 "$cases/sma-k4-period3-restart.h5"
cannot "no case has such an attribute" --set colour=red "$cases/sma-k1.h5"
expect 2
expect 2 --nonsense "$cases/sma-k1.h5"
echo "good"
