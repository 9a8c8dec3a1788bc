"""Programs in the style of APPy's users (tests/appy/users.py): compiled, they give Python's results."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pytest

import backends
import parpy
import places

sys.path.insert(0, str(places.TESTS / "appy"))

import users

NAMES = users.cases()


def assert_same(got, want):
    if isinstance(want, tuple | list):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert_same(a, b)
    elif isinstance(want, np.ndarray):
        np.testing.assert_allclose(got, want, rtol=1e-5 if want.dtype == np.float32 else 1e-9, atol=1e-12)
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-9)
    else:
        assert got == want


@pytest.mark.filterwarnings("ignore::parpy.PerformanceWarning")
@pytest.mark.parametrize("backend", ["auto", *backends.TARGETS])
@pytest.mark.parametrize("name", NAMES)
def test_program(name, backend):
    function, arguments = NAMES[name]
    want, got = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = function.py_func(*want)
    opts = parpy.CompileOptions(backend=parpy.CompileBackend(backend))
    result = function(*got) if backend == "auto" else function(*got, opts=opts)
    assert_same(result, expected)
    assert_same(got, want)


@pytest.mark.parametrize("name", ["vec_add", "mat_add", "report"])
def test_functions_are_pickled_by_name(name):
    function, _ = NAMES[name]
    assert callable(pickle.loads(pickle.dumps(function)))
