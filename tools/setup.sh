#!/usr/bin/env bash
# Makes .venv with the exact versions of constraints.txt, or leaves it alone when it is current.
# PYTHON=<interpreter> chooses the interpreter; pip's own settings (PIP_INDEX_URL, …) are respected.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "error: $1" >&2
    exit 2
}

# What the environment depends on. The folder is part of it: an environment does not survive being moved.
fingerprint=$({ pwd -P && cat constraints.txt pyproject.toml tools/setup.sh tools/torchvision_hook.py; } | cksum)
stamp=.venv/setup.stamp
current() { [[ -x .venv/bin/python && -f $stamp && $(<"$stamp") == "$fingerprint" ]]; }
current && exit 0

# Two make commands started together must not fill one environment at the same time.
if command -v flock >/dev/null; then
    exec 9>.venv.lock
    flock 9
    current && exit 0
fi

python=${PYTHON:-$(command -v python3.11 || command -v python3 || true)}
[[ -n $python ]] || fail "no Python found: install Python 3.11 or newer, or name one: make setup PYTHON=/path/to/python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$python is $("$python" --version 2>&1): Python 3.11 or newer is needed (make setup PYTHON=/path/to/python)"

echo "setting up .venv (a few minutes the first time) …"
prefix=$(.venv/bin/python -c 'import sys; print(sys.prefix)' 2>/dev/null || true)
[[ $prefix == "$(pwd -P)/.venv" ]] || "$python" -m venv --clear .venv
log=.venv/setup.log
install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$@" >>"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; fail "pip could not install $* (all of its output: $log)"; }
}
: >"$log"
# torch first and by its exact version: with it in place torchvision's requirement is met and replaces nothing.
install torch
install --editable '.[dev]'
.venv/bin/python tools/torchvision_hook.py
echo "$fingerprint" >"$stamp"
echo "set-up done"
