"""Each rank of test_ranks runs this program: the parts that the command line names. Each rank prints a line after a
part succeeds."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np
from mpi4py import MPI

import parpy

COMM = MPI.COMM_WORLD
CPU = parpy.CompileBackend.Cpu


@parpy.jit
def jacobi_1d(a, b, steps):
    for t in range(steps):
        for i in range(1, len(a) - 1):
            b[i] = 0.33 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, len(a) - 1):
            a[i] = 0.33 * (b[i - 1] + b[i] + b[i + 1])


@parpy.jit
def columns_2d(a, b, steps):
    for t in range(steps):
        for j in range(1, a.shape[1] - 1):
            for i in range(a.shape[0]):
                b[i, j] = a[i, j - 1] + a[i, j + 1]
        for j in range(a.shape[1]):
            for i in range(a.shape[0]):
                a[i, j] = 0.5 * b[i, j]


@parpy.jit
def around(g, h, steps):
    n = len(g)
    for t in range(steps):
        for i in range(n):
            h[i] = g[(i - 1) % n] + g[(i + 1) % n]
        for i in range(n):
            g[i] = h[i] % 7


@parpy.jit
def beside(a, c):
    for i in range(len(a) - 3):
        a[i + 2] = c[i] + c[i + 3]


@parpy.jit
def heat_3d(a, b, steps):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k]
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    a[i, j, k] = 0.5 * b[i, j, k]


@parpy.jit
def total(x):
    s = 0.0
    most = -1.0
    for i in range(len(x)):
        s += x[i] * 0.1
        most = max(most, x[i])
    return s, most


@parpy.jit
def histogram(x, h):
    for i in range(len(x)):
        h[int(x[i] * 8)] += 1


@parpy.jit
def power(m, x, y, steps):
    s = 0.0
    for k in range(steps):
        s = 0.0
        for i in range(len(x)):
            r = 0.0
            for j in range(len(x)):
                r += m[i, j] * x[j]
            y[i] = r
            s += r * r
        for i in range(len(x)):
            x[i] = y[i] / s**0.5
    return s


@parpy.jit
def until_small(x, limit):
    count = 0
    s = 1.0e9
    while s > limit:
        s = 0.0
        for i in range(len(x)):
            x[i] *= 0.5
            s += x[i]
        count += 1
    return count


@parpy.jit
def positive(x, y):
    for i in range(len(x)):
        if x[i] <= 0:
            raise ValueError("not positive")
        y[i] = 100 // x[i]


def _random(*shape):
    return np.random.default_rng(5).random(shape)


def _cases():
    yield jacobi_1d, [_random(101), np.zeros(101)], [4]
    yield jacobi_1d, [_random(5), np.zeros(5)], [3]  # fewer rows than some runs have ranks
    yield columns_2d, [_random(7, 40), np.zeros((7, 40))], [3]
    yield around, [np.arange(50), np.zeros(50, int)], [5]
    yield beside, [_random(40), _random(40)], []
    yield total, [_random(1000)], []
    yield histogram, [_random(500), np.zeros(8, int)], []
    yield power, [_random(30, 30), np.ones(30), np.zeros(30)], [4]
    yield until_small, [_random(300), 1e-3], []


def _after(function, values, numbers, **options):
    made = [np.array(value) if isinstance(value, np.ndarray) else value for value in values]
    result = function(*made, *numbers, opts=parpy.auto(backend=CPU, deterministic=True, **options))
    return [result, *made]


def bits():
    for function, values, numbers in _cases():
        found = _after(function, values, numbers, comm=COMM, gather=True)
        expected = _after(function, values, numbers)
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other), (function.__name__, COMM.rank, one, other)


def on_gpus():
    """Arrays of the host, and of the GPU of each rank."""
    cuda = parpy.CompileBackend.Cuda

    def made(value, backend=None):
        if not isinstance(value, np.ndarray):
            return value
        return value.copy() if backend is None else parpy.buffer.from_array(value, backend)

    for function, values, numbers in [*_cases(), (heat_3d, [_random(23, 5, 6), _random(23, 5, 6)], [7])]:
        options = {"deterministic": function is not total, "gather": True}
        expected = [made(value) for value in values]
        result = function(*expected, *numbers, opts=parpy.auto(backend=CPU, **options))
        for backend in (None, cuda):
            held = [made(value, backend) for value in values]
            found = function(*held, *numbers, opts=parpy.auto(backend=cuda, comm=COMM, **options))
            assert result is None or np.allclose(found, result, rtol=1e-12), (function.__name__, found, result)
            for one, other in zip(held, expected, strict=True):
                mine = one.numpy() if isinstance(one, parpy.buffer.Buffer) else one
                assert np.array_equal(mine, other), (function.__name__, COMM.rank, mine, other)
    a, b = (parpy.buffer.from_array(_random(40), cuda) for _ in range(2))
    try:
        jacobi_1d(a, b, 1, opts=parpy.auto(backend=CPU, comm=COMM))
    except parpy.ParallelError as error:
        assert "memory of a GPU" in str(error), str(error)
    else:
        raise AssertionError("not refused")


def own_rows():
    """A rank's values in rows of other ranks are ignored."""
    a, b = _random(100), np.zeros(100)
    expected = _after(jacobi_1d, [a, b], [3])[1]
    first, last = COMM.rank * 100 // COMM.size, (COMM.rank + 1) * 100 // COMM.size
    mine = np.full(100, np.nan)
    mine[first:last] = a[first:last]
    found = _after(jacobi_1d, [mine, b], [3], comm=COMM)[1]
    assert np.array_equal(found, expected)


def split():
    """Two halves of the ranks call different functions."""
    comm = COMM.Split(COMM.rank % 2)
    values = [_random(64), np.zeros(64)]
    found = _after(jacobi_1d, values, [2 + COMM.rank % 2], comm=comm)
    expected = _after(jacobi_1d, values, [2 + COMM.rank % 2])
    assert all(np.array_equal(one, other) for one, other in zip(found[1:], expected[1:], strict=True))
    comm.Free()


def many_communicators():
    """A freed communicator takes the copy that its calls used with it; MPICH has room for some 2000."""
    a, b = _random(40), np.zeros(40)
    for _ in range(2100):
        comm = COMM.Dup()
        _after(beside, [a, b], [], comm=comm)
        comm.Free()


def _refused(function, values, why, **options):
    made = [np.array(value) if isinstance(value, np.ndarray) else value for value in values]
    before = [np.array(value) for value in made]
    try:
        function(*made, opts=parpy.auto(backend=CPU, comm=COMM, **options))
    except parpy.ParallelError as error:
        assert why in str(error), str(error)
    else:
        raise AssertionError("not refused")
    assert all(np.array_equal(one, other) for one, other in zip(made, before, strict=True))


def unequal():
    one = COMM.rank == COMM.size - 1
    a, b = _random(40), np.zeros(40)
    _refused(jacobi_1d, [a, b, 4 + one], "argument 3: int 5, rank 0 with argument 3: int 4")
    _refused(jacobi_1d, [a[: 40 - one], b, 2], "argument 1: an array of shape (39,)")
    _refused(jacobi_1d, [a.astype(np.float32 if one else float), b, 2], "float32")
    _refused(beside if one else total, [a, b] if one else [a], "the function")
    _refused(jacobi_1d, [a, b, 2], "the options", deterministic=one)
    m, x, y = _random(8, 8), np.ones(8), np.zeros(8)
    h = np.zeros(8, int)
    h[3] = one
    _refused(histogram, [a, h], "other elements of 'h'")
    assert np.array_equal(_after(beside, [a, b], [], comm=COMM)[1], _after(beside, [a, b], [])[1])  # calls still work
    _refused(power, [m, x, y, 2], "because of 'x[j]'")


def one_fails():
    """After an error on one rank, all ranks can make a call together again, however often."""
    x, y, a, b = np.ones(40, int), np.zeros(40, int), _random(40), np.zeros(40)
    x[-1] = 0
    for _ in range(20):
        try:
            positive(x, y, opts=parpy.auto(backend=CPU, comm=COMM))
        except ValueError as error:
            assert COMM.rank == COMM.size - 1 and "not positive" in str(error)
        except parpy.ParallelError as error:
            assert f"rank {COMM.size - 1} failed" in str(error) and "not positive" in str(error), str(error)
        else:
            raise AssertionError("nobody failed")
        assert np.array_equal(_after(beside, [a, b], [], comm=COMM)[1], _after(beside, [a, b], [])[1])


def dies():
    a, b = _random(40), np.zeros(40)
    _after(jacobi_1d, [a, b], [2], comm=COMM)
    if COMM.rank == COMM.size - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    _after(jacobi_1d, [a, b], [2000], comm=COMM)


def stays_away():
    if COMM.rank == COMM.size - 1:
        time.sleep(8)  # makes no call
        return
    try:
        _after(jacobi_1d, [_random(40), np.zeros(40)], [2], comm=COMM)
    except parpy.ParallelError as error:
        assert "waited" in str(error) or "failed" in str(error), str(error)
    else:
        raise AssertionError("it did not wait")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
        print(f"{name} holds on rank {COMM.rank} of {COMM.size}", flush=True)
