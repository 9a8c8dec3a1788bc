"""Fixtures for tests of several files."""

from __future__ import annotations

import itertools
import os
import sys
from types import SimpleNamespace

import pytest

import places
from parpy import _native
from parpy.studies import tune as _tune

sys.path += [str(folder) for folder in places.SUBJECTS]  # some modules import another's functions

# Processes that tests start load compiled modules; otherwise each compiles the modules of ParPy anew, in 0.4 s.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# By default JAX reserves three quarters of a GPU's memory, which tests of other processes then lack.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@pytest.fixture
def tuning_time(request, monkeypatch):
    """Searches of parpy.tune end after a fixed number of reads of the clock, each a millisecond later than the one
    before, independent of real time; tests about time (mark `clock`) are excepted."""
    if request.node.get_closest_marker("clock") is None:
        looks = itertools.count()
        monkeypatch.setattr(_tune, "time", SimpleNamespace(perf_counter=lambda: next(looks) * 1e-3))


@pytest.fixture(autouse=True)
def memory_of_the_gpu(request):
    """Returns freed memory to the device after a test, for tests of other processes."""
    yield
    if request.node.get_closest_marker("gpu") is not None:
        _native.empty_device_cache()
