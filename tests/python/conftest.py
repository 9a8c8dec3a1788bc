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

# JAX takes three quarters of a GPU's memory otherwise, which tests of other processes miss.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


@pytest.fixture
def tuning_time(request, monkeypatch):
    """Searches of parpy.tune end after so many looks at the clock, each a millisecond later than the one before,
    however long they really take; but for tests that are about time."""
    if request.node.get_closest_marker("clock") is None:
        looks = itertools.count()
        monkeypatch.setattr(_tune, "time", SimpleNamespace(perf_counter=lambda: next(looks) * 1e-3))


@pytest.fixture(autouse=True)
def memory_of_the_gpu(request):
    """Tests of other processes want what this one has freed."""
    yield
    if request.node.get_closest_marker("gpu") is not None:
        _native.empty_device_cache()
