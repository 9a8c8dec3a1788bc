#!/bin/sh
# Runs every test of the development build and prints a summary; fails if any part failed.
set -u
cd "$(dirname "$0")/.."
failed=
export PARPY_OPT="$PWD/build/parpy-opt"

# Tests must not find code that an earlier build left in the user's cache. The Python tests have a cache for each build
# (tests/python/conftest.py).
PARPY_CACHE_DIR=$(mktemp -d)
export PARPY_CACHE_DIR
trap 'rm -rf "$PARPY_CACHE_DIR"' EXIT

# Processes that tests start load compiled modules instead of compiling those of ParPy anew.
unset PYTHONDONTWRITEBYTECODE

part() { # name, command ...
    name=$1
    shift
    echo "== $name"
    begin=$(date +%s)
    if "$@" </dev/null; then result=passed; else result=FAILED; failed=yes; fi
    summary="${summary:-}$(printf '%-14s %s  %4d s' "$name" "$result" $(($(date +%s) - begin)))
"
}

part "unit tests" build/unit_tests --gtest_brief=1
part "documentation" tools/docs.sh --quick
part "python tests" env -u PARPY_CACHE_DIR PYTHONPATH=python .venv/bin/python -m pytest -q -n "${JOBS:-2}" tests/python

printf '\n%s' "$summary"
[ -z "$failed" ]
