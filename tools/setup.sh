#!/usr/bin/env bash
# Makes .venv from requirements.txt: setup.sh UV UV_VERSION PACKAGE...
set -euo pipefail
uv=$1 uv_version=$2
shift 2

python=
for candidate in python3.13 python3 python; do
  if "$candidate" -m pip --version >/dev/null 2>&1; then python=$candidate && break; fi
done
if [ -z "$python" ]; then
  echo "Slackwater needs Python with pip. On Debian or Ubuntu: apt install python3 python3-pip" >&2
  exit 1
fi

if [ "$("$uv" --version 2>/dev/null | cut -d' ' -f2)" != "$uv_version" ]; then
  echo "setting up: uv $uv_version" >&2
  rm -rf .tools
  "$python" -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target .tools "uv==$uv_version"
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
for package in "$@"; do "$uv" pip install --quiet --no-deps --no-build-isolation --editable "$package"; done
