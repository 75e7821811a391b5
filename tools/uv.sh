#!/usr/bin/env bash
# Runs the repository's uv, from any folder, with pip's settings: uv.sh ARGUMENT...
set -euo pipefail
tools=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$tools/pip_settings.sh"
exec "$tools/../.tools/bin/uv" "$@"
