#!/usr/bin/env bash
# Going on otherwise than before: another deck, another number of learners, checkpoints by the clock,
# a limit of memory.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT
deck=$folder/deck.toml
sed 's/^name = "mlp".*/&\nhidden = [16]/' inputs/smoke_digits.toml >"$deck"
newest() { find "$1/checkpoints" -name "round-*.h5" | sort | tail -1; }

# Checkpoints by the clock alone: a kill loses no more than the interval.
"$crossbow" run "$deck" run.output="$folder/timed" training.epochs=1000000 training.test_every=5 \
  checkpoint.every_minutes=0.01 >"$folder/log" 2>&1 &
process=$!
for _ in $(seq 1200); do
  [[ ! -e $folder/timed/history.csv || $(wc -l <"$folder/timed/history.csv") -lt 2 ]] || break
  sleep 0.1
done
sleep 3
kill -KILL $process 2>/dev/null || die "checkpoint.every_minutes: it has ended: $(cat "$folder/log")"
wait $process 2>/dev/null || true
[[ -n $(newest "$folder/timed") ]] || die "checkpoint.every_minutes: no checkpoint after 3 s of training"
age=$(($(date +%s) - $(stat -c %Y "$(newest "$folder/timed")")))
[[ $age -le 3 ]] || die "checkpoint.every_minutes = 0.01: the newest is $age s old"
expect 75 run "$deck" run.output="$folder/timed" training.epochs=1000000 --resume run.time_limit=0.3
says "resuming from"
for bad in -1 0.0.1 nan '"x"'; do
  expect 2 check "$deck" checkpoint.every_minutes="$bad"
  says "every_minutes"
done

# Another deck: refused, and taken with --override, which says what differs.
expect 0 run "$deck" run.output="$folder/deck" training.epochs=2
expect 2 run "$deck" run.output="$folder/deck" training.epochs=4 optimizer.learning_rate=0.01 --resume
says "learning_rate"
expect 0 run "$deck" run.output="$folder/deck" training.epochs=4 optimizer.learning_rate=0.01 --resume \
  --override
says "learning_rate"
[[ $(wc -l <"$folder/deck/history.csv") -eq 5 ]] || die "--override: not four rows"
[[ $(tail -1 "$folder/deck/history.csv" | cut -d, -f5) == 0.01 ]] || die "--override: the rate is as it was"
# Not over what can never fit.
expect 3 run "$deck" run.output="$folder/deck" training.epochs=6 'model.hidden=[7]' \
  optimizer.learning_rate=0.01 --resume --override
[[ $(wc -l <"$folder/deck/history.csv") -eq 5 ]] || die "--override: a refused resume changed the history"

# Another number of learners, up and down: it goes on, and says that it is not bit for bit.
expect 0 run "$deck" run.output="$folder/k" training.epochs=2
accuracy=$(tail -1 "$folder/k/history.csv" | cut -d, -f9)
epochs=2
for k in 4 1 3; do
  epochs=$((epochs + 2))
  expect 0 run "$deck" run.output="$folder/k" training.epochs=$epochs learners.per_device=$k --resume
  grep -qiE "bit|exact" <<<"$answer" || die "$k learners: not said that it is not bit-exact: $answer"
  [[ $(tail -1 "$folder/k/history.csv" | cut -d, -f6) -eq $k ]] || die "$k learners: the history says otherwise"
done
awk -v a="$accuracy" -F, 'END { exit !($9 > a - 0.05) }' "$folder/k/history.csv" ||
  die "other numbers of learners unlearnt: $(cut -d, -f6,9 "$folder/k/history.csv")"
[[ $(wc -l <"$folder/k/history.csv") -eq 9 ]] || die "other numbers of learners: not eight rows"

# A limit of memory [bytes]: enough is enough, too little is said before anything runs, in one sentence.
expect 0 run "$deck" run.output="$folder/m" training.epochs=1 run.memory_limit=4e9
for bad in -1 0 '"x"' nan -inf; do
  expect 2 check "$deck" run.memory_limit="$bad"
  says "memory_limit"
done
status=0
answer=$("$crossbow" run "$deck" run.output="$folder/little" 'model.hidden=[4096,4096]' \
  run.memory_limit=1e8 2>&1) || status=$?
[[ $status -eq 2 || $status -eq 5 ]] || die "too little memory: ended with $status: $answer"
says "memory"
[[ $(wc -l <<<"$answer") -eq 1 ]] || die "too little memory: not one sentence: $answer"
[[ ! -e $folder/little/history.csv ]] || die "too little memory: found late"
echo "going on: all as documented"
