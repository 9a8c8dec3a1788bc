"""examples/kernels/: every program runs at a small size and writes the same picture on every back end."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import places
from parpy import cuda

FOLDER = places.ROOT / "examples/kernels"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "pictures")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    cuda.sim.enabled = False
    for name in (*PROGRAMS, "pictures"):
        sys.modules.pop(name, None)


def run(name, folder, simulated):
    cuda.sim.enabled = simulated
    return importlib.import_module(name).main(48, folder)


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_the_simulator(name, tmp_path):
    found = run(name, tmp_path, True)
    assert np.unique(found).size > 4
    (picture,) = tmp_path.iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.gpu
@pytest.mark.skipif(not cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_on_the_gpu(name, tmp_path):
    np.testing.assert_allclose(run(name, tmp_path, False), run(name, tmp_path, True), rtol=1e-4, atol=1e-4)
