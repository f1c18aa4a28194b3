#!/usr/bin/env bash
# Each rule of scripts/check_layers catches its breach, and the sources keep them all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/check_layers --self-test
scripts/check_layers
