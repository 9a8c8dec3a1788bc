"""Every feature of the language: compiled code gives the results of the interpreter (`seq=True`)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from backends import TARGETS, options
from parpy import threads
from parpy.builtin import convert, inf, inline, maximum, minimum, static_backend_eq, static_types_eq
from parpy.types import F32, F64, I32, buffer, symbol, type_var

N = symbol("N")
SCALE = 1.5


class Config:
    sizes = (2, 7)
    shift = 2


@parpy.jit
def element(x, i):
    """The square of an element."""
    return x[i] * x[i]


@parpy.jit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@parpy.jit
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@parpy.jit
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@parpy.jit
def add_to(y, i, v):
    y[i] += v


@parpy.jit
def fill(y, n, v):
    parpy.label("i")
    for k in range(n):
        y[k] = v


@parpy.jit
def arithmetic(x, y, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        a = x[i] * 3 - 1 / (x[i] + 2) + x[i] ** 2 - -x[i] + +x[i]
        b = (k[i] // 3) * (k[i] % 7) + (k[i] << 2) - (k[i] >> 1) + (k[i] & 6 | 1) ^ ~k[i]
        y[i] = a + b + 7 // -2 + (-7) % 3 + 7.5 // 2 + divides(k[i])


@parpy.jit
def divides(k):
    q, r = divmod(k, 5)
    return q * 10 + r


@parpy.jit
def conditions(x, y, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        if (0.2 < x[i] <= 0.8 and not (k[i] == 3 and x[i] > 0.3)) or (k[i] != 4 and x[i] >= 0.9):
            y[i] = 1
        elif x[i] < 0.1:
            pass
        else:
            y[i] = k[i] if k[i] > 2 else x[i]
        y[i] += (k[i] or 7) + (k[i] and 5)


@parpy.jit
def loops(x, y):
    n, m = x.shape
    parpy.label("i")
    for i in range(n):
        s = 0.0
        for j in range(m - 1, -1, -2):
            s += x[i, j]
        k = 0
        while True:
            k += 1
            if k % 2 == 0:
                continue
            s += k
            if k > 5:
                break
        while k > 0 and s < 1000:
            k -= 1
            s *= 2
        y[i] = s + k + len(x) + x.ndim + x.size


@parpy.jit
def computed_steps(x, y, n, s):
    parpy.label("i")
    for i in range(0, n, s):
        y[i] = x[-1 - i]
        for j in range(n, i, -s):
            y[i] += j


@parpy.jit
def assignments(x, y, z):
    parpy.label("i")
    for i in range(x.shape[0]):
        a, b = x[i], y[i]
        a, b = b, a
        x[i], y[i] = a, b
        c = d = a
        c -= b
        d *= 2
        z[i] = c + d
        z[i] /= 3
        t: float = z[i]
        z[i] = t


@parpy.jit
def calls(x, y):
    parpy.label("i")
    for i in range(y.shape[0]):
        add_to(y, i, element(x, i))
        y[i] += element(i=i, x=x) + fib(i % 10) + is_even(i)


@parpy.jit
def inlined(y):
    inline(fill(y, y.shape[0], 2.0))
    fill(y, 3, 4.0)


@parpy.jit
def functions(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        v = x[i]
        y[i] = math.sqrt(v) + np.exp(v) + parpy.math.sin(v) * math.cos(v) + parpy.math.tanh(v) + math.log(v + 1)
        y[i] += math.atan2(v, 2.0) + abs(-v) + min(v, 0.3, 0.1) + max(v, 0.5) + round(v * 10) + int(v * 5) + float(3)
        y[i] += math.floor(v) + math.ceil(v) + pow(v, 2) + maximum(v, 0.2) + minimum(v, 0.7) + math.pi
        y[i] += np.where(v > 0.5, v, 0.0) + np.float32(v) + convert(v * 10, I32) + bool(v > 0.5) + np.hypot(v, 1.0)
        if v == inf or math.isnan(v) or np.isinf(v):
            y[i] = 0


@parpy.jit
def expressed(x, y, k):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = math.ldexp(x[i], int(k[i] % 50) - 30) + math.isqrt(k[i]) + math.isqrt(k[i] * k[i])
        y[i] += math.isclose(x[i], x[i] * (1 + 1e-10)) + 10 * math.isclose(x[i], x[i] + 0.1) + np.ldexp(x[i], 2)
        y[i] += math.isclose(inf, inf) + 2 * math.isclose(inf, x[i]) + 4 * math.isclose(inf, -inf)


@parpy.jit
def globals_and_closures(y):
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] = SCALE * i + Config.shift


TUPLE = (2, 0.5, ((1, np.float32(0.1)), (np.arange(40.0), True)), np.uint64(2**63), fib)


def tuples_of(pair):
    @parpy.jit
    def tuples(x, y):
        (a, b), flag = TUPLE[2][0], TUPLE[2][1][1]
        p, q = pair
        parpy.label("i")
        for i in range(TUPLE[0], x.shape[0] - pair[-1]):
            y[i] = x[i] * TUPLE[1] + TUPLE[2][0][1] * a + b + p * 10 + q * 100 + Config.sizes[1]
            y[i] += TUPLE[-3][1][0][i] + len(TUPLE) + len(TUPLE[2][1]) + (TUPLE[3] > 5) + flag
            y[i] += TUPLE[4](TUPLE[2][0][0] + 6)

    return tuples


tuples = tuples_of((4, 3))


@parpy.jit
def dicts(d, n):
    parpy.label("i")
    for i in range(n):
        d["y"][i] = d["a"] * d["x"][i]


@parpy.jit
def annotated(x: buffer(F64, [N]), y: buffer(F64, [N]), a: F32):
    parpy.label("i")
    for i in range(N):
        y[i] = a * x[i]


@parpy.jit
def reductions(x, y, z):
    parpy.label("i")
    for i in range(x.shape[0]):
        parpy.label("j")
        for j in range(x.shape[1]):
            y[i] += x[i, j]
        p = 1.0
        parpy.label("j")
        for j in range(x.shape[1]):
            p *= x[i, j] + 0.5
        m = -inf
        parpy.label("j")
        for j in range(x.shape[1]):
            m = max(m, x[i, j])
        z[i] = p + m


@parpy.jit
def slices(x, y, z):
    parpy.label("i")
    y[1:-1] = (x[:-2, 0] + x[1:-1, 0] + x[2:, 0]) / 3
    parpy.label("i")
    y[1:] = y[:-1]
    parpy.label("i")
    parpy.label("j")
    z[:, :] = x[:, :] * y[:, None] + x[0, :] - np.minimum(x[:, ::-1], 0.5)
    parpy.label("i")
    for i in range(y.shape[0]):
        y[i] += parpy.sum(z[i, :]) / parpy.max(z[i, ::2])
    parpy.label("i")
    y[:] = np.where(y[:] > 1, y[:], 1 + parpy.mean(x[:, :], axis=-1))
    with parpy.gpu:
        y[0] = parpy.sum(x[:, :]) + parpy.prod(x[1, :] + 1) + parpy.min(x[:, 1])
        y[1] = parpy.any(x[:, :] > 0.99) + parpy.all(x[:, :] > 0)


@parpy.jit
def products(x, y, z):
    parpy.label("i")
    parpy.label("j")
    z[:, :] = x[:, :] @ y[:, :]
    parpy.label("i")
    z[:, 0] = np.dot(x[:, :], y[:, 1])


@parpy.jit
def on_the_device(x, y):
    with parpy.gpu:
        y[0] = 1
        for i in range(1, y.shape[0]):
            y[i] = y[i - 1] * 0.5 + x[i]


@parpy.jit
def steps(x, y, times):
    for t in range(times):
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            y[i] = (x[i - 1] + x[i + 1]) / 2 + t
        parpy.label("i")
        for i in range(1, x.shape[0] - 1):
            x[i] = y[i]


@parpy.jit
def static(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        if static_types_eq(x.dtype, F64) and (static_backend_eq(parpy.CompileBackend.Cpu) or y.dtype == np.float64):
            y[i] = x[i]
        else:
            y[i] = undefined_for_these(x)


@parpy.jit
def undefined_for_these(x):
    return x[0, 0, 0]


@parpy.jit
def narrow(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = x[i] * 2.0 + i
        x[i] += 1


@parpy.jit
def complex_numbers(z, y):
    parpy.label("i")
    for i in range(z.shape[0]):
        z[i] = z[i] * (1 + 2j) - np.conj(z[i]) / 2
        y[i] = abs(z[i]) + z[i].real - z[i].imag


@parpy.jit
def results(x):
    y = np.zeros_like(x)
    s = 0.0
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = 2 * x[i]
        s += x[i]
    return y, s


def data(rng, *shape):
    return rng.random(shape)


CASES = {
    arithmetic: lambda r: (data(r, 40), np.zeros(40), r.integers(0, 30, 40)),
    conditions: lambda r: (data(r, 40), np.zeros(40), r.integers(0, 6, 40)),
    loops: lambda r: (data(r, 9, 8), np.zeros(9)),
    computed_steps: lambda r: (data(r, 30), np.zeros(30), 30, 4),
    assignments: lambda r: (data(r, 30), data(r, 30), np.zeros(30)),
    calls: lambda r: (data(r, 30), np.zeros(30)),
    inlined: lambda r: (data(r, 30),),
    functions: lambda r: (data(r, 30), np.zeros(30)),
    expressed: lambda r: (data(r, 60), np.zeros(60), r.integers(0, 1 << 31, 60)),
    globals_and_closures: lambda r: (np.zeros(30),),
    tuples: lambda r: (data(r, 40), np.zeros(40)),
    dicts: lambda r: ({"x": data(r, 20), "y": np.zeros(20), "a": 2.5}, 20),
    annotated: lambda r: (data(r, 30), np.zeros(30), 0.5),
    reductions: lambda r: (data(r, 6, 70), np.zeros(6), np.zeros(6)),
    slices: lambda r: (data(r, 12, 7), np.zeros(12), np.zeros((12, 7))),
    products: lambda r: (data(r, 5, 6), data(r, 6, 7), np.zeros((5, 7))),
    on_the_device: lambda r: (data(r, 10), np.zeros(10)),
    steps: lambda r: (data(r, 40), np.zeros(40), 5),
    static: lambda r: (data(r, 40), np.zeros(40)),
    narrow: lambda r: (r.integers(0, 9, 30).astype(np.int16), np.zeros(30, np.float32)),
    complex_numbers: lambda r: (data(r, 20) + 1j * data(r, 20), np.zeros(20)),
    results: lambda r: (data(r, 20),),
}
INNER = {reductions, slices, products}


def flat(arguments):
    for each in arguments:
        if isinstance(each, dict):
            yield from flat(each.values())
        elif isinstance(each, tuple):
            yield from flat(each)
        elif each is not None:
            yield each


@pytest.mark.parametrize("mapped", [False, True], ids=["sequential", "parallel"])
@pytest.mark.parametrize("backend", [*TARGETS, "automatic"])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_same(function, backend, mapped):
    arguments, want = (CASES[function](np.random.default_rng(5)) for _ in range(2))
    expected = function(*want, seq=True)
    loops = {"i": threads(16)} | ({"j": threads(64)} if function in INNER else {}) if mapped else {}
    if function is on_the_device:
        loops = {}
    if backend == "automatic":
        found = function(*arguments)
    elif mapped or backend == "cpu" or function is on_the_device:
        found = function(*arguments, opts=options(backend, loops))
    else:
        pytest.skip("sequential code on the host cannot reach arrays on the device")
    for a, b in zip(flat((*arguments, found)), flat((*want, expected)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


S = type_var("S")


@parpy.jit
def added(a: S, b: S) -> S:
    return a + b


@parpy.jit
def typed(x, y, f: F32, n: I32):
    for i in range(x.shape[0]):
        x[i] = f
        y[i] = added(x[i], y[i]) + (n << 31)


def test_numbers_have_the_types_of_annotations():
    arrays = np.zeros((2, 2, 5))
    typed(*arrays[0], 0.1, 1)
    with np.errstate(over="ignore"):
        typed(*arrays[1], 0.1, 1, seq=True)
    np.testing.assert_array_equal(*arrays)
    assert arrays[0, 0, 0] == np.float32(0.1)


@parpy.jit
def small(x, n: I32):
    x[0] = n


def test_numbers_beyond_their_annotation():
    x = np.zeros(1)
    for number in (2**40, -(2**40)):
        for sequential in (False, True):
            with pytest.raises((OverflowError, ValueError, TypeError, parpy.CompileError)):
                small(x, number, seq=sequential)
    assert x[0] == 0
