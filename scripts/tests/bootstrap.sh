#!/usr/bin/env bash
# scripts/bootstrap: quick once all is there, and clear about what root must install. The second
# is played in a copy, with a dpkg-query that knows no package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

die() { echo "FAILED: $*"; exit 1; }

scripts/bootstrap
took=1000000
for _ in 1 2 3; do  # the best of three: other work on the machine is not its fault
  begin=$(date +%s%N)
  scripts/bootstrap
  now=$((($(date +%s%N) - begin) / 1000000))
  took=$((now < took ? now : took))
done
[[ $took -lt 1000 ]] || die "a second call took $took ms"

status=0
scripts/bootstrap --nonsense 2>/dev/null || status=$?
[[ $status -eq 2 ]] || die "an unknown argument ended with $status"

# Without root.
as_user=()
if [[ $EUID -eq 0 ]]; then
  command -v setpriv >/dev/null || { echo "setpriv is not installed"; exit 77; }
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/clone/cmake" "$folder/bin"
cp -R scripts "$folder/clone/"
cp cmake/cuda13_compat.hpp "$folder/clone/cmake/"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/dpkg-query"
printf '#!/bin/sh\nexit 1\n' >"$folder/bin/apt-get"
chmod +x "$folder/bin/"*
chmod -R a+rwX "$folder"
status=0
answer=$(env -u CMAKE_PREFIX_PATH PATH="$folder/bin:$PATH" \
  "${as_user[@]}" "$folder/clone/scripts/bootstrap" 2>&1) || status=$?
[[ $status -eq 2 ]] || die "without root it ended with $status: $answer"
[[ $answer == *"only root can install them"*"apt-get install"*libhdf5-dev* ]] ||
  die "without root it said: $answer"
echo "quick ($took ms), and clear without root"
