#!/usr/bin/env bash
# `crossbow topology`, and decks with [devices]: machines, devices, plans, and what is refused.
set -euo pipefail
cd "${CROSSBOW_SOURCE_DIR:?}"

# shellcheck source=scripts/lib/testing.sh
source scripts/lib/testing.sh
trap 'rm -rf "$folder"' EXIT
dgx=topology/machines/dgx1v-like.xml
a100=topology/machines/dgxa100-like.xml
small="pack:3 numa:1 core:2 pu:1"

# This machine, and others, for people.
expect 0 topology
says "Devices"
says "Averaging a model of 100.0 MB"
expect 0 topology --xml $dgx --learners 2
says "NVLink island 1              devices 4-7"
says "├─ 0000:0b:00.0 (NVLink, 50.0 GB/s)"
says "a flat ring"
expect 0 topology --synthetic "$small" --svg "$folder/picture.svg"
python3 -c "import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])" "$folder/picture.svg" ||
  die "the picture is no XML"
grep -q ">numa1<" "$folder/picture.svg" || die "the picture shows no device"

# As data.
expect 0 topology --xml $a100 --json "$folder/a100.json"
expect 0 topology --xml $dgx --learners 2 --json
echo "$answer" >"$folder/dgx.json"
python3 - "$folder" <<'PYTHON' || die "the data is not as documented"
import json, sys
a100 = json.load(open(sys.argv[1] + "/a100.json"))
assert [d["kind"] for d in a100["devices"]] == ["gpu"] * 8
assert [d["numa"] for d in a100["devices"]] == [3, 3, 1, 1, 7, 7, 5, 5]
assert a100["devices"][0]["pci"] == "0000:07:00.0" and "A100" in a100["devices"][0]["name"]
dgx = json.load(open(sys.argv[1] + "/dgx.json"))
assert len(dgx["placement"]["learners"]) == 16 and len(dgx["tree"]["edges"]) == 7
assert all(edge["link"] == "NVLink" for edge in dgx["tree"]["edges"])
islands = [d["devices"] for d in dgx["domains"] if d["kind"] == "NVLink island"]
assert [len(island) for island in islands] == [4, 4], islands
p = dgx["prediction"]
assert p["seconds"] <= min(p["tree_seconds"], p["flat_ring_seconds"], p["star_seconds"])
PYTHON

# Refused, in one sentence.
expect 2 topology --synthetic "nonsense:x"
says "does not describe a machine"
expect 3 topology --xml "$folder/missing.xml"
says "missing.xml"
expect 3 topology --xml README.md
[[ $(wc -l <<<"$answer") -eq 1 ]] || die "more than one line: $answer"
expect 2 topology --xml $dgx --synthetic "$small"
expect 2 topology --learners 0
expect 2 topology --xml ""
expect 2 topology --synthetic "pack:64 numa:4 l3:8 core:8 pu:2" --domain core
says "devices are too many"
expect 2 topology --synthetic "pack:1000000 pu:1000"
says "too large"
cp $dgx "$folder/machine.xml"
chmod u+w "$folder/machine.xml"
expect 2 topology --xml "$folder/machine.xml" --json "$folder/machine.xml"
says "would be overwritten"
mkfifo "$folder/fifo"
expect 3 topology --xml "$folder/fifo"
says "it is not a file"
# On damaged files hwloc prints pages or crashes.
sed '0,/complete_cpuset=/s//complete_cpuse|=/' $dgx >"$folder/damaged.xml"
expect 3 topology --xml "$folder/damaged.xml"
[[ $(wc -l <<<"$answer") -eq 1 ]] || die "more than one line: $answer"

# The host plays them: the edges of the plan are those that are executed.
run() {
  rm -rf "$folder/out"
  expect 0 run inputs/smoke_digits.toml run.output="$folder/out" training.epochs=1 "$@"
}
played() {
  python3 - "$folder/out/run.json" "$@" <<'PYTHON' || die "run.json of $1 is not as planned"
import json, sys
record = json.load(open(sys.argv[1]))
devices, result = record["devices"], record["result"]
assert devices["played"] and record["learners"] == int(sys.argv[3])
planned = sorted((edge["from"], edge["to"]) for edge in devices["tree"]["edges"])
assert len(planned) == int(sys.argv[2]) - 1
executed = result["executed_edges"]
assert sorted((edge["from"], edge["to"]) for edge in executed) == planned
assert all(edge["chunks"] % result["rounds"] == 0 for edge in executed), executed
PYTHON
}
run learners.per_device=2 "devices.topology=$small"
played 3 6
[[ $(nproc) -ge 6 ]] || says "6 learners of another machine"
# As many learners on other devices: it goes on, and says that bits may differ.
expect 0 run inputs/smoke_digits.toml run.output="$folder/out" training.epochs=2 --resume \
  learners.per_device=3 "devices.topology=pack:2 numa:1 core:3 pu:1"
says "devices, threads or reduction tree are not those of the checkpoint"
run learners.per_device=1 "devices.topology=$dgx"
played 8 8
run learners.per_device=1 "devices.topology=$a100"
played 8 8

# Devices by name, and a plan that was edited.
run "devices.topology=$dgx" 'devices.use=["06:00.0", "0000:85:00.0"]' learners.per_device=1
played 2 2
expect 2 check inputs/smoke_digits.toml "devices.topology=$dgx" 'devices.use=["0000:99:00.0"]'
says "there is no device \"0000:99:00.0\" (there are: 0000:06:00.0 (Tesla V100-SXM2-16GB), "
expect 2 check inputs/smoke_digits.toml 'devices.use=["numa99"]'
says "there is no device \"numa99\""
expect 0 topology --synthetic "$small" --learners 2 --json "$folder/plan.json"
run "devices.topology=$small" "devices.plan=$folder/plan.json"
played 3 6
python3 - "$folder" <<'PYTHON'
import json, sys
plan = json.load(open(sys.argv[1] + "/plan.json"))
plan["placement"]["learners"].pop()
json.dump(plan, open(sys.argv[1] + "/unequal.json", "w"))
PYTHON
run "devices.topology=$small" "devices.plan=$folder/unequal.json"
played 3 5
expect 2 check inputs/smoke_digits.toml "devices.topology=$small" averaging.method=reference \
  "devices.plan=$folder/unequal.json"
says "the devices have unequal numbers of learners (2, 2, 1"
expect 2 check inputs/smoke_digits.toml "devices.topology=$small" devices.backend=cuda
says "devices.topology cannot be played by the cuda backend"
expect 2 check inputs/smoke_digits.toml "devices.topology=$dgx" averaging.alpha=0.5
says "diverges with 16 learners"
expect 3 check inputs/smoke_digits.toml "devices.plan=$folder/missing.json"
expect 2 check inputs/smoke_digits.toml 'devices.use=[""]'
expect 2 bench inputs/smoke_digits.toml "devices.plan=$folder/plan.json"
says "bench cannot use a plan"
echo "topology: all as documented"
