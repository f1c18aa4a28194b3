#!/usr/bin/env bash
# scripts/run: a deck that is not there is an error of the command line; a deck is found relative
# to the caller's folder; a second call starts within seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() { echo "FAILED: $*"; exit 1; }

status=0
answer=$(scripts/run inputs/no_such_deck.toml 2>&1) || status=$?
[[ $status -eq 2 && $answer == *"no deck 'inputs/no_such_deck.toml'"* ]] ||
  die "a missing deck ended with $status: $answer"
status=0
scripts/run >/dev/null || status=$?
[[ $status -eq 2 ]] || die "no deck at all ended with $status"

# A deck with an error ends the program at once, so this tests the way there and nothing else.
# It uses the release build, which need not be the one under test.
[[ ${CROSSBOW_PROGRAM:-} == */build/release/crossbow ]] || { echo "not the release build"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$PWD
cd "$folder"
printf '[nonsense]\nkey = 1\n' >deck.toml
status=0
begin=$SECONDS
answer=$("$root/scripts/run" deck.toml 2>&1) || status=$?
[[ $status -eq 2 && $answer == *deck.toml* && $answer == *nonsense* ]] ||
  die "a wrong deck ended with $status: $answer"
[[ $((SECONDS - begin)) -lt 10 ]] || die "it took $((SECONDS - begin)) s to start"
echo "good"
