"""Generated text: names, declarations and order are right for any program of the user."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import parpy
from backends import BACKENDS, TARGETS, run
from nvrtc import cubin
from parpy import threads


def cuda_text(function, arguments, mapping):
    options = parpy.par(mapping)
    options.backend = parpy.CompileBackend.Cuda
    return parpy.print_compiled(function, list(arguments), options)


@parpy.jit
def double(context, frame, slots, int64, this, n):
    """Every name has a meaning in C++ or in the generated text."""
    parpy.label("n")
    for register in range(n):
        auto = context[register]
        exp_f32 = frame[register] * 2.0
        index = -1
        begin = auto + exp_f32
        i64 = begin + slots[index]
        π = i64 * 2.0
        floor_div = int64[register] // 3
        this[register] = π + floor_div


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_of_the_other_language(backend):
    n = 40
    rng = np.random.default_rng(0)
    context, frame, slots = rng.random(n), rng.random(n), rng.random(n)
    int64, this = rng.integers(-50, 50, n), np.zeros(n)
    run(backend, double, (context, frame, slots, int64, this, n), {"n": n})
    np.testing.assert_allclose(this, (context + frame * 2.0 + slots[-1]) * 2.0 + int64 // 3, rtol=1e-15)


def test_names_of_the_other_language_compile_for_cuda():
    arrays = [np.zeros(40), np.zeros(40), np.zeros(40), np.zeros(40, np.int64), np.zeros(40)]
    cubin(cuda_text(double, [*arrays, 40], {"n": threads(40)}))


@parpy.jit
def NULL(__device__):
    return __device__ + 1.0


@parpy.jit
def __func__(_Float16, __bf16, n):
    """Names that compilers reserve."""
    parpy.label("n")
    for __LINE__ in range(n):
        __restrict__ = NULL(_Float16[__LINE__])
        __bf16[__LINE__] = __restrict__


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_of_the_compiler(backend):
    x, y = np.arange(40.0), np.zeros(40)
    run(backend, __func__, (x, y, 40), {"n": 40})
    np.testing.assert_array_equal(y, x + 1)


def test_names_of_the_compiler_compile_for_cuda():
    cubin(cuda_text(__func__, [np.zeros(40), np.zeros(40), 40], {"n": threads(40)}))


def test_deep_nesting_of_parentheses(tmp_path, monkeypatch):
    elements = ", ".join(f"x[{k}]" for k in range(250))
    file = tmp_path / "deeply_nested.py"
    file.write_text(f"import parpy\n\n@parpy.jit\ndef f(x):\n    x[0] = max(max({elements}), max({elements}))\n")
    monkeypatch.syspath_prepend(tmp_path)
    x = np.arange(255.0)
    importlib.import_module("deeply_nested").f(x, opts=parpy.CompileOptions(backend=parpy.CompileBackend.Cpu))
    assert x[0] == 249


@parpy.jit
def places(x, out, n):
    """Locals that are live across branches and iterations."""
    parpy.label("n")
    for i in range(n):
        last = 0.0
        count = 0
        best = 0.0
        first = 0.0
        for j in range(4):
            if j % 2 == 0:
                first = x[i] + j
            value = first * 2.0
            if value > last:
                best = value
                count += 1
            last = value
        sign = 1.0 if count > 2 else -1.0
        out[i] = sign * best + last + count


@pytest.mark.parametrize("backend", BACKENDS)
def test_locals_keep_their_values(backend):
    x = np.linspace(-3.0, 3.0, 50)
    got, want = np.zeros(50), np.zeros(50)
    run(backend, places, (x, got, 50), {"n": 50})
    places(x, want, 50, seq=True)
    np.testing.assert_array_equal(got, want)


@parpy.jit
def ranges(x, begin, end, step, n):
    parpy.label("n")
    for i in range(n):
        total = 0
        for j in range(begin[i], end[i], step[i]):
            total += j
            if total > 1000000:
                break
        x[i] = total


@pytest.mark.parametrize("backend", BACKENDS)
def test_computed_steps(backend):
    rng = np.random.default_rng(1)
    n = 200
    begin, end = rng.integers(-50, 50, n), rng.integers(-50, 50, n)
    step = rng.choice([-7, -2, -1, 1, 3, 11], n)
    x = np.zeros(n, np.int64)
    run(backend, ranges, (x, begin, end, step, n), {"n": n})
    assert x.tolist() == [sum(range(b, e, s)) for b, e, s in zip(begin, end, step, strict=True)]


@parpy.jit
def strided(x, begin, end, step):
    parpy.label("i")
    for i in range(begin, end, step):
        x[i] += 1.0


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(
    "bounds", [(0, 100, 1), (3, 97, 5), (99, -1, -1), (98, 3, -7), (5, 5, 1), (9, 2, 3), (2, 9, -3)]
)
def test_steps_of_parallel_loops(backend, bounds):
    x, want = np.zeros(100), np.zeros(100)
    for i in range(*bounds):
        want[i] += 1.0
    run(backend, strided, (x, *bounds), {"i": 16})
    np.testing.assert_array_equal(x, want)


@parpy.jit
def sums(x, n):
    s = 0.0
    parpy.label("n")
    for i in range(n):
        s += x[i]
    with parpy.gpu:
        x[0] = s


def test_partial_results_do_not_depend_on_timing():
    rng = np.random.default_rng(2)
    values = rng.uniform(-1, 1, 1_000_000) * 10.0 ** rng.uniform(-8, 8, 1_000_000)
    results = set()
    for _ in range(20):
        x = values.copy()
        run("cpu", sums, (x, len(x)), {"n": threads(64).reduce()})
        results.add(float(x[0]))
    assert len(results) == 1
    assert abs(results.pop() - values.sum()) <= 1e-9 * np.abs(values).sum()


PRINT = """
import numpy as np, parpy, test_emit as t
arrays = [np.zeros(40), np.zeros(40), np.zeros(40), np.zeros(40, np.int64), np.zeros(40)]
for backend in (parpy.CompileBackend.Cpu, parpy.CompileBackend.Cuda):
    options = parpy.par({"n": parpy.threads(40)})
    options.backend = backend
    print(parpy.print_compiled(t.double, [*arrays, 40], options))
    print(parpy.print_compiled(t.places, [np.zeros(9), np.zeros(9), 9], options))
"""


def test_text_is_the_same_in_every_process():
    here = Path(__file__).parent
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join([str(here), *sys.path])},
        ).stdout
        for seed in (1, 2)
    }
    assert len(texts) == 1
    assert "0x7f" not in texts.pop()


LONG_CHAIN = """
import sys
import numpy as np, parpy

operator = sys.argv[1]
names = [f"a{k}" for k in range(50)]
joined = f" {operator} ".join(f"{name}[i]" if k % 2 else name for k, name in enumerate(names))
text = f"@parpy.jit\\ndef f(o, {', '.join(names)}):\\n    for i in range(3):\\n        o[i] = {joined}\\n"
space = {"parpy": parpy}
exec(text, space)
arrays, number = np.arange(1, 4, dtype=np.int32), 7 if operator == "&" else 1.5
given = [arrays + k if k % 2 else number for k in range(50)]
got, wanted = np.zeros(3), np.zeros(3)
space["f"](got, *given)
space["f"](wanted, *given, seq=True)
assert np.allclose(got, wanted, rtol=1e-13)
"""


@pytest.mark.parametrize("operator", ["+", "*", "&"])
def test_long_chains_of_mixed_types(operator, tmp_path):
    """The text of an operand is made once, for any conversions around it: twice for each would be exponential."""
    program = tmp_path / "program.py"
    program.write_text(LONG_CHAIN)
    path = os.pathsep.join(each for each in sys.path if each)
    subprocess.run([sys.executable, program, operator], env={**os.environ, "PYTHONPATH": path}, timeout=900, check=True)
