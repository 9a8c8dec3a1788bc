"""The targets of ufuncs for tests, and comparisons of their results."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import parpy
from backends import ON_GPU
from parpy import cuda

HOSTS = ("cpu", "parallel")
DEVICES = ("sim", pytest.param("gpu", marks=pytest.mark.gpu)) if ON_GPU else ("sim",)
TARGETS = (*HOSTS, *DEVICES)


def on_host(value: Any) -> Any:
    """The values of an array in any memory."""
    if isinstance(value, tuple):
        return tuple(map(on_host, value))
    for name in ("copy_to_host", "get", "cpu", "numpy"):
        if hasattr(value, name) and not isinstance(value, np.ndarray):
            return getattr(value, name)()
    return value


def on_device(value: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cuda.to_device(value)


def check_same(found: Any, wanted: Any) -> None:
    """Checks that values, types and shapes are NumPy's, and that numbers are numbers."""
    if isinstance(wanted, tuple):
        assert isinstance(found, tuple) and len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            check_same(a, b)
        return
    assert isinstance(found, np.ndarray) == isinstance(wanted, np.ndarray)
    if isinstance(wanted, np.ndarray | np.generic):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    else:
        assert found == wanted


def add(target: str) -> Any:
    """Addition with the types and the identity of NumPy's."""
    types = ["int8", "int32", "int64", "uint8", "float32", "float64", "complex64", "complex128"]
    signatures = [f"{each}({each}, {each})" for each in types]

    @parpy.vectorize(signatures, target=target, identity=0)
    def add(a, b):
        return a + b

    return add
