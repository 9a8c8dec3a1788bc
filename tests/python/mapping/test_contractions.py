"""Contractions: the results of loops, with one chain of fused multiply-adds for each sum, for any tiles."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parpy
import products
from contraction_cases import case
from contraction_checks import AUTO, CPU, SETTLED, chain, check, compiled, is_contraction, notes
from nests import Nest
from parpy import CompileOptions


@pytest.mark.parametrize("block", range(8))
def test_random_nests(block: int) -> None:
    assert sum(check(case(seed)) for seed in range(25 * block, 25 * block + 25)) > 5


@pytest.mark.parametrize("block", range(3))
def test_infinities_behind_masks(block: int) -> None:
    """Products that the text does not compute are not computed, even if they would be NaN."""
    assert sum(check(case(seed, special=True)) for seed in range(1000 + 20 * block, 1020 + 20 * block)) > 3


SPELLINGS = [parpy.jit(each) for each in products.SPELLINGS]
scalar, zeroed, updated, rows, expression, product = SPELLINGS


def expected(function: Callable[..., Any], alpha: float, beta: float, c: Any, a: Any, b: Any) -> Any:
    dtype = c.dtype.type
    al, be = dtype(alpha), dtype(beta)
    out = np.empty_like(c)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            pairs = zip(a[i], b[:, j], strict=True)
            if function is scalar:
                out[i, j] = al * dtype(chain(dtype(0), pairs)) + be * c[i, j]
            elif function is expression:
                out[i, j] = dtype(chain(dtype(0), zip(al * a[i], b[:, j], strict=True))) + be * c[i, j]
            elif function is rows:
                out[i, j] = chain(be * c[i, j], zip(al * a[i], b[:, j], strict=True))
            else:
                out[i, j] = chain(c[i, j] if function is updated else dtype(0), pairs)
    return out


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", SPELLINGS, ids=lambda f: f.__name__)
def test_spellings(function: Callable[..., Any], dtype: str) -> None:
    """In any spelling, a product of matrices is a contraction, and each sum is one chain in the order of k."""
    rng = np.random.default_rng(0)
    for m, n, k in ((16, 24, 10), (9, 25, 17), (33, 8, 40)):
        a, b, c = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        want = expected(function, 1.5, 0.5, c, a, b)
        for opts in (AUTO, SETTLED, parpy.par({}, backend=CPU)):
            assert is_contraction(function, (1.5, 0.5, c, a, b), opts)
            got = c.copy()
            function(1.5, 0.5, got, a, b, opts=opts)
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", SPELLINGS, ids=lambda f: f.__name__)
def test_no_steps(function: Callable[..., Any]) -> None:
    """Without steps the sums keep their initial values, and the other statements run."""
    for shape in ((8, 16), (9, 17), (1, 1), (0, 5), (5, 0)):
        a, b, c = np.ones((shape[0], 0)), np.ones((0, shape[1])), np.full(shape, 3.0)
        got = c.copy()
        function(1.5, 0.5, got, a, b, opts=AUTO)
        begin = {"scalar": 1.5, "zeroed": 0.0, "updated": 3.0, "rows": 1.5, "expression": 1.5, "operator": 0.0}
        np.testing.assert_array_equal(got, np.full(shape, begin[function.__name__]))


def test_elements_that_nothing_is_added_to_are_not_touched() -> None:
    """Such elements may lie outside the array: c has fewer rows than the loop, which adds nothing to any."""

    @parpy.jit
    def beyond(c, a, b, n, l):
        for i in range(n):
            for j in range(c.shape[1]):
                for k in range(l):
                    c[i, j] += a[i, k] * b[k, j]

    c = np.ones((4, 16))
    for n in (1000, 1001, 1002, 1003, 5000, 6000):
        beyond(c, np.ones((n, 8)), np.ones((8, 16)), n, 0, opts=AUTO)
    assert (c == 1).all()


@parpy.jit
def into(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(c.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


def test_a_target_that_is_a_factor_is_no_contraction() -> None:
    for which in (1, 2):
        for overlap in ("whole", "part"):
            rng = np.random.default_rng(which)
            memory = rng.uniform(-1, 1, (40, 24))
            got = [memory[:24].copy(), rng.uniform(-1, 1, (24, 24)), rng.uniform(-1, 1, (24, 24))]
            shared = rng.uniform(-1, 1, (40, 24))
            got[0] = shared[:24]
            got[which] = shared[:24] if overlap == "whole" else shared[8:32]
            want_memory = shared.copy()
            want = [g.copy() for g in got]
            want[0], want[which] = want_memory[:24], want_memory[:24] if overlap == "whole" else want_memory[8:32]
            # The nest of one row may be a contraction: it reads another row of the same memory.
            found = notes(into, tuple(got), AUTO)
            assert not any(note.startswith("a contraction of rows") for note in found)
            assert overlap == "part" or not is_contraction(into, tuple(got))
            into(*got, opts=AUTO)
            into(*want, seq=True)
            np.testing.assert_allclose(shared, want_memory, rtol=1e-11)


def test_factors_may_be_one_array() -> None:
    a, c = np.random.default_rng(0).uniform(-1, 1, (30, 30)), np.zeros((30, 30))
    assert is_contraction(into, (c, a, a))
    into(c, a, a, opts=AUTO)
    np.testing.assert_allclose(c, a @ a, rtol=1e-12)


WORKERS = """
import hashlib
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import parpy
from test_contractions import SPELLINGS
rng = np.random.default_rng(0)
for dtype in ("f8", "f4"):
    for m, n, k in ((200, 210, 300), (130, 90, 1100)):
        a, b, c = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        for function in SPELLINGS:
            got = c.copy()
            function(1.5, 0.5, got, a, b, opts=parpy.auto(backend=parpy.CompileBackend.Cpu, deterministic=True))
            print(function.__name__, dtype, hashlib.sha256(got.tobytes()).hexdigest())
"""


def test_bits_do_not_depend_on_workers() -> None:
    here = str(Path(__file__).parent)
    outputs = set()
    for workers, chunks, width in (("1", "0", "64"), ("2", "0", "64"), ("2", "7", "32"), ("1", "3", "16")):
        env = dict(
            os.environ,
            PARPY_NUM_THREADS=workers,
            PARPY_CHUNKS=chunks,
            PARPY_VECTOR_BYTES=width,
            PYTHONPATH=os.pathsep.join(p for p in sys.path if p),
        )
        done = subprocess.run(
            [sys.executable, "-c", WORKERS, here], capture_output=True, text=True, env=env, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_by_hand() -> None:
    """Loops that a mapping names run on workers; if they are a contraction, their blocks do."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (100, 80)), rng.uniform(-1, 1, (80, 90))

    @parpy.jit
    def labelled(c, a, b):
        parpy.label("i")
        for i in range(c.shape[0]):
            parpy.label("j")
            for j in range(c.shape[1]):
                parpy.label("k")
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    for mapping in (
        {"i": parpy.threads(4)},
        {"j": parpy.threads(8)},
        {"i": parpy.threads(4), "j": parpy.threads(64)},
        {"i": parpy.threads(4), "k": parpy.threads(4).reduce()},
    ):
        c = np.zeros((100, 90))
        opts = CompileOptions(parallelize=mapping, backend=CPU)
        assert is_contraction(labelled, (c, a, b), opts)
        labelled(c, a, b, opts=opts)
        np.testing.assert_allclose(c, a @ b, rtol=1e-12)
        text = parpy.print_compiled(labelled, (c, a, b), opts)
        assert "tile<" in text and "parpy_parallel_for" in text
    sequential = parpy.print_compiled(labelled, (c, a, b), parpy.par({}, backend=CPU))
    assert "tile<" in sequential and "parpy_parallel_for" not in sequential
    c = np.zeros((100, 90))
    labelled(c, a, b, opts=CompileOptions(parallelize={"k": parpy.threads(4).reduce()}, backend=CPU))
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [scalar, updated, expression],
    ids=lambda f: f.__name__,
)
def test_strange_memory(function: Callable[..., Any]) -> None:
    """Columns, steps between elements, reversed axes, bases that are not aligned for vectors."""
    rng = np.random.default_rng(0)

    def layouts(m: int, n: int) -> list[Any]:
        wide = rng.uniform(-1, 1, (3 * m + 3, 3 * n + 3))
        return [
            wide[:m, :n],
            wide[1 : m + 1, 3 : n + 3],
            wide[: 2 * m : 2, : 3 * n : 3],
            wide[m - 1 :: -1, n - 1 :: -1][:m, :n],
            wide[: 2 * n : 2, :m].T,
            np.asfortranarray(wide[:m, :n]),
        ]

    m, n, k = 21, 30, 19
    for c, a, b in zip(layouts(m, n), layouts(m, k)[::-1], layouts(k, n), strict=True):
        memory = np.empty((60, 200))
        target = memory[3 : 3 + m, 1 : 1 + n]
        target[:] = c
        function(1.5, 0.5, target, a, b, opts=AUTO)
        want = {"scalar": 1.5 * (a @ b) + 0.5 * c, "updated": c + a @ b, "expression": 1.5 * a @ b + 0.5 * c}
        np.testing.assert_allclose(target, want[function.__name__], rtol=1e-11, atol=1e-12)
        spelled = c.copy(order="K")[::1]
        function(1.5, 0.5, spelled, a, b, opts=AUTO)
        np.testing.assert_allclose(spelled, want[function.__name__], rtol=1e-11, atol=1e-12)


NEAR = {
    "each factor has to vary with a loop that the other does not vary with": """
        for i in range(20):
            for k in range(20):
                y[i] += a[i, k] * x[k]
    """,
    "products are added under a condition": """
        for i in range(20):
            for j in range(20):
                for k in range(20):
                    if a[i, k] > 0:
                        c[i, j] += a[i, k] * b[k, j]
    """,
    "a factor varies with both 'i' and 'j'": """
        for i in range(20):
            for j in range(20):
                for k in range(20):
                    c[i, j] += a[i, k] * b[k, j]
                    c[i, j] += a[k, j] * (b[k, i] * b[k, j])
    """,
    "a factor depends on values that the loops compute": """
        for i in range(20):
            for j in range(20):
                for k in range(20):
                    c[i, j] += a[i, k] * c[k, j]
    """,
    "several sums are added to": """
        for i in range(20):
            for j in range(20):
                for k in range(20):
                    c[i, j] += a[i, k] * b[k, j]
                    y[i] += a[i, k] * x[k]
    """,
    "there are too few columns": """
        for i in range(20):
            for j in range(2):
                for k in range(20):
                    c[i, j] += a[i, k] * b[k, j]
    """,
}


@pytest.mark.parametrize("reason", NEAR)
def test_explain_says_what_is_lacking(reason: str) -> None:
    rng = np.random.default_rng(0)
    arrays = {name: rng.uniform(-1, 1, (20, 20)) for name in "abc"} | {name: rng.uniform(-1, 1, 20) for name in "xy"}
    nest = Nest(NEAR[reason], arrays)
    found = notes(nest.function, nest.copies().values(), AUTO)
    assert any(note.endswith(reason) for note in found), found
    got, want = compiled(nest, AUTO), nest.copies()
    nest.function(*want.values(), seq=True)
    for name, value in want.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-10)


def test_explain_names_the_tile() -> None:
    a = np.zeros((48, 48))
    found = notes(scalar, (1.0, 0.0, a, a.copy(), a.copy()), AUTO)
    assert found[0].startswith("a contraction of rows 'i' and columns 'j' over 'k', in tiles of ")
    assert "in tiles of" in str(parpy.explain(scalar, 1.0, 0.0, a, a.copy(), a.copy(), opts=AUTO))
