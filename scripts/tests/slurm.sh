#!/usr/bin/env bash
# Real jobs under a real one-node Slurm: to the end, warned and requeued, cancelled, with fewer cores,
# as an array. Skipped (77) where Slurm cannot be installed or started.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

tools=$PWD/../shared/slurm
[[ -x $tools/slurm-up && $(id -u) -eq 0 ]] || { echo "skipped: no $tools or not root"; exit 77; }
# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
started=$("$tools/slurm-up" "$folder/s" 2>"$folder/slurm.log") ||
  { tail -3 "$folder/slurm.log"; echo "skipped: Slurm does not start"; rm -rf "$folder"; exit 77; }
eval "$started"
trap '"$tools/slurm-down" >/dev/null 2>&1; rm -rf "$folder"' EXIT
root=$PWD
script=$root/scripts/slurm/train.sbatch
deck=$root/inputs/smoke_digits.toml
# A small network that trains for a minute or two if it is let.
long=("$deck" training.epochs=2000 training.test_every=100 checkpoint.every_epochs=100)
"$crossbow" check "$deck" >/dev/null 2>&1  # imports the data once
mkdir "$folder/jobs"
cd "$folder/jobs"

submit() { sbatch --parsable "$@" 2>>"$folder/slurm.log"; }
state() { squeue -t all -h -j "$1" -o %T | head -1; }
# Wait until job $1 is in one of the states $2...
await() {
  local job=$1 seen
  shift
  for _ in $(seq 600); do
    seen=$(state "$job")
    for wanted in "$@"; do [[ $seen == "$wanted" ]] && return; done
    sleep 0.2
  done
  die "job $job is $seen, not $*: $(tail -5 slurm-"$job".out 2>/dev/null)"
}
# Wait until job $1 trains in folder $2.
await_training() {
  await "$1" RUNNING
  for _ in $(seq 300); do grep -q "^100" "$2/history.csv" 2>/dev/null && return; sleep 0.1; done
  die "job $1 does not train: $(tail -5 slurm-"$1".out 2>/dev/null)"
}

# To the end, on the cores of the allocation only.
job=$(submit --cpus-per-task=1 "$script" "$deck" run.output=end learners.per_device=1)
await "$job" COMPLETED
python3 - end/run.json "$job" <<'PYTHON' || die "the record of a job on one core is not as expected"
import json, sys
record = json.load(open(sys.argv[1]))
assert record["result"]["finished"] and record["machine"]["cores"] == 1, record["machine"]
assert record["job"]["SLURM_JOB_ID"] == sys.argv[2], record["job"]
PYTHON

# Warned as before a limit: it saves, goes back into the queue, resumes, and ends like a run that
# nobody disturbed.
"$crossbow" run "${long[@]}" training.epochs=800 run.output=undisturbed >/dev/null 2>&1
job=$(submit --cpus-per-task=2 "$script" "${long[@]}" training.epochs=800 run.output=warned)
await_training "$job" warned
scancel -s USR1 "$job"
await "$job" COMPLETED
[[ $(scontrol -o show job "$job" | grep -o "Restarts=[0-9]*") == Restarts=1 ]] ||
  die "the job was not restarted once"
grep -q "back into the queue" "slurm-$job.out" || die "the script does not say that it requeues"
python3 -c "
import json
record = json.load(open('warned/run.json'))
assert record['job']['SLURM_RESTART_COUNT'] == '1' and record['resumed_from_round'] > 0
" || die "the record does not know of the restart"
diff <(untimed undisturbed) <(untimed warned) || die "a requeued run ends otherwise than one that was not"

# At its limit, without a warning that reaches it: the run asks Slurm for the end of its job, saves
# before it, goes back into the queue and resumes. Rows are those of the run that nobody disturbed.
job=$(submit --time=1 --signal=B:CONT@1 --cpus-per-task=2 "$script" "${long[@]}" \
  training.epochs=100000 run.output=limited)
await_training "$job" limited
grep -q "the job ends in" limited/run.log || die "the run does not know its limit: $(cat limited/run.log)"
for _ in $(seq 600); do grep -q "the job's limit" limited/run.log && break; sleep 0.1; done
grep -q "stopped by the job's limit" limited/run.log || die "the limit did not stop it: $(tail -3 limited/run.log)"
for _ in $(seq 900); do grep -q '"resumed_from_round": [1-9]' limited/run.json && break; sleep 0.1; done
grep -q '"resumed_from_round": [1-9]' limited/run.json || die "it did not resume: $(tail -3 "slurm-$job.out")"
[[ $(scontrol -o show job "$job" | grep -o "Restarts=[0-9]*") == Restarts=1 ]] ||
  die "the job was not restarted once at its limit"
scancel "$job"
await "$job" CANCELLED
rows=$(($(wc -l <undisturbed/history.csv) < $(wc -l <limited/history.csv) ?
  $(wc -l <undisturbed/history.csv) : $(wc -l <limited/history.csv)))
diff <(untimed undisturbed | head -n "$rows") <(untimed limited | head -n "$rows") ||
  die "a run that its job's limit stopped goes on otherwise than one that was not"

# Cancelled: saved within Slurm's patience, so that the same line goes on.
job=$(submit --cpus-per-task=2 "$script" "${long[@]}" run.output=cancelled)
await_training "$job" cancelled
scancel "$job"
await "$job" CANCELLED
for _ in $(seq 50); do
  grep -q "stopped by signal" cancelled/run.log && break
  sleep 0.1
done
grep -q "stopped by signal 15" cancelled/run.log || die "a cancelled job did not save: $(tail -3 cancelled/run.log)"

# A run for each seed.
job=$(submit --array=1-2 --cpus-per-task=1 "$script" "$deck" learners.per_device=1)
await "${job}_1" COMPLETED
await "${job}_2" COMPLETED
for seed in 1 2; do
  grep -q "\"seed\": $seed" "output/smoke_digits-$seed/run.json" || die "task $seed has another seed"
done

rm -rf output
# A run for each line of overrides; none for a line that is not there.
printf '%s\n' "training.batch=4 training.epochs=1" "training.batch=8 training.epochs=2" >overrides
job=$(CROSSBOW_OVERRIDES=$PWD/overrides submit --array=1-3 --cpus-per-task=1 "$script" "$deck" learners.per_device=1)
await "${job}_1" COMPLETED
await "${job}_2" COMPLETED
await "${job}_3" FAILED
for task in 1 2; do
  grep -q "\"batch_per_learner\": $((4 * task))," "output/smoke_digits-$task/run.json" ||
    die "task $task does not have the overrides of its line"
done
[[ ! -e output/smoke_digits-3 ]] || die "a task without a line of overrides ran"

# Without a deck, or without the program: one sentence.
job=$(submit "$script")
await "$job" FAILED
grep -q "no deck" "slurm-$job.out" || die "no word of the missing deck"
echo "slurm: jobs end, go on, stop and multiply as documented"
