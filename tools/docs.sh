#!/bin/sh
# Builds the documentation site into build/docs/VERSION and checks it: warnings, dead links and script errors fail.
# usage: tools/docs.sh [--quick]
#   --quick      builds into build/docs-quick, without the gallery's pictures and the notebooks' results
set -eu
cd "$(dirname "$0")/.."
python=${PARPY_DOCS_PYTHON:-.venv/bin/python}
version=$(sed -n 's/^project(parpy VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
folder=build/docs
if [ "${1:-}" = --quick ]; then
    folder=build/docs-quick
    set -- -D plot_gallery=0 -D nb_execution_mode=off
fi
site=$folder/$version
rm -rf docs/gallery # removes the pages of the other kind of build

# Pages must not find code that an earlier build left in the user's cache.
PARPY_CACHE_DIR=$(mktemp -d)
trap 'rm -rf "$PARPY_CACHE_DIR"' EXIT
export PARPY_CACHE_DIR
PYTHONPATH="$PWD/python" "$python" -m sphinx -q -W --keep-going -b html -d $folder/doctrees "$@" docs "$site"
"$python" tools/check_site.py "$site"
echo "the site: $site/index.html"
