"""Tests use the simulator's arrays, except for the target 'gpu'."""

from __future__ import annotations

import pytest

from parpy import cuda


@pytest.fixture(autouse=True)
def place_of_arrays(request):
    parameters = getattr(getattr(request.node, "callspec", None), "params", {})
    cuda.sim.enabled = parameters.get("target") != "gpu"
    yield
    cuda.sim.enabled = False
