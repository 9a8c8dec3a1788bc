#!/bin/sh
# Formatters and checkers, reporting only: clang-format, ruff, mypy --strict.
set -u
cd "$(dirname "$0")/.."
failed=

cxx=$(git ls-files '*.cpp' '*.h' ':!tests/golden')
[ -z "$cxx" ] || clang-format-19 --dry-run --Werror $cxx || failed=yes

.venv/bin/ruff check . || failed=yes
.venv/bin/ruff format --check . || failed=yes
.venv/bin/mypy || failed=yes
[ -z "$failed" ] && echo "lint: all good"
