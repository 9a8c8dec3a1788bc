"""Sums and products whose elements are read several times are computed once, with NumPy's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, run
from parpy import CompileBackend, CompileOptions


@parpy.jit
def product_of_product(y, a, b, x):
    y[0, :] = (a @ x) @ a


@parpy.jit
def chain(y, a, b, x):
    y[:] = 2.0 * a @ b @ b @ (a + 1.0)


@parpy.jit
def chain_on_the_right(y, a, b, x):
    y[:] = a @ (b @ (b @ a))


@parpy.jit
def over_rows(y, a, b, x):
    y[:] = (x @ a) * b


@parpy.jit
def over_columns(y, a, b, x):
    y[:] = (a @ x)[:, None] * b


@parpy.jit
def centred(y, a, b, x):
    y[:] = a - a.mean(axis=0)


@parpy.jit
def centred_with_kept_dimension(y, a, b, x):
    y[:] = (a - a.mean(axis=0, keepdims=True)) / (1.0 + b.sum(axis=0, keepdims=True) * 0.5)


@parpy.jit
def filled_by_columns(y, a, b, x):
    y[:] = a.sum(axis=0)
    y[1:] += b.max(axis=0)


@parpy.jit
def chosen(y, a, b, x):
    y[:] = np.where(a > b, a.min(axis=0), b @ x)


@parpy.jit
def greater(y, a, b, x):
    y[:] = np.maximum(a.sum(axis=0), b)


@parpy.jit
def its_own_target(y, a, b, x):
    y[:] = b
    y[:] = y @ y @ y
    y += y.sum(axis=0) - y


@parpy.jit
def triangle(y, a, b, x):
    for i in range(a.shape[0]):
        y[i] = (a[i, :i] @ b[:i]) @ b - b[i:].mean(axis=0)


@parpy.jit
def behind_a_condition(y, a, b, x):
    for i in range(a.shape[0]):
        if a[i, 0] > 0 and ((b @ x) @ a)[i] > 0.5:
            y[i] = (b @ x) @ a


@parpy.jit
def in_a_test(y, a, b, x):
    n = 0
    while n < 5 and ((y + b) @ a @ x).sum() < 1000.0:
        y += 1.0
        n += 1


FUNCTIONS = [
    product_of_product,
    chain,
    chain_on_the_right,
    over_rows,
    over_columns,
    centred,
    centred_with_kept_dimension,
    filled_by_columns,
    chosen,
    greater,
    its_own_target,
    triangle,
    behind_a_condition,
    in_a_test,
]
# The greatest depth of loops: that of one product of matrices, or of a loop of the function and two more.
DEEPEST = dict.fromkeys(FUNCTIONS, 3) | {product_of_product: 2, centred: 2, over_rows: 2, greater: 2}


def arguments(n: int = 9) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    return np.zeros((n, n)), rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=n)


def expected(function: Callable[..., None], given: tuple[Any, ...]) -> tuple[Any, ...]:
    own = tuple(a.copy() for a in given)
    function.__wrapped__(*own)
    return own


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results(function: Callable[..., None], backend: str) -> None:
    for n in (9, 1, 40):
        given = arguments(n)
        want = expected(function, given)
        run(backend, function, given, {"gpu": 1} if backend == "cuda" or backend == "sim" else {})
        for got, exact in zip(given, want, strict=True):
            np.testing.assert_allclose(got, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_automatic(function: Callable[..., None], backend: str) -> None:
    options = CompileOptions(automatic=True, backend=CompileBackend(backend))
    for n in (9, 40):
        given = arguments(n)
        want = expected(function, given)
        function(*given, opts=options)
        for got, exact in zip(given, want, strict=True):
            np.testing.assert_allclose(got, exact, rtol=1e-9, atol=1e-9)


def depth(text: str) -> int:
    """The greatest depth of nested C++ loops."""
    indents: list[int] = []
    deepest = 0
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        while indents and indents[-1] >= indent:
            indents.pop()
        if line.lstrip().startswith(("for (", "while (")):
            indents.append(indent)
            deepest = max(deepest, len(indents))
    return deepest


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not in_a_test], ids=lambda f: f.__name__)
def test_nothing_is_computed_again(function: Callable[..., None]) -> None:
    options = CompileOptions(automatic=True, backend=CompileBackend.Cpu)
    # Few rows and columns stay loops: contractions would add loops over blocks.
    text = parpy.print_compiled(function, arguments(3), options).split("---- host code ----")[1]
    assert 0 < depth(text) <= DEEPEST[function]


@parpy.jit
def one_of_many(y, a, b):
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] = a[i] @ b[i] @ a[i]


def test_iterations_that_run_in_parallel_do_not_share_memory() -> None:
    """Large values are computed again, because iterations have no private memory for them."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 20, 20)), rng.normal(size=(3, 20, 20))
    y = np.zeros_like(a)
    run("cpu", one_of_many, (y, a, b), {"i": 4})
    np.testing.assert_allclose(y, a @ b @ a, rtol=1e-9)


def test_views_whose_sizes_depend_on_data() -> None:
    @parpy.jit
    def f(y, a, k):
        for i in range(k.size):
            m = k[i]
            y[i] = ((a[:m, :m] @ a[:m, :m]) @ a[:m, :m]).sum()

    a = np.random.default_rng(0).normal(size=(30, 30))
    k = np.array([3, 0, 30, 7])
    y = np.zeros(4)
    f(y, a, k)
    np.testing.assert_allclose(y, [(a[:m, :m] @ a[:m, :m] @ a[:m, :m]).sum() for m in k], rtol=1e-9)
