#!/usr/bin/env bash
# The program as a user meets it: commands, files, exit statuses, a stop and a resume.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT
deck=inputs/smoke_digits.toml

# A whole run and its files.
expect 0 run $deck run.output="$folder/whole" devices.domain=machine --json "$folder/figures.json"
pattern='test accuracy 0\.[0-9]{4}, median of five 0\.[0-9]{4}, [0-9.]+ epochs, [0-9.]+ s of training, [0-9]+ images/s$'
[[ $answer =~ $pattern ]] || die "the last line is not as documented: $answer"
[[ $(wc -l <"$folder/whole/history.csv") -eq 11 ]] || die "not 10 rows"
for file in run.json run.log checkpoints; do
  [[ -e $folder/whole/$file ]] || die "no $file"
done
python3 - "$folder" <<'PYTHON' || die "run.json or the figures are not as documented"
import json, sys
record = json.load(open(sys.argv[1] + "/whole/run.json"))
figures = json.load(open(sys.argv[1] + "/figures.json"))
assert record["learners"] == 2 and record["batch_of_all_learners"] == 2 * record["batch_per_learner"]
assert record["result"]["finished"] and record["result"]["peak_memory_bytes"] > 1 << 20
assert len(record["devices"]["placement"]["learners"]) == 2 and record["training_data"]["samples"] == 1437
assert figures["test_accuracy"] > 0.88, figures
PYTHON
newest=$(find "$folder/whole/checkpoints" -name "*.h5" | sort | tail -1)
wanted=$(tail -1 "$folder/whole/history.csv" | cut -d, -f9)
expect 0 evaluate "$newest" digits
[[ $(printf '%.4f' "$wanted") == $(cut -d' ' -f3 <<<"$answer" | tr -d ,) ]] ||
  die "evaluate says \"$answer\", the history $wanted"
expect 0 export "$newest" "$folder/z.h5"
expect 0 evaluate "$folder/z.h5" digits
[[ $(stat -c %s "$folder/z.h5") -lt $(($(stat -c %s "$newest") / 2)) ]] || die "export kept it all"

# The same deck again leaves the first run's files alone.
expect 0 run $deck run.output="$folder/whole" training.epochs=1
[[ $(wc -l <"$folder/whole.1/history.csv") -eq 11 ]] || die "the first run was not kept"
# Checkpoints alone are an earlier run, too: a later --resume must not find them.
rm "$folder/whole/history.csv"
expect 0 run $deck run.output="$folder/whole" training.epochs=1
[[ -n $(ls "$folder/whole.2/checkpoints") ]] || die "checkpoints without a history were not kept"

# Two runs are equal; a stopped and resumed one is too.
diff <(untimed "$folder/whole.1") <("$crossbow" run $deck run.output="$folder/again" >/dev/null &&
  untimed "$folder/again") >/dev/null || die "two runs differ"
"$crossbow" run $deck run.output="$folder/stopped" training.epochs=400 >"$folder/log" 2>&1 &
process=$!
for _ in $(seq 100); do
  [[ -e $folder/stopped/history.csv && $(wc -l <"$folder/stopped/history.csv") -ge 3 ]] && break
  sleep 0.1
done
kill -TERM $process
status=0
wait $process || status=$?
[[ $status -eq 75 ]] || die "SIGTERM ended with $status: $(cat "$folder/log")"
epochs=$(($(wc -l <"$folder/stopped/history.csv") + 4))  # at least four more
expect 0 run $deck run.output="$folder/stopped" --resume training.epochs=$epochs
says "resuming from"
expect 0 run $deck run.output="$folder/uninterrupted" training.epochs=$epochs
[[ $(wc -l <"$folder/stopped/history.csv") -eq $((epochs + 1)) ]] || die "rows are missing"
diff <(untimed "$folder/uninterrupted") <(untimed "$folder/stopped") ||
  die "resumed differs from uninterrupted"
# Another training is not gone on with, whatever differs.
for change in run.seed=2 optimizer.momentum=0.5 data.mean=0.5 model.hidden='[7]'; do
  expect 2 run $deck run.output="$folder/stopped" --resume "$change"
  says "${change%%=*}"
done
# An exported model is no state of a training, whatever the method keeps.
for method in ssgd sma; do
  here=$folder/exported-$method
  expect 0 run $deck run.output="$here" training.epochs=1 averaging.method=$method
  newest=$(printf '%s\n' "$here"/checkpoints/round-*.h5 | tail -n 1)
  expect 0 export "$newest" "$folder/model.h5"
  rm "$here"/checkpoints/*
  cp "$folder/model.h5" "$newest"
  expect 3 run $deck run.output="$here" --resume training.epochs=2 averaging.method=$method
  says "replica0"
done
# An average model with batch norm is tested as its run tested it, exported or not.
cat >"$folder/normed.toml" <<'DECK'
[training]
epochs = 2
[[model.layer]]
type = "convolution"
filters = 4
kernel = 3
[[model.layer]]
type = "batch_norm"
[[model.layer]]
type = "relu"
[[model.layer]]
type = "linear"
units = 10
DECK
for statistics in average recompute; do
  here=$folder/normed-$statistics
  expect 0 run "$folder/normed.toml" run.output="$here" batch_norm.statistics=$statistics
  newest=$(printf '%s\n' "$here"/checkpoints/round-*.h5 | tail -n 1)
  expect 0 export "$newest" "$folder/model.h5"
  tested=$(tail -n 1 "$here/history.csv" | awk -F, '{ printf "test accuracy %.4f, test loss %.4f", $9, $8 }')
  for file in "$newest" "$folder/model.h5"; do
    expect 0 evaluate "$file" digits
    says "$tested"
  done
done
# Locks of HDF5 are off; who has them on and meets one is told which variable it is.
flock "$newest" "$crossbow" evaluate "$newest" digits >/dev/null || die "a locked file is not read"
status=0
answer=$(HDF5_USE_FILE_LOCKING=TRUE flock "$newest" "$crossbow" evaluate "$newest" digits 2>&1) || status=$?
[[ $status -eq 3 ]] || die "a locked file with locks on ended with $status: $answer"
says "HDF5_USE_FILE_LOCKING"
# A run that is over and lost its history; one that lost its checkpoints, whose files stay.
rm "$folder/stopped/history.csv"
expect 0 run $deck run.output="$folder/stopped" --resume training.epochs=$epochs
says "test accuracy -, median of five -"
rm "$folder/again/checkpoints/"*
expect 0 run $deck run.output="$folder/again/" --resume training.epochs=1
[[ $(wc -l <"$folder/again.1/history.csv") -eq 11 ]] || die "--resume wrote over a run"
expect 3 run $deck run.output="$folder/json" --json "$folder/none/figures.json"
[[ ! -e $folder/json ]] || die "an unwritable --json was found late"
expect 75 run $deck run.output="$folder/limit" training.epochs=100000 run.time_limit=0.5

# Errors: status, sentence, and nothing lost.
expect 2 run $deck trainign.batch=4
says "training"
expect 2 check $deck training.batch=0 optimizer.momentum=2
says "training.batch"
says "optimizer.momentum"
expect 2 check $deck training.batch=5000
says "1437"
expect 2 run "$folder/none.toml"
expect 2 nonsense
expect 2 run
expect 2 import cifar "$folder" "$folder/x.h5"
expect 3 check $deck data.train=nowhere
says "nowhere"
expect 3 evaluate "$folder/none.h5" digits
expect 4 run $deck run.output="$folder/nan" optimizer.learning_rate=1e20
says "is not finite"
says "learner 0"
[[ -z $(find "$folder/nan/checkpoints" -type f) ]] || die "a bad state was saved"

# What is written to stays what it is: a pipe is refused, a link leads to its file.
mkfifo "$folder/pipe"
expect 3 keys "$folder/pipe"
[[ -p $folder/pipe ]] || die "a pipe was replaced by a file"
touch "$folder/file" && ln -s file "$folder/link"
expect 0 keys "$folder/link"
[[ -L $folder/link && -s $folder/file ]] || die "a link was replaced by a file"
status=0
"$crossbow" keys >/dev/full 2>/dev/null || status=$?
[[ $status -eq 3 ]] || die "a full standard output ended with $status"
expect 2 export "$folder/z.h5" "$folder/z.h5"
expect 2 bench $deck --batches 8 --learners 8 averaging.alpha=0.6
says "diverges with 8 learners"

# More threads than cores, and an environment that asks for more than there can be.
expect 0 run $deck run.output="$folder/threads" training.epochs=0.1 learners.threads=8
OMP_NUM_THREADS=100000 expect 0 run $deck run.output="$folder/threads" training.epochs=0.1

# A run that has reached its target has nothing left to do.
reach=(training.test_every=0.2 training.target_accuracy=0.8)
expect 0 run $deck run.output="$folder/target" "${reach[@]}"
rows=$(wc -l <"$folder/target/history.csv")
expect 0 run $deck run.output="$folder/target" "${reach[@]}" --resume
says "TTA(0.8)"
[[ $(wc -l <"$folder/target/history.csv") -eq $rows ]] || die "a reached target trained on"

# import, and a deck that uses it; the reference of keys.
expect 0 import mnist inputs/data/digits "$folder/train.h5"
expect 0 import mnist inputs/data/digits "$folder/test.h5" --split test
expect 0 check $deck data.train="$folder/train.h5" data.test="$folder/test.h5"
expect 0 keys "$folder/keys.md"
cmp "$folder/keys.md" inputs/README.md || die "inputs/README.md is not current"
for each in inputs/*.toml; do
  case $each in
    *mnist* | *imagenet*) ;;  # their data are not here
    *cifar*) [[ ! -d ../shared/data/cifar10 ]] || expect 0 check "$each" ;;
    *) expect 0 check "$each" ;;
  esac
done
echo "commands, files and exit statuses are as documented"
