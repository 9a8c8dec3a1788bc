"""`math.comb`, `perm` and `factorial`, exact or refused, and functions with two results."""

from __future__ import annotations

import math

import numpy as np
import pytest

import parpy
from fresh_functions import CPU, fresh


@parpy.jit
def counts(y, n, k):
    y[0] = math.comb(n, k)
    y[1] = math.perm(n, k)
    y[2] = math.factorial(k)


def fits(value: int) -> bool:
    return value < 2**63


def test_counts_are_exact_or_refused() -> None:
    for n in range(68):
        for k in range(0, n + 2, 1 + n // 20):
            expected = [math.comb(n, k), math.perm(n, k), math.factorial(k)]
            y = np.zeros(3, np.int64)
            if all(map(fits, expected)):
                counts(y, n, k)
                assert y.tolist() == expected
            else:
                with pytest.raises(OverflowError, match="needs more than 64 bits"):
                    counts(y, n, k)


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.int64])
def test_counts_in_parallel_loops(kind, backend, tmp_path) -> None:
    f = fresh(
        """
        @parpy.jit
        def f(y, x):
            parpy.label('i')
            for i in range(len(x)):
                y[i] = math.comb(x[i], 3) + math.perm(x[i], 2) + math.perm(x[i] % 7) if x[i] > 2 else 0
        """,
        tmp_path,
        math=math,
    )
    x = np.arange(100).astype(kind)
    expected, found = np.zeros(100, np.int64), np.zeros(100, np.int64)
    f(expected, x, seq=True)
    opts = parpy.par({"i": parpy.threads(64)})
    opts.backend = backend
    f(found, x, opts=opts)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("call", ["factorial(n)", "perm(n)", "comb(n, 1)", "comb(3, n)", "perm(3, n)"])
def test_negative_integers_are_refused(call, tmp_path) -> None:
    f = fresh(f"@parpy.jit\ndef f(y, n):\n    y[0] = math.{call}\n", tmp_path, math=math)
    with pytest.raises(ValueError, match="must not be negative"):
        f(np.zeros(1), -1, opts=CPU)


def test_counts_of_constants(tmp_path) -> None:
    f = fresh("@parpy.jit\ndef f(y):\n    y[0] = math.comb(30, 2 + 3) * math.factorial(3)\n", tmp_path, math=math)
    y = np.zeros(1)
    f(y, opts=CPU)
    assert y[0] == math.comb(30, 5) * 6
    assert "comb" not in parpy.print_compiled(f, [y], CPU).partition("f(y)")[2].replace("math.comb", "")
    f = fresh("@parpy.jit\ndef f(y):\n    y[0] = math.factorial(21)\n", tmp_path, math=math)
    with pytest.raises(parpy.CompileError, match="51090942171709440000 needs more than 64 bits"):
        f(y, opts=CPU)


@parpy.jit
def taken_apart(y, x, n):
    for i in range(len(x)):
        m, e = math.frexp(x[i])
        y[i, 0], y[i, 1] = m, e
        m, e = np.frexp(x[i])
        y[i, 2] = m * x[i]
        y[i, 3] = e
        part, whole = math.modf(x[i])
        y[i, 4], y[i, 5] = part, whole
        part, whole = np.modf(x[i])
        y[i, 6] = part * 0.1
        y[i, 7] = whole
        n, k = divmod(n, 7)
        n, k = n + 50, k
        y[i, 8], y[i, 9] = n, k
        m, e = np.divmod(x[i], 3)
        y[i, 10], y[i, 11] = m, e
        m, m = math.modf(x[i])
        y[i, 12] = m


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
def test_pairs(kind) -> None:
    rng = np.random.default_rng(3)
    if kind is np.int16:
        x = np.arange(-300, 300).astype(kind)
    else:
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7976931348623157e308, 2.0**-1022, 2.0**1023, -8.0]
        edges += [np.nextafter(2.0**p, 0) for p in (-1022, -126, -1, 0, 1, 2, 3, 100, 1000, 1023)]
        with np.errstate(all="ignore"):
            x = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-320, 308, 500), edges]).astype(kind)
    expected, found = np.zeros((len(x), 13)), np.zeros((len(x), 13))
    with np.errstate(all="ignore"):
        taken_apart(expected, x, 1000, seq=True)
    taken_apart(found, x, 1000)
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


def test_distances_and_products(tmp_path) -> None:
    f = fresh(
        """
        @parpy.jit
        def f(y, a, b, n):
            y[0] = math.dist((a, b), (1.0, n))
            y[1] = math.prod((a, n, 2)) * y[2]
        """,
        tmp_path,
        math=math,
    )
    expected, found = np.full(3, 0.5, np.float32), np.full(3, 0.5, np.float32)
    f(expected, 0.1, 2.7, 3, seq=True)
    f(found, 0.1, 2.7, 3, opts=CPU)
    assert found.tolist() == expected.tolist()


def test_all_names_of_math_are_there() -> None:
    missing = {name for name in dir(math) if not name.startswith("_") and not hasattr(parpy.math, name)}
    assert missing <= {"fsum", "sumprod", "fma"}


@parpy.jit
def powers(y, a, b, m):
    parpy.label("i")
    for i in range(len(y)):
        y[i] = pow(a[i], b[i], m[i])


@pytest.mark.parametrize("backend", [parpy.CompileBackend.Cpu, parpy.CompileBackend.Sim])
def test_powers_modulo(backend) -> None:
    random = np.random.default_rng(0)
    edges = [-1, 0, 1, 2, 3037000500, 3037000501, 2**62, 2**63 - 1, -(2**63) + 1]
    rows: list[tuple[int, ...]] = []
    while len(rows) < 600:
        row = tuple(
            int(random.choice(edges)) if random.random() < 0.5 else int(random.integers(-99, 99)) for _ in "abm"
        )
        if row[2] != 0 and (row[1] >= 0 or math.gcd(row[0], row[2]) == 1):
            rows.append(row)
    a, b, m = (np.array(column) for column in zip(*rows, strict=True))
    y = np.zeros(len(rows), np.int64)
    powers(y, a, b, m, opts=parpy.par({"i": parpy.threads(64)}, backend=backend))
    assert y.tolist() == [pow(*row) for row in rows]


@parpy.jit
def one_power(y, a, b, m):
    y[0] = pow(a, b, m)
    y[1] = pow(3, -1, 7)


@pytest.mark.parametrize(
    "a, b, m, kind, message",
    [
        (3, 2, 0, ValueError, r"pow\(3, 2, 0\): the modulus is zero"),
        (6, -1, 9, ValueError, "has no inverse"),
        (6, 1, -(2**63), OverflowError, "more than 64 bits"),
        (6, 1.5, 7, TypeError, "an integer is needed"),
    ],
)
def test_powers_that_are_refused(a, b, m, kind, message) -> None:
    one_power(y := np.zeros(2), 2, 5, 7)
    assert y.tolist() == [4, 5]
    with pytest.raises(kind, match=message):
        one_power(np.zeros(2), a, b, m)


@parpy.jit
def close(y, a, b, r, t):
    for i in range(len(a)):
        for j in range(len(b)):
            y[i, j, 0] = math.isclose(a[i], b[j])
            y[i, j, 1] = math.isclose(a[i], b[j], rel_tol=r)
            y[i, j, 2] = math.isclose(a[i], b[j], abs_tol=t, rel_tol=0)


def test_tolerances() -> None:
    a = np.array(
        [0.0, -0.0, 1.0, 1.05, 1 + 1e-10, -1.0, 1e300, 1.05e300, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e308]
    )
    for r, t in ((0.1, 0.06), (0, 0), (1, 2), (2.0, np.inf), (3.0, 1), (np.inf, 0), (np.nan, np.nan)):
        y, want = (np.zeros((len(a), len(a), 3), bool) for _ in range(2))
        close(want, a, a, r, t, seq=True)
        close(y, a, a, r, t)
        assert np.array_equal(y, want)
    for r, t in ((-1.0, 0), (0, -1)):
        with pytest.raises(ValueError, match="a tolerance is negative"):
            close(y, a, a, r, t)


@parpy.jit
def to_tens(n: int):
    return round(n, -1), round(n, -2), round(n, -18)


@parpy.jit
def to_the_largest_power(n: int):
    return round(n, -19), round(n, -20)


@parpy.jit
def elements_to_tens(x):
    for i in range(len(x)):
        x[i] = round(x[i], -1)


def test_rounded_integers_of_more_than_64_bits() -> None:
    for n in (0, 25, -35, 9223372036854774999, -9223372036854774999):
        assert to_tens(n) == to_tens(n, seq=True)
    for n in (2**63 - 1, 2**63 - 2, -(2**63)):
        with pytest.raises(OverflowError, match="the rounded integer needs more than 64 bits"):
            to_tens(n)
    for n in (5 * 10**18, -5 * 10**18, 4):
        assert to_the_largest_power(n) == (0, 0)
    for n in (5 * 10**18 + 1, -5 * 10**18 - 1):
        with pytest.raises(OverflowError, match="more than 64 bits"):
            to_the_largest_power(n)
    for x in (np.array([127, 15], np.int8), np.array([15.0, 1e19, np.inf, -25]), np.array([2**63, 8], np.uint64)):
        want = np.array([round(each, -1) for each in x], x.dtype)
        elements_to_tens(x)
        assert x.tolist() == want.tolist()
    with pytest.raises(parpy.CompileError) as error:
        elements_to_tens(np.zeros(2, complex))
    assert str(error.value).count("error[") == 1
