#!/usr/bin/env bash
# Creates a separate environment for a tool whose dependencies conflict with the lock: venv.sh FOLDER REQUIREMENTS
set -euo pipefail
tools=$(dirname "${BASH_SOURCE[0]}")
echo "setting up: $1" >&2
bash "$tools/uv.sh" venv --quiet --clear --python .venv/bin/python "$1"
VIRTUAL_ENV=$1 bash "$tools/uv.sh" pip sync --quiet --require-hashes "$2"
