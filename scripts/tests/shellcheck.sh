#!/usr/bin/env bash
# No script has what shellcheck warns of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; exit 77; }
mapfile -t scripts < <(grep -lE '^#!.*\bbash$|^# shellcheck shell=bash' -r scripts .ci)
shellcheck -x "${scripts[@]}"
echo "${#scripts[@]} scripts are clean"
