#!/bin/sh
# Installs the requirements of the build: missing packages of tools/apt-packages.txt, and the Python packages
# of pyproject.toml (build requirements, the 'dev' extra and the extras that are named) into .venv.
# usage: tools/setup.sh PYTHON [EXTRA ...]        (an interpreter of 3.11 or later; default python3)
set -eu
cd "$(dirname "$0")/.."
python=${1:-python3}
[ $# = 0 ] || shift

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "$python is too old: ParPy needs Python 3.11 or later (make PYTHON=...)" >&2
    exit 1
}

missing() { # the arguments that are not installed
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

if command -v dpkg-query >/dev/null; then
    packages=$(cat tools/apt-packages.txt)
    # The system's own Python comes without headers and without venv.
    headers='import os, sysconfig as s; print(os.path.exists(s.get_path("include") + "/Python.h"))'
    [ "$("$python" -c "$headers")" = True ] || packages="$packages python3-dev"
    "$python" -c 'import ensurepip' 2>/dev/null || packages="$packages python3-venv"
    wanted=$(missing $packages)
    browser=$(missing chromium-headless-shell) # for tests that look at HTML; they are skipped without it
    if [ -n "$wanted$browser" ]; then
        sudo=
        [ "$(id -u)" = 0 ] || sudo=sudo
        $sudo apt-get update -qq
        [ -z "$browser" ] || apt-cache show $browser >/dev/null 2>&1 || browser=
        echo "installing:" $wanted $browser
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            $wanted $browser </dev/null >/dev/null
    fi
fi

[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python - "$@" <<'PYTHON' | xargs -d '\n' .venv/bin/python -m pip install -q
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    settings = tomllib.load(file)
extras = settings["project"]["optional-dependencies"]
for name in settings["build-system"]["requires"] + [each for extra in ("dev", *sys.argv[1:]) for each in extras[extra]]:
    print(name)
PYTHON
