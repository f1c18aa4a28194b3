# shellcheck shell=bash
# What tests of the program share. Sourced from the clone; leaves a folder in `folder`, which the
# test removes, and the program in `crossbow`.

die() { echo "FAILED: $*"; exit 1; }

crossbow=${CROSSBOW_PROGRAM:?}
folder=$(mktemp -d)
export CROSSBOW_CACHE=$folder/cache

# Run crossbow with arguments $2...; it must exit with $1. What it printed is left in `answer`.
expect() {
  local wanted=$1 status=0
  shift
  answer=$("$crossbow" "$@" 2>&1) || status=$?
  [[ $status -eq $wanted ]] || die "crossbow $* ended with $status, not $wanted: $answer"
}
says() { [[ $answer == *"$1"* ]] || die "no \"$1\" in: $answer"; }
# history.csv without its two columns of time.
untimed() { cut -d, -f1-3,5-10 "$1/history.csv"; }
