"""examples/appy/: every program runs at a small size and writes its picture, on every back end the same as in
Python."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import backends
import parpy
import places

FOLDER = places.ROOT / "examples/appy"


@pytest.fixture(params=sorted(path.stem for path in FOLDER.glob("*.py")))
def example(request):
    spec = importlib.util.spec_from_file_location(f"appy_example_{request.param}", FOLDER / f"{request.param}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=backends.TARGETS)
def back_end(request):
    parpy.backend.set_default(parpy.CompileBackend(request.param))
    yield
    parpy.backend.set_default(parpy.CompileBackend.Auto)


def in_python(example):
    """The picture of the example with undecorated functions."""
    for name, value in vars(example).copy().items():
        if hasattr(value, "py_func"):
            setattr(example, name, value.py_func)
    return example.picture(32)


def test_writes_its_picture(example, back_end, tmp_path):
    found = example.main(32, tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.read_bytes().startswith(b"\x89PNG") and np.unique(found).size > 4
    difference = np.abs(found.astype(int) - in_python(example).astype(int))
    assert (difference > 1).mean() < 0.01
