#!/usr/bin/env bash
# Creates .venv from requirements.txt: setup.sh UV UV_VERSION
set -euo pipefail
uv=$1 uv_version=$2

source "$(dirname "${BASH_SOURCE[0]}")/pip_settings.sh"

if [ "$("$uv" --version 2>/dev/null | cut -d' ' -f2)" != "$uv_version" ]; then
  echo "setting up: uv $uv_version" >&2
  rm -rf .tools
  PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --target .tools "uv==$uv_version"
fi

echo "setting up: .venv" >&2
if ! "$uv" venv --quiet --clear --python 3.13 .venv; then
  cat >&2 <<'TEXT'

Slackwater needs Python 3.13; it is not on this machine, and could not be fetched. Install it, then try again:
  Debian, Ubuntu   apt install python3.13 python3.13-venv    (or, anywhere: pyenv install 3.13)
  macOS            brew install python@3.13
  Windows          winget install Python.Python.3.13
TEXT
  exit 1
fi
"$uv" pip sync --quiet --require-hashes requirements.txt
"$uv" pip install --quiet --no-deps --no-build-isolation --editable .
