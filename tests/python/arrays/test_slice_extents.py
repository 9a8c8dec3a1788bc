"""Slices whose extents are computed at run time, over all signs of starts, stops and steps: NumPy's values, in the
memory that a handful of elements needs."""

from __future__ import annotations

import itertools
import linecache
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

import parpy
from backends import TARGETS

ROOM = 2**30  # bytes for threads' stacks and compiled programs; the smallest mistake asks for 2^33
BOUNDS = ["", "0", "1", "-3", "m", "-m", "m // 2", "20", "-20"]
STEPS = ["", ":2", ":-1", ":-3"]
SLICES = [f"{a}:{b}{s}" for a, b, s in itertools.product(BOUNDS, BOUNDS, STEPS) if "m" in a + b]
VALUES = (3, 1, 0, -2, 7, -9)  # more than are compiled for one by one
SHAPES = ((5, 6), (1, 1), (0, 3), (7, 4))
STATEMENTS = {
    "sum": ["t = float(np.sum(b[{0}, {1}]))", "out[0] = t"],
    "any": ["t = np.any(b[{0}, {1}] > 2)", "out[0] = t"],
    "max": ["out[0] = np.max(b[{0}, {1}])"],
    "assigned": ["b[{0}, {1}] = b[{0}, {1}] * 2 + 1"],
    "crossed": ["b[{0}, {1}] = np.sum(b[{1}, {0}])"],
}
LABELLED = ["parpy.label('x')", "parpy.label('y')"]


@pytest.fixture(scope="module", autouse=True)
def bounded_memory():
    """An address space that grows by `ROOM` at most."""
    if not sys.platform.startswith("linux"):
        yield
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def made(lines: list[str]):
    text = "@parpy.jit\ndef kernel(b, m, out):\n" + "".join(f"    {line}\n" for line in lines)
    file = f"<slices {lines}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"parpy": parpy, "np": np}
    exec(compile(text, file, "exec"), space)
    return space["kernel"]


def compared(lines: list[str], opts: parpy.CompileOptions, values=VALUES) -> None:
    kernel = made(lines)
    for k, m in enumerate(values):
        shape = SHAPES[k % len(SHAPES)]
        given = np.random.default_rng(k).integers(0, 4, shape).astype(float)
        want, got = (given.copy(), np.zeros(1)), (given.copy(), np.zeros(1))
        try:
            kernel(want[0], m, want[1], seq=True)
        except (IndexError, ValueError):  # the greatest of nothing
            continue
        kernel(got[0], m, got[1], opts=opts)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_array_equal(b, a, err_msg=f"{lines} with m = {m}, of {shape}")


def some_slices(seed: int, count: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(seed)
    return [(SLICES[i], SLICES[j]) for i, j in rng.integers(0, len(SLICES), (count, 2))]


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("chosen", ["automatic", "by_hand"])
def test_slices_of_run_time_extents(statement: str, chosen: str, backend: str) -> None:
    mapping = {"x": parpy.threads(8), "y": parpy.threads(64)}
    place = parpy.CompileBackend(backend)
    by_hand = chosen == "by_hand"
    opts = parpy.par(mapping, backend=place) if by_hand else parpy.auto(backend=place)
    seed = sorted(STATEMENTS).index(statement)
    for pair in some_slices(seed, 6):
        lines = [line.format(*pair) for line in STATEMENTS[statement]]
        if by_hand:
            lines = [*LABELLED, lines[0].replace("t = ", "out[0] = ")]
        compared(lines, opts)


@pytest.mark.parametrize("backend", TARGETS)
def test_every_slice_of_one_dimension(backend: str) -> None:
    """All slices, in one function each for sums and for stores that overlap the loaded elements."""
    opts = parpy.auto(backend=parpy.CompileBackend(backend))
    for several in batches(SLICES, 12):
        sums = [f"out[0] = out[0] * 3 + np.sum(b[0, {s}]) if b.shape[0] > 0 else 0" for s in several]
        compared(sums, opts)
        compared([f"b[:, {s}] = b[:, {s}] + np.any(b[{s}, :1] > 1)" for s in several], opts)


def batches(values: list[str], size: int) -> list[list[str]]:
    return [values[k : k + size] for k in range(0, len(values), size)]


@pytest.mark.parametrize("backend", TARGETS)
def test_the_programs_that_asked_for_gigabytes(backend: str) -> None:
    place = parpy.CompileBackend(backend)
    cube = np.arange(210.0).reshape(5, 6, 7)

    @parpy.jit
    def summed(b, m, out):
        t = float(np.sum(b[m:0:-2, :1, -20:2]))
        out[0] = t

    @parpy.jit
    def found(b, m, out):
        t = np.any(b[1:m:3, :m:-2])
        out[0] = t

    for m in VALUES:
        out = np.zeros(2)
        summed(cube, m, out[:1], opts=parpy.auto(backend=place))
        found(cube[0], m, out[1:], opts=parpy.auto(backend=place))
        assert out.tolist() == [np.sum(cube[m:0:-2, :1, -20:2]), np.any(cube[0, 1:m:3, :m:-2])]
