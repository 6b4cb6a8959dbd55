#!/usr/bin/env bash
# Builds the wheel, installs it without extras into an empty environment and fits a model there, outside this folder.
# Prints the size of the environment and the seconds of its imports.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(pwd -P)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

.venv/bin/python -m hatchling build -t wheel -d "$folder" >/dev/null
cd "$folder"
"$root/.venv/bin/python" -m venv env
# torch first, as in tools/setup.sh. Without bytecode: Python writes what it needs, a third of what pip would write.
for what in torch ./*.whl; do
    env/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
        --constraint "$root/constraints.txt" "$what" >log.txt 2>&1 || { tail -n 20 log.txt >&2; exit 1; }
done

unset PYTHONPATH
export PYTHONDONTWRITEBYTECODE=
found=$(env/bin/python "$root/tools/fit_without_extras.py")
expected="clusters 3
numba is not installed; install it with pip install 'semicrowd[samplers]'"
if [[ $found != "$expected" ]]; then
    echo "error: expected of a fit without extras: $expected; got: $found" >&2
    exit 1
fi
if said=$(env/bin/semicrowd train 2>&1); then
    echo "error: the command runs without the extra cli" >&2
    exit 1
elif [[ $said != *"pip install 'semicrowd[cli]'"* || $said == *$'\n'* ]]; then
    echo "error: expected a line that names the extra cli, got: $said" >&2
    exit 1
fi
for what in "import semicrowd" "from semicrowd import SCDC"; do
    env/bin/python -c "import time; start = time.perf_counter(); $what; print(f'$what: {time.perf_counter() - start:.2f} s')"
done
echo "size of the environment: $(du -sm --exclude=__pycache__ env | cut -f1) MB ($(du -sm env | cut -f1) MB with bytecode)"
