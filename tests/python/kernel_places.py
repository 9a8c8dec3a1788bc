"""Back ends for tests of kernels written by hand: the simulator and, if there is one, the GPU."""

from __future__ import annotations

import pytest

from backends import TARGETS
from parpy import cuda

PLACES = TARGETS[1:]


@pytest.fixture(params=PLACES, autouse=True)
def backend(request):
    cuda.sim.enabled = request.param == "sim"
    yield request.param
    cuda.sim.enabled = False
    cuda.sim.seed, cuda.sim.warp_size = 0, 32
