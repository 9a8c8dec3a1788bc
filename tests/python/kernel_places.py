"""Where tests of kernels written by hand run: on the simulator and, where there is one, on the GPU."""

from __future__ import annotations

import pytest

from parpy import cuda

PLACES = ["sim"] + (["cuda"] if cuda.is_available() else [])


@pytest.fixture(params=PLACES, autouse=True)
def backend(request):
    cuda.sim.enabled = request.param == "sim"
    yield request.param
    cuda.sim.enabled = False
    cuda.sim.seed, cuda.sim.warp_size = 0, 32
