#!/usr/bin/env bash
# Where the program is a guest: HOME unset, another user, a checkout that cannot be written to, 64 MB of
# /dev/shm. What this machine does not allow is left out, with a message.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT
deck=$PWD/inputs/smoke_digits.toml
short=(training.epochs=1)

# Run a command as it is told; status 0 and a result, or die with the name $1.
works() {
  local name=$1 status=0
  shift
  answer=$("$@" 2>&1) || status=$?
  [[ $status -eq 0 ]] || die "$name: ended with $status: $answer"
  [[ $answer == *"test accuracy"* ]] || die "$name: no result in: $answer"
  # What cannot be done (a cache) costs a line.
  [[ $(grep "^crossbow: " <<<"$answer" | grep -cv ": importing ") -le 2 ]] || die "$name: many complaints: $answer"
}

# Without HOME, without any environment; a HOME that is not there, is a file, is relative.
bare=(env -i PATH="$PATH" "$crossbow" run "$deck" "${short[@]}")
cd "$folder"
touch file
works "an empty environment" "${bare[@]}" run.output="$folder/bare"
works "HOME is empty" env -u XDG_CACHE_HOME -u CROSSBOW_CACHE HOME= "$crossbow" run "$deck" \
  "${short[@]}" run.output="$folder/empty"
works "HOME does not exist" env -u XDG_CACHE_HOME -u CROSSBOW_CACHE HOME="$folder/none/home" "$crossbow" \
  run "$deck" "${short[@]}" run.output="$folder/nohome"
works "HOME is a file" env -u XDG_CACHE_HOME -u CROSSBOW_CACHE HOME="$folder/file" "$crossbow" \
  run "$deck" "${short[@]}" run.output="$folder/filehome"
works "TMPDIR does not exist" env TMPDIR="$folder/none/tmp" "$crossbow" run "$deck" "${short[@]}" \
  run.output="$folder/tmpdir"
works "a locale that is not there" env LC_ALL=xx_YY.UTF-8 "$crossbow" run "$deck" "${short[@]}" \
  run.output="$folder/locale"
[[ -s file ]] && die "a file that is HOME was written to"
[[ ! -e $folder/.cache ]] || die "a cache in the working folder"

if [[ $(id -u) -ne 0 ]]; then
  echo "left out: another user, a read-only checkout, /dev/shm of 64 MB (not root)"
  echo "guests: all well"
  exit
fi
other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if ! "${other[@]}" test -x "$crossbow" -a -r "$deck"; then
  echo "left out: another user (may not read the program)"
else
  mkdir "$folder/theirs" && chown 65534:65534 "$folder/theirs" && chmod 755 "$folder"
  works "another user" env -u CROSSBOW_CACHE HOME=/root "${other[@]}" "$crossbow" run "$deck" \
    "${short[@]}" run.output="$folder/theirs/out"
  works "another user without HOME" env -u CROSSBOW_CACHE -u HOME "${other[@]}" "$crossbow" run \
    "$deck" "${short[@]}" run.output="$folder/theirs/out2"
  # A folder and files of somebody else: one sentence, and they stay as they are.
  works "a run of root" "$crossbow" run "$deck" "${short[@]}" run.output="$folder/ours"
  before=$(find "$folder/ours" -type f -exec sha256sum {} + | sort)
  for more in "" --resume; do
    status=0
    # shellcheck disable=SC2086  # no option is no argument
    answer=$("${other[@]}" "$crossbow" run "$deck" run.output="$folder/ours" $more 2>&1) || status=$?
    [[ $status -eq 3 ]] || die "another's folder ($more): ended with $status: $answer"
    says "$folder/ours"
    [[ $(wc -l <<<"$answer") -le 2 ]] || die "another's folder: more than a sentence: $answer"
  done
  chmod 000 "$(find "$folder/ours/checkpoints" -name "round-*.h5" | sort | tail -1)"
  status=0
  answer=$("${other[@]}" "$crossbow" evaluate "$(find "$folder/ours/checkpoints" -name "round-*.h5" |
    sort | tail -1)" digits 2>&1) || status=$?
  [[ $status -eq 3 && $answer == *"ermission"* ]] || die "an unreadable file: $status: $answer"
  chmod 644 "$folder"/ours/checkpoints/*
  [[ $before == $(find "$folder/ours" -type f -exec sha256sum {} + | sort) ]] ||
    die "another user changed a run"
  # An unreadable deck and data set.
  cp "$deck" "$folder/theirs/deck.toml" && chmod 000 "$folder/theirs/deck.toml"
  status=0
  answer=$("${other[@]}" "$crossbow" check "$folder/theirs/deck.toml" 2>&1) || status=$?
  [[ $status -eq 2 || $status -eq 3 ]] || die "an unreadable deck: $status: $answer"
  says "deck.toml"
fi

if ! unshare -m true 2>/dev/null; then
  echo "left out: a read-only checkout, /dev/shm of 64 MB (no mounting here)"
  echo "guests: all well"
  exit
fi
# Everything below the checkout and the program read-only, /dev/shm small, for this command only.
guest() {
  local root
  root=$(cd "$CROSSBOW_SOURCE_DIR" && pwd)
  # shellcheck disable=SC2016  # for the inner shell
  unshare -m bash -c '
    set -e
    for place in "$1" "$(dirname "$2")"; do
      mount --bind "$place" "$place"
      mount -o remount,bind,ro "$place"
    done
    mount -t tmpfs -o size=64m none /dev/shm
    cd "$1"  # the mounted one
    ! touch here 2>/dev/null || { echo "the checkout can be written to"; exit 99; }
    shift 2
    exec "$@"' guest "$root" "$crossbow" "$@"
}
works "a read-only checkout" guest env -u CROSSBOW_CACHE -u HOME "$crossbow" run \
  inputs/smoke_digits.toml "${short[@]}" run.output="$folder/guest"
status=0
answer=$(guest "$crossbow" run inputs/smoke_digits.toml "${short[@]}" 2>&1) || status=$?
[[ $status -eq 3 ]] || die "an output in a read-only checkout: $status: $answer"
says "output"
works "a small /dev/shm and many learners" guest "$crossbow" run inputs/smoke_digits.toml \
  "${short[@]}" run.output="$folder/many" learners.per_device=8 'model.hidden=[512]'
if [[ -d $folder/theirs ]]; then
  works "all of it" guest env -u CROSSBOW_CACHE -u HOME "${other[@]}" "$crossbow" run \
    inputs/smoke_digits.toml "${short[@]}" run.output="$folder/theirs/guest"
fi
echo "guests: all well"
