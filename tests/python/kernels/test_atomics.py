"""Atomic updates of elements that several iterations touch, for every operator and type, on the CPU and as CUDA."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import backends
import parpy

CPU = parpy.CompileBackend.Cpu
N = 3000
UPDATES = {
    "add": "h[k[i]] += x[i]",
    "subtract": "h[k[i]] -= x[i]",
    "multiply": "h[k[i]] *= x[i]",
    "max": "h[k[i]] = max(h[k[i]], x[i])",
    "minimum": "h[k[i]] = np.minimum(x[i], h[k[i]])",
    "if": "if x[i] > h[k[i]]: h[k[i]] = x[i]",
    "and": "h[k[i]] &= x[i]",
    "xor": "h[k[i]] ^= x[i]",
    "or": "h[k[i]] = h[k[i]] or x[i]",
}
TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?"]


def scatter(update: str):
    name = f"scatter-{update}.py"
    text = f"@parpy.jit\ndef f(x, k, h, n):\n    parpy.label('i')\n    for i in range(n):\n        {UPDATES[update]}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"parpy": parpy, "np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def operands(update: str, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Values whose combinations are exact in any order."""
    rng = np.random.default_rng(3)
    if dtype.kind == "b":
        x = rng.random(N) < 0.5
    elif update == "multiply":
        x = rng.choice([1, 1, 1, 2 if dtype.kind == "u" else -1], N).astype(dtype)
    elif update in ("add", "subtract"):
        x = rng.integers(0, 2, N).astype(dtype)
    else:
        x = rng.integers(0, 100, N).astype(dtype)
    if dtype.kind == "c":
        x = x + 1j * rng.integers(-3, 4, N).astype(dtype)
    return x, rng.integers(0, 37, N).astype(np.int32), np.ones(37, dtype)


def combinations() -> list[tuple[str, str]]:
    integers = ("or",)  # `a or b` is one of its operands there
    no_sums = tuple(u for u in UPDATES if u not in ("add", "subtract"))
    unsuited = {
        "b": ("subtract", "multiply"), "f": ("and", "xor", "or"), "c": no_sums, "i": integers, "u": integers,
    }  # fmt: skip
    return [(u, t) for t in TYPES for u in UPDATES if u not in unsuited.get(np.dtype(t).kind, ())]


@pytest.mark.parametrize(("update", "type_name"), combinations())
def test_every_operator_and_type(update, type_name):
    function = scatter(update)
    x, k, want = operands(update, np.dtype(type_name))
    with np.errstate(all="ignore"):
        function(x, k, want, N, seq=True)
    got = operands(update, np.dtype(type_name))[2]
    function(x, k, got, N, opts=parpy.CompileOptions(parallelize={"i": parpy.threads(64)}, backend=CPU))
    np.testing.assert_array_equal(got, want)
    got = operands(update, np.dtype(type_name))[2]
    mapping = {"i": parpy.threads(512)}
    backends.run("sim", function, (x, k, got, N), mapping)
    assert "atomic_" in backends.cuda_text(function, (x, k, got, N), mapping)
    np.testing.assert_array_equal(got, want)


@parpy.jit
def transposed_product(values, columns, starts, x, y, rows):
    parpy.label("rows")
    for i in range(rows):
        parpy.label("row")
        for k in range(starts[i], starts[i + 1]):
            y[columns[k]] += values[k] * x[i]


@pytest.mark.parametrize("inner", [{}, {"row": parpy.threads(32)}], ids=["rows", "both loops"])
def test_nested_loops(inner):
    rng = np.random.default_rng(5)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 40, 200))]).astype(np.int32)
    columns = rng.integers(0, 50, starts[-1]).astype(np.int32)
    values, x = rng.integers(0, 9, starts[-1]).astype(float), rng.integers(0, 9, 200).astype(float)
    want, got = np.zeros(50), np.zeros(50)
    transposed_product(values, columns, starts, x, want, 200, seq=True)
    mapping = {"rows": parpy.threads(200), **inner}
    transposed_product(
        values, columns, starts, x, got, 200, opts=parpy.CompileOptions(parallelize=mapping, backend=CPU)
    )
    np.testing.assert_array_equal(got, want)
    got[:] = 0
    backends.run("sim", transposed_product, (values, columns, starts, x, got, 200), mapping)
    np.testing.assert_array_equal(got, want)


@parpy.jit
def spread(x, k, h, n):
    parpy.label("i")
    for i in range(n):
        h[k[i]] += x[i]


def test_what_cannot_be_atomic_stays_unproved():
    k = np.zeros(10, np.int32)
    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(8)}, backend=CPU, legality="strict")
    with pytest.raises(parpy.ParallelError, match="P402"):
        scatter("multiply")(np.ones(10, complex), k, np.zeros(4, complex), 10, opts=opts)
    with pytest.raises(parpy.ParallelError, match="P402"):  # computed in complex128
        spread(np.ones(10, complex), k, np.zeros(4, np.complex64), 10, opts=opts)
    opts.deterministic = True
    with pytest.raises(parpy.ParallelError, match="P402"):
        spread(np.ones(10), k, np.zeros(4), 10, opts=opts)
    with pytest.raises(parpy.ParallelError, match="P402"):
        spread(np.ones(10, complex), k, np.zeros(4, complex), 10, opts=opts)
    opts.legality = "check"
    with pytest.raises(parpy.ParallelError, match="deterministic=True"):  # without atomics updates would be lost
        spread(np.ones(10), k, np.zeros(4), 10, opts=opts)
    h = np.zeros(4, np.int64)
    spread(np.ones(10, np.int64), k, h, 10, opts=opts)  # integer sums do not depend on the order
    assert h.tolist() == [10, 0, 0, 0]


def test_trust_takes_the_text_as_it_stands():
    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(8)}, backend=CPU, legality="trust")
    text = parpy.print_compiled(spread, (np.ones(10), np.zeros(10, np.int32), np.zeros(4), 10), opts)
    assert "atomic_" not in text


def test_checked_execution_accepts_atomic_updates():
    k, h = np.zeros(100, np.int32), np.zeros(4)
    opts = parpy.CompileOptions(parallelize={"i": parpy.threads(8)}, backend=CPU, check="all")
    spread(np.ones(100), k, h, 100, opts=opts)
    assert h[0] == 100


@parpy.jit
def twice(x, k, h):
    parpy.label("i")
    for i in range(x.shape[0]):
        h[k[i]] += x[i]
        h[k[i]] -= 2 * x[i]
        if x[i] > 0:
            h[k[i]] += 3 * x[i]
        h[i // 2] += 1


@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_every_one_of_several_updates_alike_is_atomic(backend):
    x, k = np.arange(N) % 5, np.arange(N) % 7
    want, got = np.zeros(N, np.int64), np.zeros(N, np.int64)
    twice(x, k, want, seq=True)
    backends.run(backend, twice, (x, k, got), {"i": 256})
    np.testing.assert_array_equal(got, want)
    text = parpy.print_compiled(twice, (x, k, got), backends.options("cpu", {"i": 256}))
    updates = [line for line in text.splitlines() if "h[" in line and "//" not in line]
    assert len(updates) == 4 and all("atomic_" in line for line in updates), updates


@parpy.jit
def transposed_sums(x, y):
    parpy.label("i")
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            y[i] += x[i, j]


@parpy.jit
def histogram(x, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[x[i, 0]] += x[i, 1]


@pytest.mark.parametrize("function", [transposed_sums, histogram], ids=["transposed sums", "histogram"])
@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_reduce_declares_what_atomics_carry_out(function, backend):
    x = np.random.default_rng(4).integers(0, 50, (50, 30))
    want, got = np.zeros(50, np.int64), np.zeros(50, np.int64)
    function(x, want, seq=True)
    reduction = {"i": parpy.threads(256).reduce()}
    backends.run(backend, function, (x, got), reduction)
    np.testing.assert_array_equal(got, want)
    for target in ("cpu", "cuda"):
        declared, found = (
            parpy.print_compiled(function, (x, got), backends.options(target, mapping))
            for mapping in (reduction, {"i": 256})
        )
        assert declared == found


@pytest.mark.parametrize("type_name", ["c8", "c16"])
@pytest.mark.parametrize("backend", backends.BACKENDS)
def test_sums_of_complex_numbers_in_many_threads(backend, type_name):
    rng = np.random.default_rng(5)
    k = rng.integers(0, 3, 200_000).astype(np.int32)
    x = (rng.integers(-2, 3, k.size) + 1j * rng.integers(-2, 3, k.size)).astype(type_name)
    got, want = np.zeros(3, type_name), np.zeros(3, type_name)
    np.add.at(want, k, x)
    if backend in ("interpreter", "sim"):
        k, x = k[:2000], x[:2000]
        want[:] = 0
        np.add.at(want, k, x)
    backends.run(backend, spread, (x, k, got, k.size), {"i": 4096})
    np.testing.assert_array_equal(got, want)


@parpy.jit
def count_one(h, k, i):
    h[k[i]] += 1


@parpy.jit
def counted_by_helper(k, h):
    parpy.label("i")
    for i in range(k.shape[0]):
        count_one(h, k, i)


@pytest.mark.parametrize("backend", backends.TARGETS)
def test_updates_in_helpers_are_atomic(backend):
    k = np.random.default_rng(0).integers(0, 7, 200000 if backend != "sim" else 5000)
    for opts in (backends.options(backend, {"i": 5000}), parpy.auto(backend=parpy.CompileBackend(backend))):
        h = np.zeros(7)
        counted_by_helper(k, h, opts=opts)
        np.testing.assert_array_equal(h, np.bincount(k, minlength=7))


@parpy.jit
def bump(h, k, v):
    h[k] += v
    return v


@parpy.jit
def bump_positive(h, k, v):
    if v < 0:
        return
    h[k] += v


@parpy.jit
def bump_down(h, k, v, depth):
    if depth == 0:
        h[k] += v
    else:
        bump_down(h, k, v, depth - 1)


@parpy.jit
def as_operand(x, k, h, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = x[i] * 10 + bump(h, k[i], x[i])


@parpy.jit
def as_update(x, k, h, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] += bump(h, k[i], x[i])


@parpy.jit
def on_condition(x, k, h, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        y[i] = bump(h, k[i], x[i]) if x[i] > 0 else 0


@parpy.jit
def with_early_return(x, k, h, y):
    parpy.label("i")
    for i in range(x.shape[0]):
        bump_positive(h, k[i], x[i])


@pytest.mark.parametrize("backend", backends.TARGETS)
@pytest.mark.parametrize("function", [as_operand, as_update, on_condition, with_early_return])
def test_updates_anywhere_in_helpers_are_atomic(function, backend):
    n = 100000 if backend != "sim" else 3000
    for opts in (backends.options(backend, {"i": 64}), parpy.auto(backend=parpy.CompileBackend(backend))):
        h, y = np.zeros(2), np.zeros(n)
        function(np.ones(n), np.arange(n) % 2, h, y, opts=opts)
        assert h.tolist() == [n / 2, n / 2]
    with pytest.raises(parpy.ParallelError, match="deterministic=True"):
        opts = backends.options(backend, {"i": 64})
        opts.deterministic = True
        function(np.ones(n), np.arange(n) % 2, h, y, opts=opts)


@parpy.jit
def add_to(y, v):
    y[0] += v


@parpy.jit
def add_square(y, v):
    add_to(y, v * v)


@parpy.jit
def squares(y, x):
    parpy.label("i")
    for i in range(x.shape[0]):
        add_square(y, x[i])


def test_updates_in_helpers_are_reductions():
    x = np.random.default_rng(3).random(100000)
    for opts in (backends.options("cpu", {"i": 4}), parpy.auto(backend=parpy.CompileBackend.Cpu)):
        opts.deterministic = True
        y = np.zeros(1)
        squares(y, x, opts=opts)
        np.testing.assert_allclose(y, (x * x).sum())
    explained = str(parpy.explain(squares, np.zeros(1), x, opts=backends.options("cpu", {"i": 4})))
    assert "atomic" not in explained and " 0 flop" not in explained
    text = parpy.print_compiled(squares, (np.zeros(1), x), backends.options("cuda", {"i": 256}))
    assert "atomicAdd" not in text
