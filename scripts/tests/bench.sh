#!/usr/bin/env bash
# `crossbow bench`: its tables and its data. Whether figures are good is for a quiet machine; here
# they must only be there, and fit each other.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT
deck=inputs/smoke_digits.toml
quick=(--window 0.05 --windows 1)

expect 0 bench $deck --batches 2,8 --learners 1,2 --window 0.1 --windows 3 --kernels --json "$folder/bench.json"
says "sync %"
says "whole round"
[[ $(grep -cE '^mlp +[0-9]' <<<"$answer") -eq 4 ]] || die "not four rows: $answer"
[[ $(grep -cE '^memory: [0-9.]+ GB/s for [12] learner' <<<"$answer") -eq 2 ]] || die "no rates of memory: $answer"
python3 - "$folder/bench.json" <<'PYTHON' || die "the data are not as documented"
import json, math, sys
bench = json.load(open(sys.argv[1]))
rows = bench["rows"]
assert [(row["learners"], row["batch"]) for row in rows] == [(1, 2), (1, 8), (2, 2), (2, 8)], rows
parameters = 64 * 128 + 128 + 128 * 10 + 10
for row in rows:
    assert row["network"] == "mlp" and row["images_per_second"] > 0 and row["gflops"] > 0, row
    cost = row["synchronisation"]
    # Three arrays of floats for each learner (averaging_traffic.hpp).
    assert cost["bytes_per_round"] == 4 * 3 * row["learners"] * parameters, cost
    expected = cost["bytes_per_round"] / cost["memory_gbytes_per_second"] / 1e9
    assert math.isclose(cost["seconds_of_bytes"], expected, rel_tol=1e-6), cost
    assert -20 < cost["throughput_loss"] < 1 and math.isfinite(cost["seconds_per_round"]), cost
for table in bench["kernels"]:
    assert [row["name"] for row in table["layers"]] == ["fc1", "fc2"], table
    assert [row["type"] for row in table["others"]] == ["data", "loss", "checks", "update"], table
    total = sum(row["forward_seconds"] + row["backward_seconds"] for row in table["layers"] + table["others"])
    assert math.isclose(total, table["sum_seconds"], rel_tol=1e-6), table
    # Waiting after each part costs little, and nothing is left out; the machine may be busy.
    assert 0.5 < table["sum_seconds"] / table["round_seconds"] < 2, table
assert [table["batch"] for table in bench["kernels"]] == [2, 8]
PYTHON

# What has nothing to be compared with is shown with dashes.
for change in averaging.method=hogwild averaging.period=never; do
  expect 0 bench $deck --batches 8 --learners 2 "${quick[@]}" "$change" --json "$folder/none.json"
  [[ $(grep -cE '^mlp +8 +2 +[0-9]+ +[0-9.]+ +- +- +- +- +-$' <<<"$answer") -eq 1 ]] || die "$change: $answer"
  [[ $(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["rows"][0]["synchronisation"])' \
    "$folder/none.json") == None ]] || die "$change has a cost of synchronisation"
done
# ssgd is compared, but moves fewer bytes than learners alone: there is nothing to count.
expect 0 bench $deck --batches 8 --learners 2 "${quick[@]}" averaging.method=ssgd
[[ $(grep -cE '^mlp +8 +2 +[0-9]+ +[0-9.]+ +-?[0-9.]+ +-?[0-9.]+ +- +- +-$' <<<"$answer") -eq 1 ]] || die "ssgd: $answer"
# A rate that no training would bear does not matter to the speed.
expect 0 bench $deck --batches 8 --learners 2 "${quick[@]}" optimizer.learning_rate=1000
# A batch that the data are too few for is refused before anything is measured.
expect 2 bench $deck --batches 8,2000 --learners 1 "${quick[@]}"
[[ $answer != *"images/s"* ]] || die "measured before it refused: $answer"
echo "the tables of bench are there and fit each other"
