"""Calls that several virtual devices share: results are those of one call, for any number of devices.

The memory of each device is first filled with values that no program makes, so that rows that were not sent show.
"""

from __future__ import annotations

import resource
import threading
from pathlib import Path

import numpy as np
import pytest

import parpy
from backends import copies
from parpy.scale import partitioned
from parpy.scale.plans import plan_of
from test_halo import backwards, jacobi_1d, jacobi_2d

CPU, SIM = parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim
OWN_MEMORY = partitioned.own_memory
PARTS = [1, 2, 3, 5, 8]


@pytest.fixture(autouse=True)
def _nothing_is_there_by_chance(monkeypatch):
    def filled(shape, dtype, axis):
        memory = OWN_MEMORY(shape, dtype, axis)
        memory[...] = np.nan if memory.dtype.kind == "f" else 77
        return memory

    monkeypatch.setattr(partitioned, "own_memory", filled)


def options(parts, backend=CPU, **fields):
    return parpy.auto(backend=backend, devices=range(parts), **fields)


def shared(function, args, parts, **fields):
    """The result of a call on `parts` devices, and its arrays afterwards."""
    given = copies(args)
    result = function(*given, opts=options(parts, **fields))
    return [result, *(each for each in given if isinstance(each, np.ndarray))]


def alone(function, args, backend=CPU, **fields):
    given = copies(args)
    result = function(*given, opts=parpy.auto(backend=backend, **fields))
    return [result, *(each for each in given if isinstance(each, np.ndarray))]


def agree(found, expected, rtol=0.0):
    for mine, other in zip(found, expected, strict=True):
        if other is not None:
            np.testing.assert_allclose(mine, other, rtol=rtol, atol=0)


@parpy.jit
def swapped(A, B, T):
    u, v = A, B
    for t in range(T):
        for i in range(2, len(A) - 1):
            v[i] = u[i - 2] + t * u[i + 1]
        u, v = v, u


@parpy.jit
def several_offsets(A, B, C, T):
    for t in range(T):
        for i in range(len(A) - 4):
            A[i + 1] = C[i] + C[i + 4]
            B[i + 3] = C[i + 2] + t
        for i in range(len(A)):
            C[i] = A[i] + B[i]


@parpy.jit
def steps_of_two(A, B, T):
    for t in range(T):
        for i in range(2, len(A) - 2, 2):
            A[i] = B[i - 1] + B[i + 1]
        for i in range(1, len(A) - 1, 2):
            B[i] = A[i - 1] - A[i + 1]


@parpy.jit
def every_other(coarse, fine, T):
    for t in range(T):
        for i in range(len(coarse)):
            fine[2 * i] = coarse[i] + t


@parpy.jit
def product(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


@parpy.jit
def life(a, b, T):
    n, m = a.shape
    for t in range(T):
        for i in range(n):
            for j in range(m):
                s = 0
                for k in range(-1, 2):
                    for h in range(-1, 2):
                        s += a[(i + k) % n, (j + h) % m]
                s -= a[i, j]
                b[i, j] = 1 if s == 3 or (s == 2 and a[i, j] == 1) else 0
        for i in range(n):
            for j in range(m):
                a[i, j] = b[i, j]


@parpy.jit
def down_columns(a, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            y[j] += a[i, j]


@parpy.jit
def scratch(x, T):
    y = np.empty_like(x)
    for t in range(T):
        for i in range(1, len(x) - 1):
            y[i] = x[i - 1] + x[i + 1]
        for i in range(1, len(x) - 1):
            x[i] = 0.5 * y[i]


_RNG = np.random.default_rng(5)


def _floats(*shape):
    return _RNG.random(shape)


EXACT = {
    "jacobi_1d": (jacobi_1d, (_floats(61), _floats(61), 4)),
    "jacobi_1d_short": (jacobi_1d, (_floats(7), _floats(7), 3)),
    "jacobi_2d": (jacobi_2d, (_floats(29, 11), _floats(29, 11), 3)),
    "float32": (jacobi_2d, (_floats(29, 11).astype("f4"), _floats(29, 11).astype("f4"), 3)),
    "swapped": (swapped, (_floats(40), _floats(40), 5)),
    "several_offsets": (several_offsets, (_floats(43), _floats(43), _floats(43), 3)),
    "backwards": (backwards, (_floats(40), _floats(40), 4)),
    "steps_of_two": (steps_of_two, (_floats(41), _floats(41), 3)),
    "every_other": (every_other, (_floats(20), _floats(40), 3)),
    "product": (product, (_floats(17, 13), _floats(13, 9), _floats(17, 9))),
    "life": (life, (_RNG.integers(0, 2, (23, 14)), np.zeros((23, 14), np.int64), 5)),
    "down_columns": (down_columns, (_floats(19, 31), _floats(31))),
    "strided": (jacobi_1d, (_floats(80)[::2], _floats(40), 2)),
    "empty": (jacobi_1d, (_floats(0), _floats(0), 2)),
}


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", EXACT)
def test_the_bits_are_those_of_one_device(name, parts):
    function, args = EXACT[name]
    sums = {"deterministic": True} if name in ("product", "down_columns") else {}
    agree(shared(function, args, parts, **sums), alone(function, args, **sums))


@pytest.mark.parametrize("name", EXACT)
def test_virtual_devices_of_the_simulator(name):
    function, args = EXACT[name]
    sums = {"deterministic": True} if name in ("product", "down_columns") else {}
    agree(shared(function, args, 3, backend=SIM, **sums), alone(function, args, **sums))


@parpy.jit
def dot(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


@parpy.jit
def extremes(x, k):
    low, high, bits = x[0] * 0 + 9.0, -9.0, 0
    for i in range(len(x)):
        low = min(low, x[i])
    for i in range(len(x)):
        high = max(high, x[i])
    for i in range(len(k)):
        bits = bits ^ k[i]
    return low, high, bits


@parpy.jit
def histogram(k, h):
    for i in range(len(h)):
        h[i] = 1
    for i in range(len(k)):
        h[k[i]] += 1
    for i in range(len(h)):
        h[i] = h[i] * 2


@parpy.jit
def relax(x, y, eps):
    err, n = eps + 1.0, 0
    while err > eps and n < 500:
        err = 0.0
        for i in range(1, len(x) - 1):
            y[i] = 0.5 * (x[i - 1] + x[i + 1])
        for i in range(1, len(x) - 1):
            err = max(err, abs(y[i] - x[i]))
            x[i] = y[i]
        n += 1
    return n


@parpy.jit
def weighted(x, k, w):
    for i in range(len(x)):
        w[k[i]] += x[i]


REDUCED = {
    "dot": (dot, (_floats(101), _floats(101)), 1e-13),
    "histogram": (histogram, (_RNG.integers(0, 7, 101), np.zeros(7, np.int64)), 0),
    "weighted": (weighted, (_floats(101), _RNG.integers(0, 7, 101), np.ones(7)), 1e-13),
    "relax": (relax, (np.eye(1, 30)[0], np.eye(1, 30)[0], 1e-3), 0),
}


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize(("parts", "backend"), [*((parts, CPU) for parts in PARTS), (3, SIM)])
def test_reductions(name, parts, backend):
    function, args, rtol = REDUCED[name]
    agree(shared(function, args, parts, backend=backend), alone(function, args), rtol)


@pytest.mark.parametrize("parts", PARTS)
def test_other_operators(parts):
    @parpy.jit
    def low(x):
        m = 9.0
        for i in range(len(x)):
            m = min(m, x[i])
        return m

    @parpy.jit
    def bits(k):
        b, c, d = 0, -1, 3
        for i in range(len(k)):
            b = b ^ k[i]
            c = c & k[i]
            d = d | k[i]
        return b, c, d

    @parpy.jit
    def factors(x):
        p = 2.0
        for i in range(len(x)):
            p *= x[i]
        return p

    x, k = _floats(37) + 0.5, _RNG.integers(0, 1000, 37)
    assert shared(low, (x,), parts)[0] == x.min()
    assert shared(bits, (k,), parts)[0] == alone(bits, (k,))[0]
    agree(shared(factors, (x,), parts)[:1], alone(factors, (x,))[:1], 1e-13)


@parpy.jit
def coupled(e, h, c, T):
    """Two fields that feed each other, and a third array that no step writes."""
    for t in range(T):
        for i in range(1, len(e)):
            e[i] = e[i] - c[i] * (h[i] - h[i - 1])
        for i in range(len(h) - 1):
            h[i] = h[i] - 0.5 * c[i + 1] * (e[i + 1] - e[i]) + 0.001 * t
    for i in range(1, len(e) - 1):
        c[i] = e[i - 1] + h[i + 1]


@parpy.jit
def wide(x, y, T):
    for t in range(T):
        for i in range(3, len(x) - 1):
            y[i] = x[i - 3] + 0.5 * x[i + 1]
        for i in range(1, len(x) - 2):
            x[i] = 0.3 * (y[i - 1] + y[i + 2])


@parpy.jit
def counted(x, y, T):
    """Wrong operands would fail: the devices exchange rows in each step."""
    for t in range(T):
        for i in range(1, len(x) - 1):
            y[i] = (x[i - 1] + 7) // x[i + 1] + 1
        for i in range(len(x)):
            x[i] = y[i]


@pytest.mark.parametrize(("parts", "steps", "backend"), [(2, 1, CPU), (2, 2, CPU), (5, 40, CPU), (3, 9, SIM)])
def test_loops_over_time_exchange_once_for_several_steps(parts, steps, backend, monkeypatch):
    monkeypatch.setenv("PARPY_TIME_TILES", "2")
    x, y, c, a, b = _floats(250), _floats(250), _floats(250), _floats(90, 70), _floats(90, 70)
    whole = np.ones(250, np.int64)
    cases = [(coupled, (x, y, c)), (wide, (x, y)), (jacobi_2d, (a, b)), (counted, (whole, whole.copy()))]
    for function, args in cases:
        agree(shared(function, (*args, steps), parts, backend=backend), alone(function, (*args, steps)))
        plan = plan_of(function, (*args, steps), options(parts, backend=backend), parts)
        assert ("*" in plan.text(1)) == (steps > 1 and function is not counted)


@pytest.mark.parametrize("parts", PARTS)
def test_deterministic_sums_have_the_same_bits_on_any_number_of_devices(parts):
    x, y = _floats(1003), _floats(1003)
    k = _RNG.integers(0, 7, 1003)
    for function, args in [(dot, (x, y)), (weighted, (x, k, np.ones(7))), (dot, (x.astype("f4"), y.astype("f4")))]:
        agree(shared(function, args, parts, deterministic=True), alone(function, args, deterministic=True))


@parpy.jit
def power(M, x, y, n):
    for k in range(n):
        for i in range(len(x)):
            s = 0.0
            for j in range(len(x)):
                s += M[i, j] * x[j]
            y[i] = s
        norm = 0.0
        for i in range(len(x)):
            norm += y[i] * y[i]
        norm = np.sqrt(norm)
        for i in range(len(x)):
            x[i] = y[i] / norm
    return norm


@parpy.jit
def back_and_forth(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            y[i, j] = x[j, i] + 1
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            x[i, j] = y[i, j] * 2


@parpy.jit
def with_border(x, y, T):
    for t in range(T):
        for i in range(1, len(x) - 1):
            y[i] = x[i - 1] + x[i + 1]
        y[0] = y[1]
        y[-1] = y[-2]
        for i in range(len(x)):
            x[i] = y[i]


@parpy.jit
def gathered(x, k, y):
    for i in range(len(y)):
        y[i] = x[k[i]]
    for i in range(len(x)):
        x[i] = x[i] + 1


_SQUARE = _floats(23, 23)
GATHERED = {
    "power": (power, (_SQUARE, _floats(23), np.zeros(23), 3), 1e-13),
    "back_and_forth": (back_and_forth, (_SQUARE, _SQUARE.copy()), 0),
    "with_border": (with_border, (_floats(23), _floats(23), 3), 0),
    "gathered": (gathered, (_floats(23), _RNG.integers(0, 23, 40), np.zeros(40)), 0),
}


@pytest.mark.parametrize("name", GATHERED)
@pytest.mark.parametrize(("parts", "backend"), [*((parts, CPU) for parts in PARTS), (3, SIM)])
def test_arrays_are_gathered_when_asked_for(name, parts, backend):
    function, args, rtol = GATHERED[name]
    agree(shared(function, args, parts, backend=backend, gather=True), alone(function, args), rtol)


def test_an_error_in_one_part_ends_the_call():
    @parpy.jit
    def checked(x, k, y):
        for i in range(len(k)):
            y[i] = x[k[i]]
        s = 0.0
        for i in range(len(k)):
            s += y[i]
        return s

    k = np.zeros(40, np.int64)
    k[33] = 99
    before = threading.active_count()
    with pytest.raises(IndexError):
        checked(np.ones(9), k, np.ones(40), opts=parpy.par({}, backend=CPU, check="bounds", devices=range(4)))
    assert threading.active_count() == before


def test_mappings_by_hand():
    @parpy.jit
    def labelled(x, y):
        parpy.label("i")
        for i in range(1, len(x) - 1):
            y[i] = x[i - 1] + x[i + 1]
        parpy.label("j")
        for i in range(len(x)):
            x[i] = y[i]

    x, y = _floats(41), _floats(41)
    expected = alone(labelled, (x, y))
    mapping = {"i": parpy.threads(4), "j": parpy.threads(2)}
    labelled(x, y, opts=parpy.par(mapping, backend=CPU, devices=range(3), legality="strict"))
    agree([None, x, y], expected)


def test_calls_of_several_threads_do_not_meet():
    args = [(_floats(50), _floats(50), 20) for _ in range(4)]
    found = [None] * len(args)

    def run(number):
        found[number] = shared(jacobi_1d, args[number], 3)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(args))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for mine, given in zip(found, args, strict=True):
        agree(mine, alone(jacobi_1d, given))


def test_partitioned_arrays_stay_where_they_are():
    x, y = _floats(61), _floats(61)
    A, B = (parpy.buffer.from_array(each, devices=range(3)) for each in (x, y))
    assert [len(shard) for shard in A.shards] == [20, 20, 21]
    assert A.shape == (61,)
    shards = A.shards
    jacobi_1d(A, B, 4, opts=options(3))
    expected = alone(jacobi_1d, (x, y, 4))
    assert np.array_equal(A.numpy(), expected[1])
    assert np.array_equal(np.asarray(B), expected[2])
    assert np.array_equal(np.concatenate(shards), expected[1])  # views of the current values
    shards[1][0] = 5.0
    assert A.numpy()[20] == 5.0
    jacobi_1d(A, B, 2, opts=options(2))  # other blocks: the arrays are copied there and back
    assert len(A.shards) == 3
    A.copy_from(x)
    assert np.array_equal(A.numpy(), x)
    assert "3 blocks along axis 0" in repr(A)


def test_blocks_along_another_axis():
    @parpy.jit
    def columns(a, b):
        for j in range(1, a.shape[1] - 1):
            for i in range(a.shape[0]):
                b[i, j] = a[i, j - 1] + a[i, j + 1]

    a = _floats(6, 31)
    b = parpy.buffer.from_array(np.zeros((6, 31)), devices=range(4), axis=1)
    columns(a, b, opts=options(4))
    assert np.array_equal(b.numpy(), alone(columns, (a, np.zeros((6, 31))))[2])
    for wrong in ({"devices": ()}, {"devices": (0, 1), "axis": 2}):
        with pytest.raises(ValueError, match=r"device|axis"):
            parpy.buffer.from_array(a, **wrong)


def _resident():
    """Bytes of memory that the process uses."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def test_a_device_has_memory_for_its_block_alone(monkeypatch):
    monkeypatch.setattr(partitioned, "own_memory", OWN_MEMORY)
    x = np.ones(8_000_000)
    before = _resident()
    made = parpy.buffer.from_array(x, devices=range(8))
    grown = _resident() - before
    assert made.shards[7].sum() == 1_000_000
    assert 0.9 * x.nbytes < grown < 1.5 * x.nbytes


@parpy.jit
def two_sums(x):
    s = 0.0
    q = 0.0
    for i in range(len(x)):
        s += x[i]
        q += x[i] * x[i]
    return s / q


@pytest.mark.parametrize("parts", PARTS)
def test_two_sums_of_one_loop_have_the_bits_of_one_device(parts):
    x = np.random.default_rng(7).random(1000)
    agree(shared(two_sums, [x], parts, deterministic=True), alone(two_sums, [x], deterministic=True))
