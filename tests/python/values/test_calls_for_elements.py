"""Functions of numbers that are called with slices, as statements of the published ParPy do: `x[:] = add(x[:], y[:])`.
The call is made for each element."""

from __future__ import annotations

import numpy as np
import pytest

import nvrtc
import parpy
from backends import BACKENDS, TARGETS, copies, cuda_text, options, run
from fresh_functions import fresh
from parpy import CompileBackend, Target
from parpy.frontend.expressions.pure_functions import only_computes
from parpy.syntax.names import callable_source
from parpy.types import F32


@parpy.jit
def twice(v):
    return v * 2.0


@parpy.jit
def declared(v: F32) -> F32:
    return v * 2.0


@parpy.jit
def in_steps(v):
    t = v * 2.0
    return t + 1.0


@parpy.jit
def larger(v, w):
    if v > w:
        return v
    return w


@parpy.jit
def power(v: F32, w: F32):
    t = v
    for _ in range(3):
        t = t * w
    return t


@parpy.jit
def collatz(v):
    steps = 0
    k = int(v * 20) + 1
    while k != 1:
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        steps += 1
    return steps


@parpy.jit
def changed(v: F32):
    v += 1.0
    return v


CALLS = {
    "twice": "twice(x[:])",
    "declared": "declared(x[:])",
    "in_steps": "in_steps(x[:])",
    "larger": "larger(x[:], y[:])",
    "larger_than_number": "larger(x[:], 0.5)",
    "part": "larger(x[::2], y[1::2])",
    "power": "power(x[:], y[:])",
    "power_of_number": "power(x[:], 2.0)",
    "among_others": "1.0 + power(x[:] * 2.0, y[:]) * x[:]",
    "nested": "larger(declared(twice(x[:])), 0.5)",
    "nested_twice": "larger(twice(x[:]), larger(y[:], twice(x[0])))",
    "collatz": "collatz(x[:])",
    "changed": "changed(x[:]) + x[:]",
    "rows": "larger(m[1, :], m[:, 2])",
}
FUNCTIONS = {"twice": twice, "declared": declared, "in_steps": in_steps, "larger": larger, "power": power}
FUNCTIONS |= {"collatz": collatz, "changed": changed}


def given():
    rng = np.random.default_rng(3)
    return tuple(rng.random(shape).astype(np.float32) for shape in (10, 10, (10, 10)))


@pytest.fixture(params=CALLS)
def program(request, tmp_path):
    """A labelled statement, its arguments, and the result of NumPy's vectorize."""
    call = CALLS[request.param]
    target = "x[:5]" if request.param == "part" else "x[:]"
    body = f"@parpy.jit\ndef f(x, y, m):\n    parpy.label('i')\n    {target} = {call}\n"
    function = fresh(body, tmp_path, **FUNCTIONS)
    elements = {
        name: np.vectorize(lambda *v, of=of: of.__wrapped__(*map(np.float32, v)), otypes=[np.float32])
        for name, of in FUNCTIONS.items()
    }
    x, y, m = given()
    value = eval(call, elements, {"x": x, "y": y, "m": m})
    want = x.copy()
    want[: len(value)] = value
    return function, (x, y, m), want


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_mapped_statement(program, backend):
    function, arguments, want = program
    got = copies(arguments)
    run(backend, function, got, {"i": 32})
    np.testing.assert_allclose(got[0], want, rtol=1e-6)


@pytest.mark.parametrize("backend", TARGETS)
def test_automatic_mode(program, backend):
    function, arguments, want = program
    got = copies(arguments)
    function(*got, opts=parpy.auto(backend=CompileBackend(backend)))
    np.testing.assert_allclose(got[0], want, rtol=1e-6)


def test_texts_of_devices(program):
    function, arguments, _ = program
    nvrtc.cubin(cuda_text(function, arguments, {"i": 32}))
    assert "kernel void" in parpy.print_compiled(function, arguments, options("metal", {"i": 32}))


@pytest.mark.parametrize("backend", TARGETS)
def test_in_reductions_and_names(backend):
    @parpy.jit
    def f(x, y):
        t = larger(x, y)
        y[:] = t + 1.0
        return np.sum(larger(x[:], 0.5)) + parpy.max(collatz(x[:]))

    x, y, _ = given()
    got = y.copy()
    total = f(x, got, opts=parpy.auto(backend=CompileBackend(backend)))
    np.testing.assert_allclose(got, np.maximum(x, y) + 1, rtol=1e-6)
    steps = max(collatz.__wrapped__(v) for v in x)
    np.testing.assert_allclose(total, np.maximum(x, 0.5).sum() + steps, rtol=1e-6)


@pytest.mark.parametrize("backend", TARGETS)
def test_functions_of_arrays_get_arrays(backend):
    @parpy.jit
    def same(v):
        return v

    @parpy.jit
    def centred(v):
        return v - np.mean(v)

    @parpy.jit
    def f(x, y):
        t = same(x)
        t[0] = 7.0
        y[:] = larger(centred(larger(x, y)), x[:])

    x, y, _ = given()
    got = copies((x, y))
    f(*got, opts=parpy.auto(backend=CompileBackend(backend)))
    x[0] = 7
    assert np.array_equal(got[0], x)
    both = np.maximum(x, y)
    np.testing.assert_allclose(got[1], np.maximum(both - both.mean(), x), rtol=1e-5)


@parpy.jit
def through(v):
    return np.sqrt(twice(v)) + larger(v, 1.0)


@parpy.jit
def stores(v):
    v[0] = 1.0
    return v[1]


@parpy.jit
def prints(v):
    print(v)
    return v


@parpy.jit
def through_stores(v):
    return twice(stores(v))


@parpy.jit
def counted(v):
    s = 0.0
    for k in range(3):
        s += v * k
    return s


@pytest.mark.parametrize(
    ("function", "expected"),
    [(twice, True), (larger, True), (collatz, True), (through, True), (counted, True), (changed, False)]
    + [(each, False) for each in (stores, prints, through_stores)],
)
def test_functions_that_only_compute(function, expected):
    assert only_computes(callable_source(function)) is expected


@parpy.external("fmaf", CompileBackend.Cuda, Target.Device)
def fused_cuda(a: F32, b: F32, c: F32) -> F32:
    return a * b + c


@parpy.external("__builtin_fmaf", CompileBackend.Cpu, Target.Device)
def fused_cpu(a: F32, b: F32, c: F32) -> F32:
    return a * b + c


@pytest.mark.parametrize("backend", [*TARGETS, "seq"])
def test_external_functions(backend):
    @parpy.jit
    def f(x, y):
        if parpy.builtin.static_backend_eq(CompileBackend.Cuda):
            parpy.label("i")
            x[:] = fused_cuda(x[:], y[:], 1.0)
        else:
            parpy.label("i")
            x[:] = fused_cpu(x[:], y[:], 1.0)

    x, y, _ = given()
    want = x * y + 1
    f(x, y, seq=True) if backend == "seq" else f(x, y, opts=options(backend, {"i": 32}))
    np.testing.assert_allclose(x, want, rtol=1e-6)
