#!/usr/bin/env bash
# learners.per_device = "auto": what the tuner decides is in tuner.csv, log and record; a resumed run
# goes on with it; memory is a limit, not an error.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT
deck=$folder/deck.toml
sed -e 's/^name = "mlp".*/&\nhidden = [16]/' -e '/^per_device/d' -e '/^threads/d' inputs/smoke_digits.toml >"$deck"
grep -q '^\[learners\]' "$deck" || printf '[learners]\n' >>"$deck"
sed -i 's/^\[learners\].*/&\nper_device = "auto"/' "$deck"
run=$folder/run
header=rounds,samples,seconds,learners_per_device,learners,threads,images_per_second,decision,reason
column() { tail -n +2 "$run/tuner.csv" | cut -d, -f"$1"; }

expect 0 check "$deck" learners.maximum=3
says "1 to 3 learner(s)"
expect 0 run "$deck" run.output="$run" training.epochs=300 training.test_every=50 learners.maximum=3 \
  autotune.window=0.002 devices.domain=machine
[[ $(head -1 "$run/tuner.csv") == "$header" ]] || die "the header of tuner.csv: $(head -1 "$run/tuner.csv")"
[[ $(column 8 | head -1) == measured && $(column 4 | head -1) == 1 ]] || die "not one learner first: $(column 4,8)"
[[ $(column 8 | grep -c settled) -ge 1 ]] || die "nothing was settled: $(cat "$run/tuner.csv")"
[[ $(column 5 | sort -n | tail -1) -le 3 ]] || die "more learners than learners.maximum: $(cat "$run/tuner.csv")"
[[ $(column 8 | wc -l) -eq $(grep -c "tuner: " "$run/run.log") ]] || die "the log has other decisions than tuner.csv"
last=$(column 5 | tail -1)
[[ $(tail -1 "$run/history.csv" | cut -d, -f6) -eq $last ]] || die "the history ends with other learners than $last"
python3 - "$run/run.json" "$last" <<'END' || die "run.json does not tell of the tuner"
import json, sys
record = json.load(open(sys.argv[1]))
learners = int(sys.argv[2])
assert record["learners"] == learners == record["tuner"]["learners"], (record["learners"], record["tuner"])
assert 0 < record["tuner"]["search_seconds"] <= record["result"]["training_seconds"]
END

# Resumed: with what was settled on, without a search, and it says that it is not bit for bit, once.
rows=$(column 8 | wc -l)
expect 0 run "$deck" run.output="$run" training.epochs=330 training.test_every=50 learners.maximum=3 \
  autotune.window=0.002 devices.domain=machine --resume
[[ $(grep -c "bit for bit" <<<"$answer") -eq 1 ]] || die "not said once that it is not bit-exact: $answer"
[[ $(tail -1 "$run/history.csv" | cut -d, -f1 | cut -d. -f1) -eq 330 ]] || die "it did not go on: $(tail -1 "$run/history.csv")"
[[ $(tail -n +2 "$run/tuner.csv" | sed -n "$((rows + 1))p" | cut -d, -f8) != measured ]] ||
  die "searched again: $(cat "$run/tuner.csv")"

# Room for one learner, not for two.
expect 0 run "$deck" run.output="$folder/m" 'model.hidden=[1024,1024]' training.epochs=20 training.test_every=0 \
  run.memory_limit=54e6 autotune.window=0.001 devices.domain=machine
grep -q ",no room," "$folder/m/tuner.csv" || grep -q "tuning" "$folder/m/tuner.csv" ||
  die "no room for two was not found: $(cat "$folder/m/tuner.csv")"
[[ $(tail -1 "$folder/m/history.csv" | cut -d, -f6) -eq 1 ]] || die "two learners in the memory of one"

# Where it makes no sense it is refused, in a sentence.
expect 2 check "$deck" 'devices.topology="core:2 pu:1"'
says 'learners.per_device = "auto"'
expect 2 check "$deck" learners.per_device=2 autotune.window=1
says "autotune.window has no effect"
echo "tuner: all as documented"
