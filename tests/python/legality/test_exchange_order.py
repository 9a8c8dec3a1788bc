"""Loads stay after the barriers before them. An interpreter of PTX shows it: it runs NVRTC's code for kernels whose
threads exchange elements, thread by thread in random orders."""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nvrtc
import parpy
import places
from parpy import CompileBackend, CompileOptions, cuda

sys.path.insert(0, str(places.TESTS / "fuzz"))
import ptx

THREADS = 32


@cuda.jit
def first_writes(a):
    i = cuda.grid(1)
    if i == 0:
        a[0] = 42
    cuda.syncwarp()
    a[i] = a[0]


@cuda.jit
def neighbours(a):
    i = cuda.threadIdx.x
    a[i] = a[i] + 1
    cuda.syncthreads()
    t = a[(i + 1) % 32]
    cuda.syncthreads()
    a[i] = t


@cuda.jit
def two_names(a, b):
    i = cuda.threadIdx.x
    a[i] = i
    cuda.syncthreads()
    t = a[31 - i] + b[31 - i]
    cuda.syncthreads()
    b[i] = t
    cuda.syncthreads()
    a[i] = b[0]


@cuda.jit
def columns(a):
    i = cuda.threadIdx.x
    a[i, 0] = a[i, 1] + 1
    cuda.syncthreads()
    a[i, 1] = a[31 - i, 0] + a[-1, 0]


@cuda.jit
def shared_exchange(a):
    s = cuda.shared.array(32, np.float64)
    i = cuda.threadIdx.x
    s[i] = a[i]
    cuda.syncthreads()
    a[i] = s[31 - i] + s[0]
    cuda.syncthreads()
    s[31 - i] = a[31 - i]
    cuda.syncthreads()
    a[i] += s[i]


@cuda.jit
def repeated(a):
    i = cuda.threadIdx.x
    for step in range(4):
        t = a[(i + step) % 32] + a[0]
        cuda.syncthreads()
        a[i] = t
        cuda.syncthreads()


@cuda.jit
def through_function(a):
    i = cuda.threadIdx.x
    put(a, i, i * 2)
    cuda.syncthreads()
    a[i] = take(a, 31 - i) + take(a, 0)


@cuda.jit(device=True)
def put(x, i, value):
    x[i] = value


@cuda.jit(device=True)
def take(x, i):
    t = x[i]
    cuda.syncthreads()
    return t


def by_numpy(name: str, a: np.ndarray, b: np.ndarray) -> None:
    """The kernel's results, statement by statement, for all threads at once."""
    if name == "first_writes":
        a[:] = 42
    elif name == "neighbours":
        a += 1
        a[:] = np.roll(a, -1)
    elif name == "two_names":
        a[:] = np.arange(32)
        b[:] = a[::-1] + b[::-1].copy()
        a[:] = b[0]
    elif name == "columns":
        a[:, 0] = a[:, 1] + 1
        a[:, 1] = a[::-1, 0] + a[-1, 0]
    elif name == "shared_exchange":
        s = a.copy()
        a[:] = s[::-1] + s[0]
        a += a.copy()
    elif name == "repeated":
        for step in range(4):
            a[:] = np.roll(a, -step) + a[0]
    else:
        a[:] = np.arange(32) * 2
        t = a.copy()
        a[:] = t[::-1] + t[0]


CASES: dict[str, tuple[Callable[..., Any], int]] = {
    "first_writes": (first_writes, 1),
    "neighbours": (neighbours, 1),
    "two_names": (two_names, 2),
    "columns": (columns, 1),
    "shared_exchange": (shared_exchange, 1),
    "repeated": (repeated, 1),
    "through_function": (through_function, 1),
}


def run_by_ptx(text: str, arrays: dict[str, np.ndarray], seed: int, grid: int, block: int) -> None:
    """Runs the only kernel of the text on arrays that its parameters name; extents and sizes follow from them."""
    head = re.search(r"__global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(([^)]*)\)", text)
    assert head is not None
    module = ptx.parse(nvrtc.ptx(text))
    memory = ptx.Memory()
    known = {name: memory.add(array) for name, array in arrays.items()}
    for name, array in arrays.items():
        for axis, (extent, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
            known |= {f"{name}_extent{axis}": extent, f"{name}_stride{axis}": stride // array.itemsize}
    values = [known[re.split(r"[\s*]+", p.strip())[-1]] for p in head.group(2).split(",")]
    rng = random.Random(seed)
    ptx.launch(module, head.group(1), values, memory, grid, block, lambda threads: rng.sample(threads, len(threads)))


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("case", CASES)
def test_what_other_threads_wrote_is_read_behind_the_barrier(case, dtype):
    kernel, count = CASES[case]
    shape = (32, 2) if case == "columns" else 32
    start = [np.arange(np.prod(shape)).reshape(shape).astype(dtype) + 3 * k for k in range(count)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning that there is no GPU
        text = kernel.inspect_source(*[a.copy() for a in start])
    assert "__restrict__" not in text
    want = [a.copy() for a in start]
    by_numpy(case, want[0], want[-1])
    for seed in range(4):
        got = dict(zip("ab", [a.copy() for a in start], strict=False))
        run_by_ptx(text, got, seed, 1, THREADS)
        for ours, numpys in zip(got.values(), want, strict=True):
            np.testing.assert_array_equal(ours, numpys, err_msg=text)


@parpy.jit
def rotated_rows(x, n):
    parpy.label("rows")
    for i in range(n):
        parpy.label("columns")
        x[i, 1:] = x[i, :-1] * 2
        parpy.label("columns")
        x[i, :] += x[i, 0]


@parpy.jit
def scaled_rows(x, n):
    parpy.label("rows")
    for i in range(n):
        parpy.label("columns")
        x[i, :] -= parpy.max(x[i, :])
        parpy.label("columns")
        x[i, :] += parpy.sum(x[i, :])


@pytest.mark.parametrize("function", [rotated_rows, scaled_rows], ids=lambda f: f.__name__)
def test_threads_of_a_row_exchange_its_elements(function):
    start = np.arange(2.0 * 48).reshape(2, 48) % 7
    mapping = {"rows": parpy.threads(2), "columns": parpy.threads(32)}
    options = CompileOptions(parallelize=mapping, backend=CompileBackend.Cuda)
    text = parpy.print_compiled(function, (start, 2), options)
    want = start.copy()
    function(want, 2, seq=True)
    for seed in range(4):
        got = start.copy()
        run_by_ptx(text, {"x": got, "values": np.zeros((2, 48))}, seed, 2, 32)
        np.testing.assert_array_equal(got, want, err_msg=text)


def test_the_promise_of_restrict_would_move_loads_in_front_of_barriers():
    """The defect that the other tests look for, in a text that does not prevent it."""
    text = """extern "C" __global__ void k(int* __restrict__ a) {
    int i = (int)threadIdx.x;
    if (i == 0) a[0] = 42;
    __syncwarp();
    a[i] = a[0];
}"""
    got = np.arange(32, dtype=np.int32)
    run_by_ptx(text, {"a": got}, 0, 1, 32)
    assert not (got == 42).all()
    run_by_ptx(text.replace("__restrict__", ""), {"a": got}, 0, 1, 32)
    assert (got == 42).all()
