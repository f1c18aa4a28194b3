#!/usr/bin/env bash
# SIGUSR1, SIGTERM and SIGINT finish the round, save and end with 75 within 3 s for LeNet; who asks a
# second time (SIGINT; SIGTERM more than 5 s after the first) is let go at once.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
process=
trap 'kill -KILL $process 2>/dev/null || true; rm -rf "$folder"' EXIT

# 28x28 images at random: LeNet needs nothing better to be slow.
mkdir "$folder/data"
python3 - "$folder/data" <<'PYTHON'
import random, struct, sys
rng = random.Random(1)
for split, n in (("train", 6000), ("test", 500)):
    with open(f"{sys.argv[1]}/{split}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4I", 0x803, n, 28, 28) + rng.randbytes(n * 784))
    with open(f"{sys.argv[1]}/{split}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2I", 0x801, n) + bytes(rng.randrange(10) for _ in range(n)))
PYTHON
cat >"$folder/deck.toml" <<DECK
[data]
train = "$folder/data"
test = "$folder/data"
[model]
name = "lenet"
[training]
epochs = 100000
test_every = 1
[optimizer]
learning_rate = 0.001
[learners]
per_device = 2
threads = 1
[devices]
domain = "machine"
DECK
cat >"$folder/slow.toml" <<DECK  # a round takes half a second and more
[data]
train = "$folder/data"
test = "$folder/data"
[model]
name = "mlp"
hidden = [2048, 2048]
[training]
batch = 1000
epochs = 100000
test_every = 0
[optimizer]
learning_rate = 0.0001
[learners]
per_device = 2
threads = 1
[devices]
domain = "machine"
DECK

now() { date +%s%N; }
since() { echo $((($(now) - $1) / 1000000)); }  # [ms]
# Start deck $1 in folder $2 with arguments $3..., in the background but open to SIGINT, and wait until
# it trains.
begin() {
  local deck=$1
  out=$folder/$2
  shift 2
  rm -rf "$out"
  python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$crossbow" run "$folder/$deck" run.output="$out" "$@" \
    >"$folder/log" 2>&1 &
  process=$!
  for _ in $(seq 300); do
    grep -q "learner(s) of" "$out/run.log" 2>/dev/null && break
    kill -0 "$process" || die "it does not start: $(cat "$folder/log")"
    sleep 0.1
  done
  sleep "${warm:-0.7}"
}
# The process must end with status $1 within $2 ms from now; says how long it took in `took`.
ends() {
  local status=0 start
  start=$(now)
  (sleep $((${2} / 1000 + 20)); kill -KILL "$process" 2>/dev/null) &
  local watch=$!
  wait "$process" || status=$?
  took=$(since "$start")
  kill "$watch" 2>/dev/null || true
  [[ $status -eq $1 ]] || die "$3: ended with $status, not $1: $(tail -3 "$folder/log")"
  [[ $took -le $2 ]] || die "$3: it took $took ms, not at most $2"
}
newest() { find "$out/checkpoints" -name "round-*.h5" | sort | tail -1; }
no_leavings() {
  [[ -z $(find "$out" -name "*.temporary-*") ]] || die "$1: left $(find "$out" -name "*.temporary-*")"
}

for signal in USR1 TERM INT; do
  for where in training testing; do
    more=()
    [[ $where == training ]] || more=(training.test_every=0.001)  # nearly all of the time
    begin deck.toml "$signal" "${more[@]}"
    kill -s "$signal" "$process"
    ends 75 3000 "SIG$signal while $where"
    echo "SIG$signal while $where: 75 after $took ms"
    [[ -s $(newest) ]] || die "SIG$signal: no checkpoint"
    no_leavings "SIG$signal"
    grep -q "stopped by signal" "$out/run.log" || die "SIG$signal: the log does not say it"
  done
  expect 75 run "$folder/deck.toml" run.output="$out" --resume run.time_limit=0.3
  says "resuming from"
done

# A second one of the same kind at once: SIGINT ends it, SIGTERM and SIGUSR1 do not.
warm=1.5
begin slow.toml twice
kill -s INT "$process"; sleep 0.1
kill -s INT "$process"
ends 130 400 "a second SIGINT"
echo "a second SIGINT: 130 after $took ms"
for signal in TERM USR1; do
  begin slow.toml twice
  kill -s "$signal" "$process"; sleep 0.1
  kill -s "$signal" "$process"
  ends 75 60000 "SIG$signal twice at once"
  [[ -s $(newest) ]] || die "SIG$signal twice: no checkpoint"
done
# Send signal $1 to a run in folder $2, and SIGTERM more than 5 s later; while it is stopped, the round
# does not end.
then_late_term() {
  begin slow.toml "$2"
  kill -s "$1" "$process"; sleep 0.1
  kill -s STOP "$process"; sleep 5.2
  kill -s TERM "$process"
  kill -s CONT "$process"
}
then_late_term TERM late
ends 143 400 "a SIGTERM 5 s after the first"
echo "a SIGTERM 5 s after the first: 143 after $took ms"
# SIGUSR1 long before is no such first.
then_late_term USR1 early
ends 75 60000 "a SIGTERM 5 s after SIGUSR1"
no_leavings "SIGTERM after SIGUSR1"
echo "signals: all as documented"
