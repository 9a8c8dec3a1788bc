"""Fixtures for tests of several files."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import places
from parpy import _native
from parpy.cuda import sim
from parpy.studies import tune as _tune

sys.path += [str(folder) for folder in places.SUBJECTS]  # some modules import another's functions

# Processes that tests start load compiled modules; otherwise each compiles the modules of ParPy anew, in 0.4 s. Later
# runs load the test modules that this one has compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def _cache_of_the_build() -> Path:
    """The folder of the disk cache for this build of the core, in which later runs find what this one compiles. The
    user's own cache may have code of other builds, and the folders of earlier builds are removed."""
    build = Path(_native.__file__).stat()
    folder = places.ROOT / "build" / "test-cache" / f"{build.st_mtime_ns:x}-{build.st_size:x}"
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return folder


if "PARPY_CACHE_DIR" not in os.environ:
    os.environ["PARPY_CACHE_DIR"] = str(_cache_of_the_build())

# By default JAX reserves three quarters of a GPU's memory, which tests of other processes then lack.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@pytest.fixture
def tuning_time(request, monkeypatch):
    """Searches of parpy.tune end after a fixed number of reads of the clock, each a millisecond later than the one
    before, independent of real time; tests about time (mark `clock`) are excepted."""
    if request.node.get_closest_marker("clock") is None:
        looks = itertools.count()
        monkeypatch.setattr(_tune, "time", SimpleNamespace(perf_counter=lambda: next(looks) * 1e-3))


@pytest.fixture
def simulator():
    """Kernels run on the simulator, even if there is a GPU."""
    sim.enabled = True
    yield
    sim.enabled, sim.seed, sim.warp_size = False, 0, 32


@pytest.fixture(autouse=True)
def memory_of_the_gpu(request):
    """Returns freed memory to the device after a test, for tests of other processes."""
    yield
    if request.node.get_closest_marker("gpu") is not None:
        _native.empty_device_cache()
