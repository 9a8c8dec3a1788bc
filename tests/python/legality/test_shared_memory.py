"""Arguments that share memory: elements that a pass keeps, moves or joins under one name may change under others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import TARGETS
from parpy import CompileBackend, CompileOptions

MODES: dict[str, dict[str, Any]] = {
    "automatic": {"automatic": True},
    "deterministic": {"automatic": True, "deterministic": True},
    "sequential": {"parallelize": {"gpu": parpy.threads(1)}},
    "one thread": {"parallelize": {"i": parpy.threads(1), "gpu": parpy.threads(1)}},
}


@parpy.jit
def add_both(a, b, n):
    parpy.label("i")
    for i in range(n):
        a[0] += 1
        b[0] += 2


@parpy.jit
def multiply_both(a, b, n):
    parpy.label("i")
    for i in range(n):
        a[1] *= 2
        b[1] *= 3


@parpy.jit
def least_of_both(a, b, n):
    parpy.label("i")
    for i in range(n):
        a[0] = min(a[0], 5 - i)
        b[0] = min(b[0], 3)


@parpy.jit
def add_entries(d, n):
    parpy.label("i")
    for i in range(n):
        d["a"][0] += 1
        d["b"][0] += 2


@parpy.jit
def add_one(x, amount):
    x[0] += amount


@parpy.jit
def add_through_helper(a, b, n):
    parpy.label("i")
    for i in range(n):
        add_one(a, 1)
        add_one(b, 2)


@parpy.jit
def add_in_nest(a, b, n):
    parpy.label("i")
    for i in range(n):
        for j in range(3):
            a[i] += 1
            b[i] += 2


@parpy.jit
def update_and_read(a, c, n):
    parpy.label("i")
    for i in range(n):
        c[0] -= 2
        a[i + 1] = a[0] + 1


@parpy.jit
def store_twice(a, b, n):
    parpy.label("i")
    b[:n] = 7.0
    parpy.label("i")
    b[:n] = a[1] + 1


@parpy.jit
def total_of_shifted(a, b, n):
    for i in range(n):
        b[i + 1] = 0.0
        parpy.label("i")
        for j in range(n):
            b[i + 1] += a[j]


def check(
    function: Callable[..., None], arguments: Callable[[], tuple[Any, np.ndarray]], backend: str, mode: str
) -> None:
    """Compares a call with Python. `arguments()` gives the arguments of a call, and their memory."""
    (got, memory), (want, expected) = arguments(), arguments()
    options = CompileOptions(backend=CompileBackend(backend), **MODES[mode])
    try:
        function(*got, opts=options)
    except parpy.ParallelError:
        assert mode == "one thread"
        np.testing.assert_array_equal(memory, arguments()[1])
        return
    function(*want, seq=True)
    np.testing.assert_array_equal(memory, expected)


ONE_ARRAY = {
    "add": (add_both, 5),
    "multiply": (multiply_both, 5),
    "minimum": (least_of_both, 4),
    "helper": (add_through_helper, 5),
    "nest": (add_in_nest, 4),
    "update and read": (update_and_read, 1),
    "update and read more": (update_and_read, 4),
    "stores": (store_twice, 3),
    "total": (total_of_shifted, 4),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("case", ONE_ARRAY)
@pytest.mark.parametrize("backend", TARGETS)
def test_one_array_under_two_names(backend, case, dtype, mode):
    function, n = ONE_ARRAY[case]

    def arguments() -> tuple[Any, np.ndarray]:
        z = np.arange(3, 11).astype(dtype)
        return (z, z, n), z

    check(function, arguments, backend, mode)


VIEWS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "shifted": lambda z: (z[1:], z[:-1]),
    "shifted back": lambda z: (z[:-1], z[1:]),
    "reversed": lambda z: (z, z[::-1]),
    "strided": lambda z: (z[::2], z),
    "apart": lambda z: (z[::2], z[1::2]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("case", ["add", "minimum", "nest", "update and read", "stores", "total"])
@pytest.mark.parametrize("backend", TARGETS)
def test_views_of_one_array(backend, case, view, mode):
    function, n = ONE_ARRAY[case]

    def arguments() -> tuple[Any, np.ndarray]:
        z = np.arange(3.0, 23.0)
        return (*VIEWS[view](z), min(n, 4)), z

    check(function, arguments, backend, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("backend", TARGETS)
def test_one_array_under_two_keys(backend, mode):
    def arguments() -> tuple[Any, np.ndarray]:
        z = np.zeros(4)
        return ({"a": z, "b": z}, 5), z

    check(add_entries, arguments, backend, mode)


@parpy.jit
def transposed_sums(a, b, n):
    parpy.label("i")
    for i in range(n):
        for j in range(n):
            a[i, 0] += b[i, j]
            b[0, i] += 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("backend", TARGETS)
def test_a_matrix_and_its_transpose(backend, mode):
    def arguments() -> tuple[Any, np.ndarray]:
        z = np.arange(25.0).reshape(5, 5)
        return (z, z.T, 5), z

    check(transposed_sums, arguments, backend, mode)


@pytest.mark.parametrize("backend", TARGETS)
def test_views_that_change_from_call_to_call(backend):
    options = CompileOptions(backend=CompileBackend(backend), automatic=True)
    got, want = np.arange(40.0), np.arange(40.0)
    for step in range(30):
        n, shift = 3 + step % 5, step % 4
        for memory, how in ((got, {"opts": options}), (want, {"seq": True})):
            a, b = memory[shift : shift + 12], memory[step % 3 : step % 3 + 14]
            add_both(a, b, n, **how)
            update_and_read(a, b, 1 + step % 2, **how)
            store_twice(b, a, n, **how)
        np.testing.assert_array_equal(got, want, err_msg=f"step {step}")
