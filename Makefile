# Everything a contributor types. On a fresh Debian 12 each target first installs what it needs (apt
# packages, .venv); later runs find that done.
#
#   make demo     build, then examples/quickstart.py      make wheel   dist/parpy-*.whl
#   make test     build, then every test                  make lint    formatters and checkers
#   make build    the development build                   make clean   removes what make made
#   make docs     build, then the documentation site in build/docs, checked
#   make wheels   a wheel for each CPython of 3.11 to 3.14 (PYTHONS), installed and tried
#   make bench    build, then NPBench beside its peers on this machine's CPU, at preset $(PRESET)
#
# PYTHON=... names the interpreter for .venv and for the wheel (3.11 or later).

PYTHON ?= python3
JOBS ?= $(shell nproc)
VENV := .venv/bin/python
STAMP := .venv/.parpy-setup
BENCH_STAMP := .venv/.parpy-bench
DOCS_STAMP := .venv/.parpy-docs
TEST_STAMP := .venv/.parpy-test
PRESET ?= S
PYTHONS ?=

.PHONY: setup build demo test bench docs lint wheel wheels clean
.NOTPARALLEL:

setup: $(STAMP)

$(STAMP): tools/setup.sh tools/apt-packages.txt pyproject.toml
	@tools/setup.sh $(PYTHON)
	@touch $@

build: $(STAMP)
	@test -f build/build.ninja || cmake --preset dev -DPython_EXECUTABLE=$(CURDIR)/$(VENV)
	@cmake --build build -j $(JOBS)

demo: build
	@PYTHONPATH=python $(VENV) examples/quickstart.py

# The extras: the documentation and its programs, and the engines of several processes (Dask, MPI).
$(TEST_STAMP): $(STAMP)
	@tools/setup.sh $(PYTHON) docs engines
	@touch $@ $(DOCS_STAMP)

test: build $(TEST_STAMP)
	@JOBS=$(JOBS) tools/test.sh

$(BENCH_STAMP): $(STAMP)
	@tools/setup.sh $(PYTHON) bench
	@touch $@

bench: build $(BENCH_STAMP)
	@PYTHONPATH=python $(VENV) benchmarks/npbench/run.py --preset $(PRESET) --seconds 0.2 --limit 8

$(DOCS_STAMP): $(STAMP)
	@tools/setup.sh $(PYTHON) docs
	@touch $@

docs: build $(DOCS_STAMP)
	@tools/docs.sh

lint: $(STAMP)
	@tools/lint.sh

wheel: $(STAMP)
	@$(PYTHON) -m pip wheel --no-deps -w dist .
	@ls -lh dist

wheels: $(STAMP)
	@tools/wheels.sh dist $(PYTHONS)

clean:
	rm -rf build build-release build-asan build-wheel* dist docs/gallery .venv python/parpy/*.so
