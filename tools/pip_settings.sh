# Source this file. It finds a Python with pip (`python`), and passes pip's settings to uv, which does not read them.

# Any Python with pip works. The first one on the PATH may be a version manager's shim without a Python, so try all.
python=
for candidate in $(type -aP python3.13 python3 python); do
  if "$candidate" -m pip --version >/dev/null 2>&1; then python=$candidate && break; fi
done
if [ -z "$python" ]; then
  echo "Slackwater needs Python with pip. On Debian or Ubuntu: apt install python3 python3-pip" >&2
  exit 1
fi

setting() { "$python" -m pip config get "global.$1" 2>/dev/null || true; }
index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-$(setting index-url)}}
if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
certificates=${SSL_CERT_FILE:-${PIP_CERT:-$(setting cert)}}
if [ -n "$certificates" ]; then export SSL_CERT_FILE=$certificates; fi
