#!/usr/bin/env bash
# What goes wrong around a run: two on one folder, files that change or vanish, full and read-only
# disks, a closed standard output, a stopped process, a clock that jumps. What this machine does not
# allow is left out, with a message. (Kills: kill.py; signals: signals.sh; other users: strangers.sh.)
# shellcheck disable=SC2317  # the sections are called by name
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
process=
mounted=$folder/full
clean_up() {
  kill -KILL "$process" 2>/dev/null || true
  chattr -R -i "$folder" 2>/dev/null || true
  umount "$mounted" 2>/dev/null || true
  rm -rf "$folder"
}
trap clean_up EXIT
# A network so small that a run takes no time.
deck=$folder/deck.toml
sed 's/^name = "mlp".*/&\nhidden = [16]/' inputs/smoke_digits.toml >"$deck"
endless=(training.epochs=1000000 training.test_every=2 checkpoint.every_epochs=2)

# Start a run in folder $1 with arguments $2..., in the background, and wait for a row of its history.
begin() {
  out=$folder/$1
  shift
  "$crossbow" run "$deck" run.output="$out" "$@" >"$folder/log" 2>&1 &
  process=$!
  for _ in $(seq 300); do
    [[ -e $out/history.csv && $(wc -l <"$out/history.csv") -ge 2 ]] && return
    kill -0 "$process" 2>/dev/null || die "it does not run: $(cat "$folder/log")"
    sleep 0.05
  done
  die "no row of history after 15 s"
}
# The process must end by itself within $1 s with one of the statuses $2 ("0 3"); $3 says what is tested.
ends() {
  local status=0 start=$SECONDS
  while kill -0 "$process" 2>/dev/null; do
    [[ $((SECONDS - start)) -le $1 ]] || { kill -KILL "$process"; die "$3: still running after $1 s"; }
    sleep 0.05
  done
  wait "$process" || status=$?
  [[ " $2 " == *" $status "* ]] || die "$3: ended with $status, not $2: $(tail -5 "$folder/log")"
  answer=$(cat "$folder/log")
  [[ $answer != *"internal error"* ]] || die "$3: $answer"
}
rows() { wc -l <"$1/history.csv"; }
# Wait until the history has more than $1 lines; or die and say $2.
await_more() {
  for _ in $(seq 600); do
    [[ $(rows "$out") -le $1 ]] || return 0
    sleep 0.05
  done
  die "$2"
}
newest() { find "$1/checkpoints" -name "round-*.h5" | sort | tail -1; }
await_checkpoint() {
  for _ in $(seq 600); do
    [[ -z $(newest "$out") ]] || return 0
    sleep 0.05
  done
  die "no checkpoint after 30 s"
}
# The run in folder $1 must have trained 20 epochs as if nothing had happened; $2 says what did.
same() {
  if [[ ! -e $folder/open ]]; then
    expect 0 run "$deck" run.output="$folder/open" training.epochs=20
  fi
  [[ -e $folder/$1/history.csv ]] || die "$2: it did not train"
  diff <(untimed "$folder/open") <(untimed "$folder/$1") >"$folder/difference" ||
    die "$2: $(rows "$folder/$1") lines of history, not $(rows "$folder/open"), or others: $(head -3 "$folder/difference")"
  [[ $(basename "$(newest "$folder/$1")") == $(basename "$(newest "$folder/open")") ]] ||
    die "$2: the last checkpoint is not that of the end"
  tail -1 "$folder/$1/run.log" | grep -q "test accuracy" || die "$2: the log has no result"
}
# One sentence that begins with the program's name, whatever progress and warnings were before.
one_complaint() {
  [[ $(grep "^crossbow: " "$folder/log" | grep -cvE "warning: |: import(ed|ing) ") -eq 1 ]] || die "$1: not one complaint: $(cat "$folder/log")"
}

# Two on one folder.
two_on_one_folder() {
  begin two "${endless[@]}"
  holder=$process
  before=$(rows "$out")
  for more in "" --resume; do
    # shellcheck disable=SC2086  # no option is no argument
    expect 3 run "$deck" run.output="$folder/two" training.epochs=1 $more
    says "another run"
    says "$folder/two"
    says "$holder"            # who
    says "$(uname -n)"        # where
    [[ $(grep -c . <<<"$answer") -le 2 ]] || die "two runs: more than a sentence: $answer"
  done
  ln -s two "$folder/link"
  expect 3 run "$deck" run.output="$folder/link/" training.epochs=1
  expect 3 run "$deck" run.output="$folder/two/../two/." training.epochs=1
  kill -0 "$holder" || die "the first of two runs has ended"
  await_more "$before" "the first of two runs does not go on"
  [[ ! -e $folder/two.1 ]] || die "the folder of a running run was moved"
  # Killed: its lock is nobody's.
  kill -KILL "$holder"
  wait "$holder" 2>/dev/null || true
  expect 75 run "$deck" run.output="$folder/two" "${endless[@]}" --resume run.time_limit=0.2
  says "resuming from"
  # Many at once: one of them has it.
  for i in 1 2 3 4; do
    (status=0
    "$crossbow" run "$deck" run.output="$folder/race" training.epochs=20 >"$folder/race$i" 2>&1 || status=$?
    echo "$status" >"$folder/status$i") &
  done
  wait
  [[ $(sort -n "$folder"/status[1-4] | tr '\n' ' ') =~ ^(0 )+(3 )*$ ]] ||
    die "four at once ended with $(cat "$folder"/status[1-4]): $(cat "$folder"/race?)"
  for each in "$folder"/race "$folder"/race.[0-9]; do
    [[ ! -d $each ]] || [[ $(rows "$each") -eq 21 ]] || die "four at once: $each has $(rows "$each") lines"
  done
}

# Data that changes.
data_that_changes() {
  cp -r inputs/data/digits "$folder/mine"
  gunzip "$folder"/mine/*.gz
  expect 0 import mnist "$folder/mine" "$folder/train.h5"
  mine=(data.train="$folder/train.h5" data.test="$folder/train.h5")
  expect 0 run "$deck" run.output="$folder/data" "${mine[@]}" training.epochs=1
  cp "$folder/data/history.csv" "$folder/before.csv"
  cp "$folder/train.h5" "$folder/train0.h5"
  # One pixel.
  printf '\x07' | dd of="$folder/mine/train-images-idx3-ubyte" bs=1 seek=5000 conv=notrunc status=none
  expect 0 import mnist "$folder/mine" "$folder/train.h5"
  expect 2 run "$deck" run.output="$folder/data" "${mine[@]}" training.epochs=2 --resume
  says "data.train"
  cmp "$folder/data/history.csv" "$folder/before.csv" || die "a refused resume changed the history"
  cp "$folder/train0.h5" "$folder/train.h5"
  expect 0 run "$deck" run.output="$folder/data" "${mine[@]}" training.epochs=2 --resume
  # Gone.
  mv "$folder/train.h5" "$folder/elsewhere.h5"
  expect 3 run "$deck" run.output="$folder/data" "${mine[@]}" training.epochs=3 --resume
  says "train.h5"
  mv "$folder/elsewhere.h5" "$folder/train.h5"
  # While it trains: emptied, overwritten, removed. Never a crash; either it does not care, or it says so.
  for how in emptied overwritten removed; do
    cp "$folder/train0.h5" "$folder/train.h5"
    begin "data-$how" "${mine[@]}" training.epochs=20 checkpoint.every_epochs=2
    case $how in
      emptied) : >"$folder/train.h5" ;;
      overwritten) head -c "$(stat -c %s "$folder/train0.h5")" /dev/zero |
        dd of="$folder/train.h5" conv=notrunc status=none ;;
      removed) rm "$folder/train.h5" ;;
    esac
    ends 300 "0 3" "data $how while training"
    if grep -q "^test accuracy" "$folder/log"; then
      [[ $(rows "$out") -eq 21 ]] || die "data $how: rows are missing"
    else
      one_complaint "data $how"
      [[ $answer == *"train.h5"* ]] || die "data $how: not named: $answer"
    fi
    [[ -s $(newest "$out") ]] || die "data $how: no checkpoint"
  done
}

# Standard output and error.
closed_streams() {
  status=0
  "$crossbow" run "$deck" run.output="$folder/out" training.epochs=20 >&- || status=$?
  same out "standard output closed"
  "$crossbow" run "$deck" run.output="$folder/err" training.epochs=20 >/dev/null 2>&- || status=$?
  same err "standard error closed"
  "$crossbow" run "$deck" run.output="$folder/all" training.epochs=20 <&- >&- 2>&- || status=$?
  same all "all three closed"
  "$crossbow" run "$deck" run.output="$folder/fullout" training.epochs=20 >/dev/full 2>&1 || status=$?
  same fullout "/dev/full for standard output"
  for file in "$folder"/{out,err,all}/{history.csv,run.log,run.json}; do
    ! grep -q "crossbow: " "$file" || die "$file holds messages: a closed stream's number was used again"
  done
  { "$crossbow" run "$deck" run.output="$folder/head" training.epochs=20 || echo "$?" >"$folder/status"; } \
    2>&1 | head -1 >/dev/null || true
  same head "| head -1"
  "$crossbow" run "$deck" run.output="$folder/true" training.epochs=20 2>&1 | true || true
  same true "| true"
  # What only prints ends quietly.
  "$crossbow" keys 2>"$folder/err.txt" | head -1 >/dev/null || true
  [[ $(wc -l <"$folder/err.txt") -le 1 ]] || die "keys | head: $(cat "$folder/err.txt")"
}

# Stopped and continued; a clock that jumps.
stops_and_clocks() {
  begin stopped training.epochs=20 training.test_every=1
  for _ in 1 2 3; do
    kill -STOP "$process" 2>/dev/null || true
    sleep 0.4
    kill -CONT "$process" 2>/dev/null || true
    sleep 0.1
  done
  ends 300 0 "SIGSTOP and SIGCONT"
  same stopped "SIGSTOP and SIGCONT"

  cat >"$folder/jump.c" <<'C'
// The wall clock goes from day to day, forth and back, at each look; other clocks stay.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long calls;
static long offset(void) { return (++calls % 3 - 1) * 86400L * 400; }
int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int status = real(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec += offset();
  return status;
}
time_t time(time_t* place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval* restrict place, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  place->tv_sec = now.tv_sec;
  place->tv_usec = now.tv_nsec / 1000;
  return 0;
}
C
  if ! cc -shared -fPIC -O1 -o "$folder/jump.so" "$folder/jump.c" 2>"$folder/cc.log"; then
    echo "left out: a clock that jumps (no C compiler)"
  else
    LD_PRELOAD=$folder/jump.so "$crossbow" run "$deck" run.output="$folder/clock" training.epochs=20 \
      checkpoint.every_epochs=1 >"$folder/log" 2>&1 || die "a clock that jumps: $(cat "$folder/log")"
    same clock "a clock that jumps"
    awk -F, 'NR > 1 && ($4 < last || $4 > 60 || $11 <= 0) { bad = 1 } { last = NR > 1 ? $4 : 0 } END { exit bad }' \
      "$folder/clock/history.csv" || die "a clock that jumps: seconds are not: $(cut -d, -f4,11 "$folder/clock/history.csv")"
    status=0
    LD_PRELOAD=$folder/jump.so "$crossbow" run "$deck" run.output="$folder/clock2" training.epochs=1000000 \
      run.time_limit=1 >"$folder/log" 2>&1 || status=$?
    [[ $status -eq 75 ]] || die "a clock that jumps: the time limit ended with $status"
    awk -F, 'END { exit !($4 > 0.1 && $4 < 5) }' "$folder/clock2/history.csv" ||
      die "a clock that jumps: a limit of 1 s took $(tail -1 "$folder/clock2/history.csv" | cut -d, -f4) s"
    LD_PRELOAD=$folder/jump.so "$crossbow" run "$deck" run.output="$folder/clock2" training.epochs=1000000 \
      run.time_limit=1 --resume >"$folder/log" 2>&1 || status=$?
    [[ $status -eq 75 ]] || die "a clock that jumps: the resumed run ended with $status"
  fi
}

# Folders that vanish or cannot be written to.
folders_that_vanish() {
  begin gone "${endless[@]}"
  until rm -rf "$out" 2>/dev/null; do :; done  # it may be writing just then
  ends 300 3 "the folder removed while training"
  one_complaint "the folder removed"
  [[ $answer == *"$out"* ]] || die "the folder removed: not named: $answer"
  begin moved "${endless[@]}"
  await_checkpoint
  mv "$out" "$folder/moved-away"
  out=$folder/moved-away
  for _ in 1 2 3 4; do sleep 0.5; kill -0 "$process" 2>/dev/null || break; done
  kill -TERM "$process" 2>/dev/null || true
  ends 300 "3 75" "the folder moved while training"
  [[ -n $(newest "$folder/moved-away") ]] || die "the folder moved: no checkpoint"
  expect 75 run "$deck" run.output="$folder/moved-away" "${endless[@]}" --resume run.time_limit=0.2

  if ! { touch "$folder/immutable" && chattr +i "$folder/immutable"; } 2>/dev/null; then
    echo "left out: read-only folders (no chattr +i here)"
  else
    chattr -i "$folder/immutable"
    mkdir "$folder/fixed"
    chattr +i "$folder/fixed"
    expect 3 run "$deck" run.output="$folder/fixed" training.epochs=1
    says "$folder/fixed"
    expect 3 run "$deck" run.output="$folder/fixed/inside" training.epochs=1
    says "$folder/fixed"
    expect 3 import mnist inputs/data/digits "$folder/fixed/x.h5"
    [[ -z $(ls -A "$folder/fixed") ]] || die "read-only: something was written"
    chattr -i "$folder/fixed"
    for how in stop continue; do
      begin "fixed-$how" training.epochs=600 checkpoint.every_epochs=2 checkpoint.on_write_error="$how"
      await_checkpoint
      chattr +i "$out/checkpoints"
      kept=$(newest "$out")
      sum=$(sha256sum <"$kept")
      if [[ $how == continue ]]; then
        await_more $(($(rows "$out") + 10)) "on_write_error = continue: it does not go on"
        chattr -i "$out/checkpoints"
        ends 300 0 "on_write_error = continue"
        [[ $(rows "$out") -eq 601 ]] || die "continue: rows are missing"
      else
        ends 300 3 "on_write_error = stop"
        one_complaint "on_write_error = stop"
        chattr -i "$out/checkpoints"
        [[ $answer == *"checkpoints"* ]] || die "stop: no path: $answer"
        [[ $sum == $(sha256sum <"$kept") ]] || die "stop: the checkpoint before is not whole"
        expect 0 run "$deck" run.output="$out" --resume training.epochs=600 checkpoint.every_epochs=2
      fi
    done
  fi
}

# A full disk.
full_disk() {
  mkdir "$mounted"
  if mount -t tmpfs -o size=600k none "$mounted" 2>/dev/null; then
    big=('model.hidden=[256]' checkpoint.every_epochs=1 training.epochs=4)
    "$crossbow" run "$deck" run.output="$mounted/out" "${big[@]}" >"$folder/log" 2>&1 && die "a full disk: 0"
    answer=$(cat "$folder/log")
    one_complaint "a full disk"
    says "$mounted/out"
    [[ $answer =~ [0-9]+.*byte ]] || die "a full disk: no bytes: $answer"
    [[ -z $(find "$mounted" -name "*.temporary-*") ]] || die "a full disk: half a file was left"
    expect 3 import mnist inputs/data/digits "$mounted/x.h5"
    [[ ! -e $mounted/x.h5 ]] || die "a full disk: half a data set"
    # With room again it goes on, and ends like any other.
    mount -o remount,size=100m "$mounted"
    expect 0 run "$deck" run.output="$mounted/out" --resume "${big[@]}"
    expect 0 run "$deck" run.output="$folder/roomy" "${big[@]}"
    diff <(untimed "$folder/roomy") <(untimed "$mounted/out") >/dev/null || die "a full disk: another end"
    # No room for a row of history or a line of the log.
    begin_full=$mounted/tight
    mount -o remount,size=100m "$mounted"
    out=$begin_full
    "$crossbow" run "$deck" run.output="$out" training.epochs=100000 training.test_every=0.05 \
      >"$folder/log" 2>&1 &
    process=$!
    sleep 1
    head -c 100m /dev/zero >"$mounted/filler" 2>/dev/null || true
    ends 300 3 "a disk that fills up under the history"
    one_complaint "a disk that fills up under the history"
    tail -c 1 "$out/history.csv" | od -c | grep -q '\\n' || die "half a row of history was left"
    umount "$mounted"
  else
    echo "left out: a full file system (no mounting here)"
  fi
  (ulimit -f 60; status=0
  "$crossbow" run "$deck" run.output="$folder/limited" 'model.hidden=[256]' >"$folder/log" 2>&1 || status=$?
  echo "$status" >"$folder/status")
  [[ $(cat "$folder/status") -eq 3 ]] || die "ulimit -f: ended with $(cat "$folder/status"): $(cat "$folder/log")"
  one_complaint "ulimit -f"
  [[ -z $(find "$folder/limited" -name "*.temporary-*") ]] || die "ulimit -f: half a file was left"
}

failed=0
for section in two_on_one_folder data_that_changes closed_streams stops_and_clocks folders_that_vanish \
  full_disk; do
  [[ -z ${1:-} || $1 == "$section" ]] || continue
  set +e  # each for itself; inside, the first fault ends it
  (set -e; trap 'kill -KILL "$process" 2>/dev/null || true' EXIT; $section)
  status=$?
  set -e
  if [[ $status -eq 0 ]]; then
    echo "$section: all well"
  else
    echo "FAILED: $section"
    failed=1
  fi
done
exit $failed
