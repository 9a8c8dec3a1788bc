"""Tests run on the CPU, and again on a GPU if there is one with NVIDIA's libraries."""

from __future__ import annotations

import pytest

from backends import ON_GPU
from parpy import cuda
from parpy.cudalib import MissingLibraryError
from parpy.cudalib._libraries import open_library

PLACES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)] if ON_GPU else ["cpu"]


@pytest.fixture(autouse=True, params=PLACES)
def place_of_calls(request):
    if request.param == "gpu":
        try:
            for name in ("cufft", "cublas", "curand"):
                open_library(name)
        except MissingLibraryError as error:
            pytest.skip(str(error))
    cuda.sim.enabled = request.param != "gpu"
    yield request.param
    cuda.sim.enabled = False
